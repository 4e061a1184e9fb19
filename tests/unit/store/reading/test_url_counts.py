"""URLs are counted by what became of them, as the summary of a crawl counts them."""

from itertools import product

import pytest
from sqlalchemy import select, update

from crawlers.items import State
from crawlers.reports.catalogue.index_walk import is_kind, states_of
from crawlers.store.reading.crawl_results import crawl_results
from crawlers.store.reading.url_counts import UrlCounts, UrlKind, kind_of, total, url_counts
from crawlers.store.schema.tables import page
from tests.support.stored_rows import begin, execute, read
from tests.support.stored_site import Stored, store

PDF, FEED = "content_type application/pdf", "/feed"


@pytest.fixture
def stored(database):
    """A store with a crawl of two sites."""
    begin(database, mission="news")
    pages = [
        Stored("/", 0),
        Stored("/deep", 3),
        Stored("/old", state=State.MOVED, moved_to=0),
        Stored("/gone", 4, state=State.REFUSED, reason="status 404"),
        Stored("/file", 4, state=State.REFUSED, reason=PDF),
        Stored(FEED, 1, state=State.REFUSED, reason="status 404"),
        Stored("/slow", 4, state=State.FAILED, reason="timeout"),
        Stored("/secret", 5, state=State.REJECTED, reason="robots_disallows"),
    ]
    store(database, pages, name="http://a.test")
    store(database, [Stored("/", 0), Stored("/x", 1, state=State.WAITING)], name="http://b.test")
    execute(database, update(page).where(page.c.reason == "status 404").values(status=404))
    execute(database, update(page).where(page.c.reason == PDF).values(status=200))
    execute(database, update(page).where(page.c.url == "http://a.test/deep").values(duplicates=2))
    return database


def counted(database, *guesses, **options):
    return read(url_counts, database, page.c.site_id.in_([1, 2]), guesses, **options)


@pytest.mark.both_stores
def test_urls_are_counted_by_site(stored):
    expected = UrlCounts(pages=4, redirects=1, errors=3, not_pages=1, not_requested=1, copies=2, deepest=3)
    assert counted(stored) == {1: expected, 2: UrlCounts(pages=1, waiting=1, deepest=0)}
    assert expected.requested == 9


def test_deleted_duplicates_may_be_left_out(stored):
    assert counted(stored, with_deleted=False)[1] == counted(stored)[1]._replace(pages=2, copies=0)


def test_numbers_are_those_of_the_summary(stored):
    counts, results = total(counted(stored, FEED).values()), crawl_results(stored, 1, (FEED,))
    assert counts.pages == sum(site.pages for site in results.sites)
    assert counts.errors == sum(number for ending, number in results.endings.items() if ending.is_error)
    for state, number in ((State.REFUSED, counts.not_pages), (State.REJECTED, counts.not_requested)):
        assert number == sum(n for one, n in results.endings.items() if one.state is state and not one.is_error)
    assert (counts.redirects, counts.waiting) == (results.redirects, results.waiting)


STATUSES = (None, 0, 200, 302, 399, 400, 503)


@pytest.mark.both_stores
def test_each_url_is_of_the_same_kind_in_queries_and_elsewhere(database):
    cases = list(product(State, STATUSES))
    pages = [Stored(f"/{number}", state=state) for number, (state, _) in enumerate(cases)]
    store(database, pages, name="http://a.test")
    for number, (_, status) in enumerate(cases):
        execute(database, update(page).where(page.c.url == f"http://a.test/{number}").values(status=status))
    found = {}
    for kind in UrlKind:
        of_states = page.c.state.in_([int(state) for state in states_of(kind)])
        for url in database.scalars(select(page.c.url).where(of_states, is_kind(kind))):
            found.setdefault(url, []).append(kind)
    assert found == {f"http://a.test/{number}": [kind_of(*case)] for number, case in enumerate(cases)}
    assert set(map(kind_of, *zip(*cases, strict=True))) == set(UrlKind)
