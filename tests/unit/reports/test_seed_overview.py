"""The list of sites, and what the latest crawl found out about each."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, update

from crawlers.items import State
from crawlers.reports.seed_overview import SORTED_BY, Level, SeedState, seed_lines, site_details, with_pages
from crawlers.storage.schema.tables import crawler_setting, page, site
from crawlers.storage.seeds import list_seeds, save_seeds
from tests.support.stored_crawl import stored_crawl

A, NEW = "http://a.test", "http://new.test"


@pytest.fixture
def stored(database):
    """A store with a crawl of two sites, of which one is not available, and a third site that was never crawled."""
    stored_crawl(database)
    save_seeds(database, [{"site": NEW, "name": "Ünique", "short_name": "N", "enabled": False}])
    with database.write() as connection:
        connection.execute(update(site).where(site.c.id == 2).values(availability="timeout"))
    return database


def found(database, *arguments, **options):
    return [line.seed.site for line in seed_lines(database, *arguments, **options)]


def test_lines_have_the_state_of_the_latest_crawl(stored):
    first, second, third = with_pages(stored, seed_lines(stored))
    assert (first.seed.site, first.state, first.why) == (A, SeedState.AVAILABLE, None)
    assert (first.crawl_id, first.pages) == (1, 4)
    assert (second.state, second.why, second.pages) == (SeedState.UNAVAILABLE, "timeout", 130)
    assert (third.state, third.crawl_id, third.pages) == (SeedState.NEVER, None, None)


def test_lines_are_searched_in_names_and_addresses(stored):
    assert found(stored, " üNI ") == found(stored, "new.te") == [NEW]
    assert found(stored, "%") == []


@pytest.mark.parametrize(
    ("state", "number"),
    [
        ("", 3),
        ("x", 3),
        ("enabled", 0),
        ("disabled", 3),
        ("available", 1),
        ("not available", 1),
        ("not crawled yet", 1),
    ],
)
def test_lines_are_filtered_by_state(stored, state, number):
    assert len(found(stored, state=state)) == number


@pytest.mark.parametrize("by", SORTED_BY)
def test_lines_are_sorted_both_ways(stored, by):
    assert len(found(stored, by=by)) == 3
    assert found(stored, by=by, descending=True) == found(stored, by=by)[::-1]


def test_unknown_key_sorts_by_number(stored):
    assert found(stored, by="x") == [seed.site for seed in list_seeds(stored)]


def test_details_are_those_of_the_latest_crawl(stored):
    robots = "User-agent: mine\nCrawl-delay: 7\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 3\n"
    with stored.write() as connection:
        values = {"robots_status": 200, "robots_text": robots, "robots_at": 5.0, "parallel": 4, "delay_s": 0.5}
        connection.execute(update(site).where(site.c.id == 1).values(**values))
        connection.execute(insert(crawler_setting), {"crawl_id": 1, "name": "USER_AGENT", "value": "mine/1.0"})
        connection.execute(update(page).where(page.c.state == int(State.FAILED)).values(reason="timeout, 3 attempts"))
    details = site_details(stored, A)
    ended = {State.DONE: 4, State.MOVED: 3, State.REFUSED: 1, State.FAILED: 1, State.REJECTED: 3}
    assert details.counts == ended
    assert details.levels == [Level(0, 1, 1 / 3), Level(1, 3, 1.0)]
    assert details.errors == [("status 404", 1), ("timeout", 1)]
    assert (details.external_urls, details.per_page) == (3, 0.75)
    assert (details.parallel, details.delay_s, details.robots_delay_s) == (4, 0.5, 7.0)
    assert (details.robots_status, details.robots_text, details.robots_at) == (200, robots, 5.0)


def test_site_that_was_never_crawled_has_no_details(stored):
    assert site_details(stored, NEW) is None
