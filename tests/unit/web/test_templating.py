"""Templates are compiled once, and say the same things in each language."""

import errno
import os

import jinja2
import pytest

from crawlers.web import templating
from crawlers.web.templating import compile_templates
from tests.support.stored_crawl import stored_crawl


@pytest.fixture
def not_compiled(monkeypatch):
    """No template has been compiled."""
    monkeypatch.setattr(templating, "_COMPILED", templating._Compiled())
    templating._environment.cache_clear()
    yield
    templating._environment.cache_clear()


def test_no_reader_waits_for_a_template_to_be_compiled(not_compiled, monkeypatch, browser, crawl_id):
    compile_templates()
    monkeypatch.setattr(jinja2.Environment, "compile", None)
    for language, word in (("en", "Reports"), ("ru", "Отчёты"), ("zh", "报告")):
        assert word in browser.get(f"/crawls/{crawl_id}/reports", **{"accept-language": language}).text


def test_full_disk_is_told_in_words(browser, crawl_id, monkeypatch, caplog):
    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("crawlers.web.downloads.tempfile.TemporaryFile", full)
    response = browser.get(f"/crawls/{crawl_id}/graph/full.gexf")
    assert (response.status_code, "free some space" in response.text) == (507, True)
    assert [record.exc_info for record in caplog.records] == [None]


def test_pages_name_the_program_that_people_have(browser, sqlite, monkeypatch):
    monkeypatch.setattr("sys.argv", [".local/bin/crawlers", "web"])
    assert "<code>crawlers sitegraph example.org</code>" in browser.get("/").text
    crawl = f"/crawls/{stored_crawl(sqlite)}"
    for page in ("manifest", "rules?site=http://a.test&rule=/a.*", "reports/feeds", "reports/url-rules", "explain"):
        text = browser.get(f"{crawl}/{page}").text
        assert "scrapy " not in text, page
    assert "crawlers sites add-rule" in browser.get(f"{crawl}/rules?site=http://a.test").text
    assert "crawlers extlinks" in browser.get(f"{crawl}/manifest").text


def test_theme_and_language_are_kept(browser):
    response = browser.post("/preferences", language="ru", theme="dark", page="/crawls/1?x=1")
    assert (response.status_code, response.headers["location"]) == (303, "/crawls/1?x=1")
    assert '<html lang="ru" data-theme="dark">' in browser.get("/").text
