"""The panel starts crawls by a real scrapyd."""

import socket

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.program import CrawlCommand
from crawlers.reports.crawl_manifest import manifest_of
from crawlers.web.starting import ScrapydStarter
from tests.support.of_missions import needs
from tests.support.processes import PATIENCE_S, until
from tests.support.scrapyd_nodes import job_settings
from tests.support.sites.server import Web, links, pages

pytestmark = needs("sitegraph")

SITE = pages({"/": links("/a", "/b"), "/a": links("/"), "/b": links("/a")}, "")


@pytest.mark.usefixtures("environment")
def test_crawl_is_a_job_of_scrapyd_that_gets_its_sites(node, sqlite, sqlite_url, tmp_path):
    given = job_settings(tmp_path, DATABASE_URL=sqlite_url, SITE_DELAY_SECONDS="0")
    with Web(site=SITE) as web:
        hosts = f"{web['site'].origin};2  # a comment\n".encode()
        command = CrawlCommand("sitegraph", {"hosts": "logs/panel/spring/hosts.txt"}, given)
        starter = ScrapydStarter(sqlite, f"http://127.0.0.1:{node.port}/", tmp_path, PATIENCE_S)
        assert starter.start("spring", command, {"hosts": hosts}) == 1
        until(lambda: bool(list((tmp_path / "result").glob("*.gexf"))), "the end of the crawl")
        assert manifest_of(sqlite, 1)["command"]["arguments"] == {"hosts": f"{web['site'].origin};2"}
        until(lambda: bool(starter.endings()), "the end of the job")
    [ending] = starter.endings()
    assert (ending.crawl, ending.status, ending.why) == ("spring", 0, "")
    assert ScrapydStarter(sqlite, "http://127.0.0.1:1", tmp_path).endings() == [ending]  # of a later panel


@pytest.mark.usefixtures("environment")
def test_job_that_fails_is_told_with_what_it_has_said(node, sqlite, sqlite_url, tmp_path):
    command = CrawlCommand("sitegraph", {}, {"DATABASE_URL": sqlite_url, "RULE": "wrong"})
    starter = ScrapydStarter(sqlite, f"http://127.0.0.1:{node.port}", tmp_path, 0.0)
    assert isinstance(starter.start("spring", command, {"hosts": b"a.test"}), str)
    until(lambda: bool(starter.endings()), "the end of the job")
    [ending] = starter.endings()
    assert (ending.crawl, ending.status) == ("spring", None)
    assert "RULE" in ending.why


def test_job_that_scrapyd_refuses_is_one_sentence(node, sqlite, tmp_path):
    starter = ScrapydStarter(sqlite, f"http://127.0.0.1:{node.port}", tmp_path)
    with pytest.raises(ConfigError, match=r"scrapyd at http://127\.0\.0\.1:[0-9]+ refuses the job: .*nowhere"):
        starter.start("spring", CrawlCommand("nowhere", {}, {}), {})


def test_scrapyd_that_does_not_run_is_one_sentence_without_its_password(sqlite, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    starter = ScrapydStarter(sqlite, f"http://user:secret@127.0.0.1:{port}", tmp_path)
    with pytest.raises(ConfigError, match=r"scrapyd at http://127\.0\.0\.1:[0-9]+ can't be reached") as raised:
        starter.start("spring", CrawlCommand("sitegraph", {}, {}), {})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["127.0.0.1:6800", "ftp://x", "file:///etc/passwd", "http://"])
def test_address_that_is_none_is_one_sentence(sqlite, tmp_path, url):
    with pytest.raises(ConfigError, match="SCRAPYD_URL is not the address of a scrapyd"):
        ScrapydStarter(sqlite, url, tmp_path)


@pytest.mark.parametrize(
    ("argument", "content", "message"),
    [
        ("topic", b"x", "a topic file can't be sent to scrapyd"),
        ("hosts", b"a.test\n" * 20_000, "at most 100,000 bytes"),
    ],
)
def test_input_that_can_not_be_sent_is_one_sentence(sqlite, tmp_path, argument, content, message):
    starter = ScrapydStarter(sqlite, "http://127.0.0.1:1", tmp_path)
    with pytest.raises(ConfigError, match=message):
        starter.start("spring", CrawlCommand("topic", {argument: "x"}, {}), {argument: content})
