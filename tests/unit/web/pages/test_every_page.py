"""What holds for pages of all kinds: wrong addresses, and results that take long."""

from html import unescape

import pytest


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/crawls/9", 404, "There is no crawl 9 in the store."),
        ("/crawls/1/reports/x", 404, "There is no report x; there are pages,"),
        ("/crawls/1/reports/pages.exe", 404, "There is no format exe; there are csv, jsonl, parquet."),
        ("/crawls/1/reports/pages?level=x", 400, "must be a whole number from 0 to"),
        ("/crawls/1/reports/pages?after=1.2", 400, "begin with the first page of the report"),
        ("/crawls/99999999999999999999", 404, "There is no crawl"),
        ("/crawls/9/pictures", 404, "There is no crawl 9 in the store."),
        ("/crawls/1/pictures/x", 404, "There is no picture x; there are links-found,"),
        ("/crawls/1/pictures/x.json", 404, "There is no picture x; there are links-found,"),
        ("/crawls/1/pictures/levels?site=<b>.test", 400, "is not a site of this crawl"),
        ("/crawls/1/pictures/levels.csv?site=z.test", 400, "is not a site of this crawl"),
        ("/crawls/1/reports/pages/delete", 404, "those of internal-links, external-links, bad-links can"),
        ("/crawls/1/reports/x/delete", 404, "can't be deleted"),
        ("/crawls/1/reports/external-links/delete?row=1.2", 400, "Choose at most 500 links in the table."),
        ("/crawls/1/reports/external-links/delete?level=x", 400, "must be a whole number"),
        ("/crawls/1/reports/external-links/delete?reason=x", 400, "has no filter reason"),
    ],
)
def test_wrong_address_is_an_error_in_words(browser, crawl_id, path, status, sentence):
    response = browser.get(path)
    assert response.status_code == status
    assert sentence in unescape(response.text)
    assert "<b>" not in response.text


@pytest.mark.parametrize(
    ("path", "part", "result"),
    [
        ("/crawls/1/explain?url=http://a.test/a", "result", "title: =1+1"),
        ("/crawls/1/reports/external-links/delete?site=c.test", "deletion", "Delete for good"),
        ("/sites/1/delete", "question", "Delete for good"),
        ("/crawls/1/pictures/levels?axis=x", "data", "</table>"),
        ("/sites", "list", "</table>"),
    ],
)
def test_page_of_a_result_that_takes_long_asks_for_it_again(open_panel, crawl_id, path, part, result):
    text = open_panel(wait_s=0, threads=0).get(path).text
    assert "Being computed since" in text
    assert f'hx-get="{path}" hx-select="#{part}"' in text
    assert result not in text
    assert result in open_panel().get(path).text
