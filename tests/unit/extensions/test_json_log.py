"""The log as JSON: one object a line, whatever is logged and wherever it goes."""

import json
import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
from scrapy.settings import Settings
from scrapy.spiders import Spider

from crawlers.extensions import json_log
from crawlers.items import Page, State
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

SECRETS = (
    "<a href=http://user:secret@a.test/>x</a><a href=//me:secret@127.0.0.1:1/>y</a><a href=http://u:secret@[/>z</a>"
)
SITE = pages({"/": links("/a") + SECRETS, "/a": links("/missing")})
FIELDS = ["time", "level", "logger", "message"]  # of every line, in this order


def objects(text):
    """Return the objects of a log, each of which must be one line."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all([*one][:4] == FIELDS for one in found)
    return found


@pytest.fixture
def log(tmp_path):
    """Return what is logged into a file while the test runs."""
    path = tmp_path / "log.jsonl"
    json_log.install(Settings({"LOG_FILE": str(path), "LOG_LEVEL": "INFO"}), {"crawl": "night", "spider": "mine"})
    yield lambda: objects(path.read_text("utf-8"))
    json_log.remove()


def test_line_has_the_time_in_utc_and_the_fields_of_the_crawl(log):
    before = datetime.now(UTC)
    logging.getLogger("a.b").info("%d pages\nof %s", 3, "страна\u2028")
    logging.getLogger("a.b").debug("too much")
    (line,) = log()
    time = line.pop("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", time)  # RFC 3339
    assert before - timedelta(seconds=1) <= datetime.fromisoformat(time) <= datetime.now(UTC)
    message = "3 pages\nof страна\u2028"
    assert line == {"level": "INFO", "logger": "a.b", "message": message, "crawl": "night", "spider": "mine"}


def test_objects_of_scrapy_are_left_out_and_fields_of_users_stay(log):
    logging.getLogger("a").warning(
        "x", extra={"spider": Spider(name="other"), "item": Page(1, "", 0, State.DONE), "host": "a.test"}
    )
    (line,) = log()
    assert (line["spider"], line["host"]) == ("mine", "a.test")
    assert "item" not in line


def test_root_logger_has_its_level_again_afterwards():
    level = logging.root.level
    for _ in range(2):
        json_log.install(Settings({"LOG_ENABLED": False}), {})
    assert logging.root.level == logging.NOTSET
    json_log.remove()
    assert logging.root.level == level


def test_broken_text_is_escaped(log, monkeypatch):
    root = logging.getLogger()
    ours = [handler for handler in root.handlers if not type(handler).__module__.startswith("_pytest")]
    monkeypatch.setattr(root, "handlers", ours)  # pytest-xdist can't send broken text that was captured
    logging.getLogger("a").info("\udcff")
    assert log()[0]["message"] == "\udcff"


def test_every_line_of_a_crawl_is_an_object_without_users_and_passwords(tmp_path):
    with Web(site=SITE) as web:
        ended = Project(tmp_path, LOG_JSON=1, LOG_LEVEL="DEBUG", CRAWL="night").crawl(web.hosts()).done()
    lines = objects(ended.log)
    begins = next(number for number, line in enumerate(lines) if "Crawl night begins" in line["message"])
    assert {(line["crawl"], line["spider"]) for line in lines[begins:]} == {("night", "plain")}
    assert {line["worker"] for line in lines[-5:]} == {1}
    assert any(line["message"].startswith("Crawl night is finished") and "\n" in line["message"] for line in lines)
    assert "secret" not in ended.log


@pytest.mark.parametrize("file", [None, "log.jsonl"])
def test_error_of_the_user_is_a_line_and_printed_only_if_the_log_goes_elsewhere(tmp_path, file):
    settings = {"LOG_JSON": 1, **({"LOG_FILE": file} if file else {})}
    ended = Project(tmp_path, **settings).crawl("a b", RULE="chess")
    assert ended.status == 2
    text = (tmp_path / file).read_text("utf-8") if file else ended.log
    assert [line["level"] for line in objects(text)].count("ERROR") == 1
    assert len(ended.errors) == (1 if file else 0)
