"""Forms as browsers do not send them."""

from __future__ import annotations

import errno
import os

import jinja2
import pytest
from starlette.requests import ClientDisconnect

from crawlers.web import panel
from crawlers.web.panel import FEW_BYTES, compile_templates
from tests.support.stored_crawl import stored_crawl
from tests.unit.web.conftest import FORM, HOST, change_crawl

OURS = {"origin": f"http://{HOST}"}
BOUNDARY = "boundary"


def part(name, value):
    return b'--%b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n' % (BOUNDARY.encode(), name, value)


def send(browser, path, fields, charset):
    token = FORM.search(browser.get("/").text)[1].encode()
    body = b"".join(part(*field) for field in [(b"csrf", token), *fields]) + f"--{BOUNDARY}--\r\n".encode()
    headers = {**OURS, "content-type": f"multipart/form-data; boundary={BOUNDARY}; charset={charset}"}
    return browser.client.post(path, content=body, headers=headers)


@pytest.mark.parametrize("field", [(b"text", rb"\ud800"), (b"text", rb"a\x00b"), (rb"a\x00b", b"x")])
def test_half_a_character_is_refused(browser, crawl_id, field):
    response = send(browser, "/start", [field], "unicode_escape")
    assert (response.status_code, "be stored; remove it" in response.text) == (400, True)


def test_many_fields_of_a_form_are_not_larger_than_a_file(browser, monkeypatch):
    monkeypatch.setattr(panel, "MAX_FIELDS", 100)
    response = browser.post("/logout", **{f"field{number}": "x" * (FEW_BYTES // 50) for number in range(60)})
    assert (response.status_code, "divide the file" in response.text) == (413, True)


def test_browser_that_goes_away_while_it_sends_is_no_error(browser, monkeypatch, caplog):
    async def gone(*_):
        raise ClientDisconnect

    monkeypatch.setattr(panel, "_form_of", gone)
    assert browser.post("/logout").status_code == 400
    assert not caplog.records


@pytest.fixture
def not_compiled(monkeypatch):
    """No template has been compiled."""
    monkeypatch.setattr(panel, "_COMPILED", panel._Compiled())
    panel._environment.cache_clear()
    yield
    panel._environment.cache_clear()


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


def test_pages_name_the_program_that_people_have(browser, sqlite, monkeypatch, plain_missions):
    monkeypatch.setattr("sys.argv", [".local/bin/crawlers", "web"])
    assert "<code>crawlers plain example.org</code>" in browser.get("/").text
    crawl = f"/crawls/{stored_crawl(sqlite)}"
    change_crawl(sqlite, mission="plain")
    for page in ("manifest", "explain"):
        assert "scrapy " not in browser.get(f"{crawl}/{page}").text, page
    assert "crawlers plain" in browser.get(f"{crawl}/manifest").text


def test_theme_and_language_are_kept(browser):
    response = browser.post("/preferences", language="ru", theme="dark", page="/crawls/1?x=1")
    assert (response.status_code, response.headers["location"]) == (303, "/crawls/1?x=1")
    assert '<html lang="ru" data-theme="dark">' in browser.get("/").text
