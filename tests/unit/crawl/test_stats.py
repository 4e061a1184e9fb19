"""What a run counts of its pages, and which of them the user is warned of."""

from collections import Counter

import pytest

from crawlers.crawl.stats import CrawlStats, CsvLogs
from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import Page, State
from crawlers.reasons import Reason
from crawlers.urls.resolution import resolve

URL = "http://a.test/"
PREVIOUS = PreviousVisit({}, State.DONE, 200, None, None, None, None)


class Counts(Counter[str]):
    def inc_value(self, key, count=1):
        self[key] += count


def lease(level=0, *, is_revisit=False):
    return Lease(1, 1, 1, URL, level, 0, 0, None, 0.0, previous=PREVIOUS if is_revisit else None)


def stats(*, warns=True, common=None, errors=None):
    counts = Counts()
    return CrawlStats(counts.inc_value, CsvLogs(common, errors), warns_of_home_pages=warns), counts


@pytest.mark.parametrize(
    ("page", "counted"),
    [
        (Page(1, URL, 0, State.DONE, 200), {"pages/done": 1}),
        (Page(1, URL, 0, State.DONE, 304, is_unchanged=True), {"pages/not_modified": 1}),
        (Page(1, URL, 0, State.WAITING, 301, moved_to=resolve(URL, "/?")), {"pages/moved": 1}),
        (Page(1, URL, 0, State.REJECTED, reason="robots_disallows"), {"pages/rejected": 1}),
        (Page(1, URL, 1, State.REFUSED, 404, reason="no_response"), {"pages/refused": 1, "errors/client_error": 1}),
        (Page(1, URL, 1, State.FAILED, reason="no_response"), {"pages/failed": 1, "errors/other": 1}),
    ],
)
def test_page_is_counted_by_its_state_and_the_class_of_its_error(page, counted):
    crawl_stats, counts = stats()
    crawl_stats.count_page(lease(1), page, 0, 0.0)
    assert counts == counted


@pytest.mark.parametrize(
    ("warns", "level", "is_revisit", "is_reported", "is_warned"),
    [
        (True, 0, False, False, True),
        (False, 0, False, False, False),
        (True, 1, False, False, False),
        (True, 0, True, False, False),
        (True, 0, False, True, False),
    ],
)
def test_user_is_warned_of_an_unavailable_home_page_only(caplog, warns, level, is_revisit, is_reported, is_warned):
    crawl_stats, _ = stats(warns=warns)
    page = Page(1, URL, level, State.FAILED, reason="timeout")
    crawl_stats.count_page(lease(level, is_revisit=is_revisit), page, 0, 0.0, is_reported=is_reported)
    assert caplog.messages == ([f"{URL} is not available: timeout"] if is_warned else [])


def test_page_of_which_links_were_not_read_is_counted_and_said(caplog):
    crawl_stats, counts = stats()
    crawl_stats.count_page(lease(1), Page(1, URL, 1, State.DONE, reason=Reason.LINKS_CUT.of(7)), 0, 0.0)
    assert counts == {"pages/done": 1, "pages/cut": 1}
    assert caplog.messages == [f"{URL}: 7 links were not read: the page has too many"]


def test_retried_page_is_an_error_in_the_log(tmp_path):
    crawl_stats, counts = stats(errors=tmp_path / "errors.csv")
    crawl_stats.count_retry(Page(1, URL, 1, State.FAILED, reason="timeout"), 0.0)
    crawl_stats.logs.flush()
    assert counts == {"pages/retried": 1, "errors/timeout": 1}
    assert "timeout; will be retried" in (tmp_path / "errors.csv").read_text("utf-8")
