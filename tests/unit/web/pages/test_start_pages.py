"""Crawls are started from a form, and errors stand next to their fields."""

from __future__ import annotations

import sys

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.program import CrawlCommand
from crawlers.options import OFFERED, OUTPUTS
from crawlers.store.sites.seeds import save_seeds
from crawlers.web.pages.start_pages import check_offered, stored_name
from crawlers.web.starting import LocalStarter
from tests.support.of_missions import needs
from tests.support.stored_crawl import HOSTILE
from tests.unit.web.conftest import change_crawl

pytestmark = pytest.mark.usefixtures("plain_missions")
SITES = {"spider": "plain", "source": "lines", "text": "a.test;2"}
OF_TOPICS = (
    ({"spider": "topic", "text": "keywords: [a"}, "sites", "Line 1: not valid YAML"),
    ({"source": "store", "spider": "topic"}, "sites", "topic needs a file topic.yaml"),
    ({"spider": "topic", "text": "roots: [a.test]\nexamples: [../secret]"}, "sites", "../secret is a file"),
)


def stored_as(name, content):
    """Return where the sites of a crawl are kept."""
    return f"logs/panel/{name}/{stored_name('hosts.txt', content)}"


def error_at(text, field):
    """Return the message next to a field."""
    return text.partition(f'id="wrong-{field}">')[2].partition("</span>")[0].replace("&#39;", "'")


def test_every_setting_has_a_field_with_its_documentation(browser):
    text = browser.get("/start").text
    for name in OFFERED.keys() - OUTPUTS:
        assert f'name="{name}"' in text
        assert f'<small id="about-{name}">' in text
    assert 'name="DATABASE_URL"' not in text


def test_crawl_is_started_and_shown(browser, starter):
    starter.outcome = 7
    response = browser.post("/start", name="spring", PAGE_BUDGET="50", WORKERS="", EXTENSIONS="x", **SITES)
    assert (response.status_code, response.headers["location"]) == (303, "/crawls/7")
    command = CrawlCommand("plain", {"hosts": stored_as("spring", b"a.test;2")}, {"PAGE_BUDGET": "50"})
    assert starter.commands == [("spring", command, {"hosts": b"a.test;2"})]


def test_file_is_uploaded(browser, starter):
    starter.outcome = 7
    browser.upload("/start", {"file": ("../../x.txt", b"b.test\n")}, **{**SITES, "source": "file"})
    command = CrawlCommand("plain", {"hosts": stored_as("plain", b"b.test\n")}, {})
    assert starter.commands == [("plain", command, {"hosts": b"b.test\n"})]


@pytest.mark.parametrize(
    ("form", "field", "message"),
    [
        ({"text": "ftp://x.test"}, "sites", "Line 1: 'ftp://x.test': unsupported protocol 'ftp'"),
        ({"text": "a.test\nhttp//b.test/x"}, "sites", "Line 2: 'http//b.test/x': http is not a host; write"),
        ({"text": ""}, "sites", "Nothing is given; write hosts.txt here, or upload it"),
        ({"source": "store"}, "sites", "The list has no enabled site; add some under Sites"),
        ({"name": "../x"}, "name", "A name begins with a letter or a digit"),
        ({"spider": "shell"}, "spider", "There is no spider shell"),
        ({"LINK_PRIOR": "../x"}, "LINK_PRIOR", "LINK_PRIOR=../x can't be set here; write shipped or none"),
        *(pytest.param(*row, marks=needs("topic")) for row in OF_TOPICS),
    ],
)
def test_what_is_wrong_stands_next_to_its_field(browser, starter, form, field, message):
    response = browser.post("/start", **{**SITES, **form})
    assert response.status_code == 422
    assert message in error_at(response.text, field)
    assert starter.commands == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_form_has_no_field_for_a_path_and_one_that_is_sent_is_refused(browser, starter, name):
    assert f'name="{name}"' not in browser.get("/start").text
    response = browser.post("/start", **SITES, **{name: "result"})
    assert response.status_code == 422
    assert f"<li>{name} can&#39;t be set here; start the crawl in a terminal</li>" in response.text
    assert starter.commands == []


def test_what_the_command_says_stands_next_to_its_fields(browser, starter):
    starter.outcome = ConfigError(f"MAX_LEVEL='x' is not a whole number\nSITE_DELAY_SECONDS={HOSTILE}\nhosts: none")
    response = browser.post("/start", MAX_LEVEL="x", **SITES)
    assert response.status_code == 422
    assert error_at(response.text, "MAX_LEVEL") == "MAX_LEVEL='x' is not a whole number"
    assert error_at(response.text, "sites") == "hosts: none"
    assert "&lt;script&gt;" in error_at(response.text, "SITE_DELAY_SECONDS")
    assert 'name="MAX_LEVEL" value="x"' in response.text
    assert "a.test;2</textarea>" in response.text


def test_crawl_that_has_not_begun_yet_says_where_its_log_is(browser, starter):
    assert "It has not begun yet." in browser.post("/start", **SITES).text


def test_harvests_read_the_list_themselves_and_others_get_its_sites(browser, starter, sqlite):
    save_seeds(sqlite, [{"site": "http://a.test", "delay_s": 0.5}, {"site": "http://b.test", "enabled": False}])
    sites = b"http://a.test;;;500\n"
    for spider, arguments, files in (
        ("harvest", {}, {}),
        ("plain", {"hosts": stored_as("plain", sites)}, {"hosts": sites}),
    ):
        browser.post("/start", spider=spider, source="store")
        assert starter.commands[-1][1:] == (CrawlCommand(spider, arguments, {}), files)


def test_crawl_keeps_its_sites_when_another_of_its_name_is_started(browser, starter, sqlite, crawl_id, tmp_path):
    starter.start = LocalStarter(sqlite, tmp_path, program=(sys.executable, "-c", "")).start
    for text in ("a.test", "b.test"):
        browser.post("/start", **{**SITES, "name": "spring", "text": text})
    manifest = {"command": {"arguments": {"hosts": stored_as("spring", b"a.test")}, "settings": {}, "left_out": []}}
    change_crawl(sqlite, mission="harvest", manifest=manifest)
    assert "a.test</textarea>" in browser.get("/start?like=1").text


@pytest.mark.parametrize(
    ("arguments", "text", "source"),
    [
        ({"hosts": "own.txt"}, "http://own.test", "lines"),
        ({"hosts": "a.test,b.test;2"}, "a.test\nb.test;2", "lines"),
        ({"hosts": "/etc/passwd"}, "/etc/passwd", "lines"),
        ({"hosts": "../outside.txt"}, "", "lines"),
        ({}, "", "store"),
    ],
)
def test_form_is_filled_in_like_a_crawl(browser, sqlite, crawl_id, tmp_path, arguments, text, source):
    (tmp_path / "own.txt").write_text("http://own.test")
    (tmp_path.parent / "outside.txt").write_text("secret")
    command = {"arguments": arguments, "settings": {"PAGE_BUDGET": "9", "RETRY_REST_TIMES": "2"}, "left_out": []}
    change_crawl(sqlite, mission="harvest", manifest={"command": command})
    page = browser.get("/start?like=1").text
    chosen = (f'name="source" value="{source}" checked', 'name="spider" value="harvest" checked')
    typed = (f"{text}</textarea>", 'name="name" value="spring"', 'name="PAGE_BUDGET" value="9"')
    assert [one for one in (*chosen, *typed, '<details class="panel" open>') if one not in page] == []


@pytest.mark.parametrize("name", [*OUTPUTS, "LINK_PRIOR"])
@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/b", "result/a.csv", "crawl.sqlite"])
def test_the_panel_takes_no_path(name, path):
    assert check_offered({name: path})[name].startswith(name)
    assert "can't be set here" in check_offered({name: path})[name]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EXTENSIONS", "x", "EXTENSIONS can't be set here; start the crawl in a terminal"),
        ("RULE", "x" * 2001, "RULE has 2,001 characters; write at most 2,000"),
        ("RULE", "a\nb", "RULE has characters that can't be printed; write it on one line"),
    ],
)
def test_problem_is_one_sentence(name, value, message):
    assert check_offered({name: value}) == {name: message}
