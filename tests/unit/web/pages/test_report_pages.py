"""Reports in the browser."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import update

from crawlers.reports.catalogue.registry import REPORTS
from crawlers.storage.schema.tables import page
from tests.support.stored_crawl import HOSTILE

every_report = pytest.mark.parametrize("name", REPORTS)


def next_page(text):
    found = re.search(r'rel="next" href="([^"]+)"', text)
    return found and found[1].replace("&amp;", "&")


@every_report
def test_pages_of_a_report_have_all_of_its_rows(browser, crawl_id, name):
    path, rows = f"/crawls/{crawl_id}/reports/{name}", 0
    while path:
        response = browser.get(path)
        assert response.status_code == 200
        rows += response.text.count("<tr>") - 1
        path = next_page(response.text)
    exported = browser.get(f"/crawls/{crawl_id}/reports/{name}.jsonl").text
    assert rows == exported.count("\n") > 0


def test_text_of_strangers_is_escaped(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages?text=alert").text
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)" in text


def test_filter_is_escaped(browser, crawl_id):
    text = browser.get(f'/crawls/{crawl_id}/reports/pages?text="><script>x').text
    assert "<script>x" not in text
    assert "No row meets these conditions." in text


def test_export_has_the_rows_that_the_filters_let_through_without_formulas(browser, crawl_id):
    response = browser.get(f"/crawls/{crawl_id}/reports/pages.csv?text=1%2B1")
    assert response.headers["content-disposition"] == 'attachment; filename="spring-1-pages.csv"'
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    lines = response.text.splitlines()
    assert len(lines) == 2
    assert ",'=1+1," in lines[1]


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/crawls/9", 404, "There is no crawl 9 in the store."),
        ("/crawls/1/reports/x", 404, "There is no report x; there are pages,"),
        ("/crawls/1/reports/pages.exe", 404, "There is no format exe; there are csv, jsonl, parquet."),
        ("/crawls/1/reports/pages?level=x", 400, "must be a whole number from 0 to"),
        ("/crawls/1/reports/pages?after=1.2", 400, "begin with the first page of the report"),
        ("/crawls/1/reports/..%2f..%2fetc%2fpasswd.csv", 404, "There is no such page."),
        ("/static/../../settings.py", 404, "There is no such page."),
        ("/static/..%2f..%2fsettings.py", 404, "There is no such page."),
        ("/crawls/99999999999999999999", 404, "There is no crawl"),
    ],
)
def test_wrong_address_is_an_error_in_words(browser, crawl_id, path, status, sentence):
    response = browser.get(path)
    assert response.status_code == status
    assert sentence in response.text.replace("&#39;", "'")


def test_reports_are_listed_by_what_they_are_for_with_their_numbers(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports").text
    assert all(f'href="/crawls/{crawl_id}/reports/{name}"' in text for name in REPORTS)
    assert '<span class="chip">142</span>' in text  # pages
    assert "What is broken" in text


def first_cells(text):
    return re.findall(r"<tr><td[^>]*>(?:<a[^>]*>|<span[^>]*>)?([^<]*)", text)


def test_computed_report_is_sorted_by_a_column_on_all_pages(browser, crawl_id):
    path = f"/crawls/{crawl_id}/reports/deepest-pages?sort=url"
    text = browser.get(path).text
    assert 'aria-sort="ascending"><a href="?sort=-url">' in text
    found = first_cells(text)
    while following := next_page(text):
        text = browser.get(f"/crawls/{crawl_id}/reports/deepest-pages{following[following.index('?') :]}").text
        found += first_cells(text)
    assert len(found) > 100
    assert found == sorted(found)
    exported = browser.get(f"/crawls/{crawl_id}/reports/deepest-pages.csv?sort=url").text.splitlines()[1:]
    assert [line.split(",")[0] for line in exported] == found
    assert browser.get(f"/crawls/{crawl_id}/reports/deepest-pages?sort=x").status_code == 400


def test_computed_report_is_kept_until_somebody_asks_for_a_newer_one(browser, crawl_id, sqlite):
    path = f"/crawls/{crawl_id}/reports/traps"
    assert "<td" in browser.get(path).text
    with sqlite.write() as connection:
        connection.execute(update(page).values(state=0))
    assert "<td" in browser.get(path).text
    assert browser.get(f"{path}?again=1").headers["location"].startswith(path)
    assert "This crawl has nothing of this kind yet." in browser.get(path).text


def test_row_leads_to_the_pages_that_it_is_about(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports/same-titles").text
    related = re.search(r'href="([^"]+)">Show', text)[1].replace("&amp;", "&")
    assert related.startswith(f"/crawls/{crawl_id}/reports/pages?text=News&site=")
    assert browser.get(related).text.count("<tr>") == 51
