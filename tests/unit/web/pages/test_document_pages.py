"""The reader of a document in the browser."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update

from crawlers.storage.schema.news_tables import document
from crawlers.storage.schema.tables import crawl
from tests.support.stored_missions import HOSTILE_TEXT, HOSTILE_TITLE


def first_documents(browser, crawl_id, query=""):
    text = browser.get(f"/crawls/{crawl_id}/reports/documents{query}").text
    return [int(number) for number in re.findall(rf'href="/crawls/{crawl_id}/documents/(\d+)', text)]


def test_documents_lead_to_the_reader_and_the_reader_to_the_next_one(browser, crawl_id):
    query = "?language=de&text=story"
    listed = first_documents(browser, crawl_id, query)
    path = f"/crawls/{crawl_id}/documents/{listed[0]}{query}"
    for expected in listed[:4]:
        text = browser.get(path).text
        assert f"/documents/{expected}?" in path
        assert f'href="/crawls/{crawl_id}/reports/documents?text=story&amp;language=de">' in text
        path = re.search(r'rel="next" href="([^"]+)"', text)[1].replace("&amp;", "&")
    assert 'rel="prev"' in text


def test_hostile_document_is_text(browser, crawl_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(
            update(document).values(url="javascript:alert(1)", language='"><script>', canonical="data:x")
        )
    listed = first_documents(browser, crawl_id, "?text=alert(2)")
    text = browser.get(f"/crawls/{crawl_id}/documents/{listed[0]}").text
    assert HOSTILE_TITLE not in text
    assert "&#34;&gt;&lt;script&gt;alert(2)&lt;/script&gt;" in text
    alone = re.findall("<(title|h1|span[^>]*)>[^<]*\u202e[^<]*</", text)  # so that nothing else is turned around
    assert len(alone) == text.count("\u202e")
    assert "First &lt;b&gt;bold&lt;/b&gt; javascript:alert(1)</p>" in text
    assert HOSTILE_TEXT.splitlines()[-1] not in text
    assert 'href="javascript:' not in text
    assert 'href="data:' not in text
    assert "<img" not in text
    assert "A. Author, &lt;i&gt;B&lt;/i&gt;" in text


def test_earlier_version_is_shown_as_such(browser, crawl_id):
    number = min(first_documents(browser, crawl_id, "?until=1970-01-01T00:03:21"))
    path = f"/crawls/{crawl_id}/documents/{number}"
    assert "Version 1</a>" in browser.get(path).text
    text = browser.get(f"{path}?version=1").text
    assert "This is version 1 of 2." in text
    assert '<p dir="auto">Old text.</p>' in text
    assert browser.get(f"{path}?version=3").status_code == 404


@pytest.mark.parametrize("path", ["/documents/999", "/documents/99999999999999999999", "/documents/1?version=x"])
def test_what_is_no_document_is_no_page(browser, crawl_id, path):
    assert browser.get(f"/crawls/{crawl_id}{path}").status_code == 404


def test_unknown_filter_is_an_error_in_words(browser, crawl_id):
    number = first_documents(browser, crawl_id)[0]
    response = browser.get(f"/crawls/{crawl_id}/documents/{number}?level=2")
    assert (response.status_code, "has no filter level" in response.text) == (400, True)


def test_documents_are_a_tab_of_news_crawls(browser, crawl_id, sqlite):
    assert ">Documents</a>" not in browser.get(f"/crawls/{crawl_id}").text
    with sqlite.write() as connection:
        connection.execute(update(crawl).values(mission="news"))
    assert f'href="/crawls/{crawl_id}/reports/documents">Documents</a>' in browser.get(f"/crawls/{crawl_id}").text
