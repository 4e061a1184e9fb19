"""Reports in the browser."""

import re
import threading

import pytest

from crawlers.errors import StoreError
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.web.pages import report_pages
from tests.support.processes import PATIENCE_S


def next_page(text):
    found = re.search(r'rel="next" href="([^"]+)"', text)
    return found and found[1].replace("&amp;", "&")


def first_cells(text):
    return re.findall(r"<tr><td[^>]*>(?:<a[^>]*>|<span[^>]*>)?([^<]*)", text)


def test_computed_report_is_sorted_by_a_column_on_all_pages(browser, crawl_id, monkeypatch):
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
    monkeypatch.setattr(report_pages, "_outcome", None)  # so that no row can be read
    assert browser.get(f"/crawls/{crawl_id}/reports/deepest-pages?sort=x").status_code == 400


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


@pytest.mark.parametrize(("language", "reason"), [("ru", "время ожидания истекло"), ("zh", "超时"), ("en", "timeout")])
def test_stored_reasons_are_shown_in_the_language_of_the_reader(browser, crawl_id, language, reason):
    text = browser.get(f"/crawls/{crawl_id}/reports/pages?text=failed", **{"accept-language": language}).text
    assert f">{reason}</span>" in text
    assert (">timeout<" in text) == (language == "en")
