"""The reader of a document in the browser."""

import re

import pytest


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


def test_earlier_version_is_shown_as_such(browser, crawl_id):
    number = min(first_documents(browser, crawl_id, "?until=1970-01-01T00:03:21"))
    path = f"/crawls/{crawl_id}/documents/{number}"
    assert "Version 1</a>" in browser.get(path).text
    text = browser.get(f"{path}?version=1").text
    assert "This is version 1 of 2." in text
    assert '<p dir="auto">Old text.</p>' in text
    assert browser.get(f"{path}?version=3").status_code == 404


@pytest.mark.parametrize("path", ["999", "99999999999999999999", "1?version=x"])
def test_wrong_number_is_no_document(browser, crawl_id, path):
    assert browser.get(f"/crawls/{crawl_id}/documents/{path}").status_code == 404
