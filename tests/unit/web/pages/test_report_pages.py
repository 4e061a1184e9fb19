"""Reports in the browser."""

from __future__ import annotations

import re
import threading

import pytest
from sqlalchemy import update

from crawlers.errors import StoreError
from crawlers.reports.catalogue.registry import REPORTS, reports_about
from crawlers.storage.schema.news_tables import document
from crawlers.storage.schema.score_tables import importance
from crawlers.storage.schema.tables import page
from tests.support.processes import PATIENCE_S, until
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
        # There is no table if the time was over before the first row.
        rows += response.text.partition('<tbody id="found">')[2].count("<tr>")
        path = next_page(response.text)
    exported = browser.get(f"/crawls/{crawl_id}/reports/{name}.jsonl").text
    assert rows == exported.count("\n") > 0


@pytest.mark.parametrize(("state", "shown"), [("not-requested", "not requested"), ("Error", "error")])
def test_state_that_is_shown_is_chosen_in_the_filters(browser, crawl_id, state, shown):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages?state={state}").text
    assert f'<option value="{shown}" selected>' in text


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
        ("/crawls/1/reports/alarms?after=2.0", 400, "begin with the first page of the report"),
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
    listed = {report.name for report in reports_about("extlinks")}
    assert listed < REPORTS.keys()
    assert {name for name in REPORTS if f'href="/crawls/{crawl_id}/reports/{name}"' in text} == listed
    assert '<span class="chip">142</span>' in text  # pages
    assert "What is broken" in text


def first_cells(text):
    return re.findall(r"<tr><td[^>]*>(?:<a[^>]*>|<span[^>]*>)?([^<]*)", text)


def test_list_of_reports_has_numbers_of_rows_as_soon_as_they_are_counted(open_panel, crawl_id):
    number = '<a href="/crawls/1/reports/redirects">Redirects</a>'
    assert f'{number} <span class="chip">3</span>' in open_panel().get(f"/crawls/{crawl_id}/reports").text
    assert f"{number}<p>" in open_panel(wait_s=0, threads=0).get(f"/crawls/{crawl_id}/reports").text


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


@pytest.mark.parametrize(
    ("query", "message"), [("", ""), ("?text=gone", ""), ("?text=nowhere", "No row meets these conditions.")]
)
def test_search_goes_on_by_itself_until_the_page_is_full_or_everything_was_searched(
    browser, crawl_id, monkeypatch, query, message
):
    path = f"/crawls/{crawl_id}/reports/broken-links"
    expected = browser.get(f"{path}.jsonl{query}").text.splitlines()[:50]
    monkeypatch.setattr("crawlers.web.pages.report_pages.SEARCH_S", -1.0)
    rows, steps, address = 0, 0, path + query
    places = []
    while address:
        text = browser.get(address).text
        part = text.partition('<tbody id="found">')[2].partition("</tbody>")[0]
        rows, steps = rows + part.count("<tr>"), steps + 1
        search = re.search(r'<div id="search"([^>]*)>(.*)</div>', text, re.DOTALL)
        going = re.search('hx-get="([^"]+)" hx-trigger="load"', search[1])
        if going:
            assert 'hx-select-oob="#found:beforeend"' in search[1]
            place = re.search(r"Searched: (?:([012]) of 2 sites|site ([12]) of 2, down to level (\d+))\.", search[2])
            places.append((int(place[1] or place[2]), int(place[3] or 1000)))
            assert re.search('rel="next" href="[^"]+after=[^"&]+">Search on', search[2])  # without JavaScript
        assert "First page" not in search[2]
        address = going[1].replace("&amp;", "&") if going else ""
    assert (rows, steps > 2, message in search[2]) == (len(expected), True, True)
    assert places == sorted(places), "the search never goes back"
    assert ('class="empty"' in search[2]) is (f'href="{path}">Show all' in search[2]) is bool(message)


def test_page_that_is_searched_is_not_longer_than_others(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages?found=47&first=1").text
    assert text.partition('<tbody id="found">')[2].count("<tr>") == 3
    assert "hx-get" not in text.partition('id="search"')[2]
    assert browser.get(f"/crawls/{crawl_id}/reports/pages?found=999999").text.count("<tr>") == 2


@pytest.fixture
def slow_report(monkeypatch):
    """An event that lets the computation of the report `traps` end."""
    may_end, report = threading.Event(), type(REPORTS["traps"])
    compute = report.result

    def result(*arguments):
        assert may_end.wait(PATIENCE_S)
        return compute(*arguments)

    monkeypatch.setattr(report, "result", result)
    yield may_end
    may_end.set()


def test_page_of_a_report_that_is_being_computed_asks_for_it_again(open_panel, crawl_id, slow_report):
    browser, path = open_panel(wait_s=0), f"/crawls/{crawl_id}/reports/traps?site=http%3A%2F%2Fa.test"
    text = browser.get(path).text
    assert "Being computed since" in text
    assert f'hx-get="{path}" hx-select="#rows"' in text
    assert f'<a class="button quiet" href="{path}"' in text  # without JavaScript
    slow_report.set()
    until(lambda: "/day?#" in browser.get(path).text, "the report")
    text = browser.get(path).text
    assert "As of" in text
    assert "Being computed" not in text


def test_file_of_a_report_waits_for_its_computation(open_panel, crawl_id, slow_report, monkeypatch):
    browser, path = open_panel(wait_s=0), f"/crawls/{crawl_id}/reports/traps.csv"
    monkeypatch.setattr("crawlers.web.pages.report_pages.EXPORT_WAIT_S", 0)
    response = browser.get(path)
    assert (response.status_code, "load the file again" in response.text) == (503, True)
    monkeypatch.setattr("crawlers.web.pages.report_pages.EXPORT_WAIT_S", PATIENCE_S)
    slow_report.set()
    assert "/day?#" in browser.get(path).text


def test_computation_that_failed_says_why_and_can_be_tried_again(browser, crawl_id, monkeypatch):
    def fails(*_):
        raise StoreError("the disk <is> full")

    path = f"/crawls/{crawl_id}/reports/traps"
    with monkeypatch.context() as patched:
        patched.setattr(type(REPORTS["traps"]), "result", fails)
        assert "the disk &lt;is&gt; full" in browser.get(path).text
    text = browser.get(path).text
    assert "the disk &lt;is&gt; full" in text
    assert '<a class="button" href="?again=1"' in text
    assert browser.get(f"{path}.csv").status_code == 503
    browser.get(f"{path}?again=1")
    assert "<td" in browser.get(path).text


def test_long_durations_and_small_shares_are_readable(browser, crawl_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(update(document).values(published_at=-1e8, published="1966-10-31T14:13:20+00:00"))
        connection.execute(update(importance).where(importance.c.cash > 0.75).values(cash=1e6))
    assert '<td class="n">3 years</td>' in browser.get(f"/crawls/{crawl_id}/reports/documents").text
    text = browser.get(f"/crawls/{crawl_id}/reports/documents", **{"accept-language": "ru"}).text
    assert '<td class="n">3 года</td>' in text
    assert '<td class="n">0.0000002</td>' in browser.get(f"/crawls/{crawl_id}/reports/important-pages").text


def test_row_leads_to_the_pages_that_it_is_about(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}/reports/same-titles").text
    related = re.search(r'href="([^"]+)">Show', text)[1].replace("&amp;", "&")
    assert related.startswith(f"/crawls/{crawl_id}/reports/pages?text=News&site=")
    assert browser.get(related).text.count("<tr>") == 51


@pytest.mark.parametrize(("language", "reason"), [("ru", "время ожидания истекло"), ("zh", "超时"), ("en", "timeout")])
def test_stored_reasons_are_shown_in_the_language_of_the_reader(browser, crawl_id, language, reason):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages?text=failed", **{"accept-language": language}).text
    assert f">{reason}</span>" in text
    assert (">timeout<" in text) == (language == "en")


def test_text_of_strangers_that_is_like_a_reason_is_escaped(browser, crawl_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(update(page).values(reason=f"redirect_to_other_site {HOSTILE}"))
    text = browser.get(f"/crawls/{crawl_id}/reports/pages", **{"accept-language": "ru"}).text
    assert "редирект на другой сайт: &lt;script&gt;" in text
    assert HOSTILE not in text
