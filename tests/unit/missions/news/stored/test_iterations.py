"""Iterations are counted in the transactions of the pages, so exactly the committed pages are counted."""

import pytest

from crawlers.items import Page, State
from crawlers.missions.news.news_items import News
from crawlers.missions.news.stored.iterations import (
    Day,
    Iteration,
    counted_page,
    last_iteration,
    stored_days,
    stored_iterations,
)
from crawlers.store.writing.change_set import ChangeSet
from tests.support.missions.news.news_store import DAY, NewsStore
from tests.support.stored_rows import read, write_changes_of


def page(state=State.DONE, **news):
    return Page(1, "http://one.example/", 1, state, facts=News(**news))


def count(most_pages, crawl, now, *pages, is_revisit=False, commit=True):
    """Count *pages* in one batch, as the writer commits them."""
    changes = ChangeSet()
    for one in pages:
        changes.add(*counted_page(crawl.id, most_pages, one, now, is_revisit=is_revisit))
    if commit:
        write_changes_of(crawl.database, changes)


def test_each_download_has_one_of_four_kinds(crawl):
    pages = [
        page(fits=True, outcome="new"),
        page(fits=True, outcome="duplicate"),
        page(fits=True),
        page(),
        page(State.MOVED),
        page(outcome="new"),  # looks like an article, and is one
        page(State.REFUSED),
        page(State.FAILED, kind="feed"),
        page(kind="feed"),
        page(State.REJECTED),  # never requested
    ]
    count(0, crawl, 10.0, *pages)
    count(0, crawl, 11.0, page(fits=True, outcome="changed"), is_revisit=True)
    assert read(stored_iterations, crawl.database, crawl.id) == [
        Iteration(crawl.id, 1, 10.0, 11.0, 3, 3, 2, 2, 2, 1, 2)
    ]


@pytest.mark.both_stores
def test_next_run_continues_the_committed_iteration(crawl):
    count(4, crawl, 1.0, page(fits=True), page())
    count(4, crawl, 2.0, page(fits=True), commit=False)  # killed before the commit
    count(4, crawl, 9.0, page(fits=True), page(), page())
    crawl.document("/a", 10.0)
    assert read(stored_days, crawl.database, crawl.id) == [Day(0.0, 1, 1)]
    assert read(stored_iterations, crawl.database, crawl.id) == [
        Iteration(crawl.id, 1, 1.0, 9.0, fit=2, not_fit=2),
        Iteration(crawl.id, 2, 9.0, 9.0, not_fit=1),
    ]
    assert last_iteration(crawl.database, crawl.id).number == 2


def test_crawls_are_counted_separately(crawl):
    other = NewsStore(crawl.database, "other")
    count(0, crawl, 1.0, page())
    count(0, other, 1.0, page(), page())
    assert [one.pages for one in read(stored_iterations, crawl.database, other.id)] == [2]
    assert last_iteration(crawl.database, 99) is None


def test_days_have_their_new_documents_and_the_running_total(crawl):
    for path, stored_at in (("/a", 10.0), ("/b", DAY - 1), ("/c", DAY), ("/d", 3 * DAY + 5)):
        crawl.document(path, stored_at)
    NewsStore(crawl.database, "other").document("/a", 10.0)
    assert read(stored_days, crawl.database, crawl.id) == [Day(0.0, 2, 2), Day(DAY, 1, 3), Day(3 * DAY, 1, 4)]
