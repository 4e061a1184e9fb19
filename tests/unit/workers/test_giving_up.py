"""Claimed sites are opened together, given up a few at a time, and forgotten then in all parts of the crawl."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from sqlalchemy import update

from crawlers.crawl.held_sites import CLAIMED_URLS_AT_ONCE, batches_of_sources
from crawlers.crawl.run import Run
from crawlers.items import ExternalLink, SiteLimits
from crawlers.store.schema.tables import site
from crawlers.store.sites.site_opening import SiteList, SiteRow, open_sites
from tests.support.stored_rows import new_page, write_rows

SITES = [f"http://s{number}.test" for number in range(6)]


class Noting(Run):
    """Notes the sites that are closed."""

    def __init__(self):
        self.closed = []

    def close_sites(self, site_ids):
        self.closed += site_ids


def read(crawl, lease):
    """Read a page with links within its site, and one to a site that is not crawled."""
    external = [(ExternalLink("http://x.test/", 7, "http://x.test", "", "", "", "", "a"), 1)]
    crawl.end(lease, *(f"{lease.url}{lease.id}-{number}" for number in range(2)), external=external)


@pytest.fixture
def crawl(begin):
    crawl = begin(None, {"sites": [SiteLimits(site, 2) for site in SITES]})
    crawl.share()
    return crawl


def held_after_each(crawl, rounds):
    """Return how many sites are left after each of some rounds in which one of two workers has nothing to do."""
    left = []
    for _ in range(rounds):
        crawl.crawl.session.claims._give_up_sources(1, 2)
        left.append(len(list(crawl.crawl.sites.rows.values())))
    return left


def test_more_is_given_up_when_others_had_time_to_claim_it(crawl):
    assert held_after_each(crawl, 5) == [3, 3, 2, 2, 1]


def test_nothing_more_is_given_up_while_pages_of_what_is_given_up_are_in_flight(crawl):
    for lease in [crawl.lease() for _ in SITES]:
        read(crawl, lease)
    found = [crawl.lease() for _ in SITES]
    assert len({lease.site_id for lease in found}) == 6
    assert held_after_each(crawl, 1) == [6]
    parting = set(crawl.crawl.session.claims._parting)
    for lease in [lease for lease in found if lease.site_id not in parting]:
        read(crawl, lease)
        found.remove(lease)
    assert held_after_each(crawl, 4) == [6] * 4
    assert crawl.crawl.session.claims._parting == parting
    further = crawl.leases()
    for lease in found:
        read(crawl, lease)
    kept = {row.id for row in crawl.crawl.sites.rows.values()}
    assert kept == {lease.site_id for lease in further}
    assert crawl.crawl.trials._responding == kept


def test_site_that_is_to_be_given_up_does_not_wait_for_its_trial(crawl):
    found = {crawl.lease().site_id for _ in SITES}
    for site_id in found:
        crawl.crawl.trials.wait(site_id)
    crawl.crawl.session.claims._give_up_sources(1, 2)
    assert len(crawl.crawl.session.claims._parting) == 3
    assert set(crawl.crawl.trials._waiting) == found - crawl.crawl.session.claims._parting


def test_site_that_is_given_up_is_forgotten(begin):
    policy, settings = Noting(), {"WORKER_DEADLINE_SECONDS": 30.0}
    mission = {"sites": [SiteLimits(site) for site in SITES[:2]]}
    one = begin(policy, mission, **settings)
    for _ in SITES[:2]:
        read(one, one.lease())
    both = {row.id for row in one.crawl.sites.rows.values()}
    assert set(one.crawl.trials._responding) == both
    one.crawl.starts._moving.update(dict.fromkeys(both, "http://www.test"))
    two = begin(None, mission, **settings)
    for _ in range(2):
        two.round()
        one.round()
    kept = {row.id for row in one.crawl.sites.rows.values()}
    assert len(kept) == 1
    assert set(policy.closed) == both - kept
    for part in (one.crawl.trials._responding, one.crawl.starts._moving):
        assert set(part) == kept


@pytest.fixture
def sources(begin):
    """A crawl of two sources with three sites each."""
    leaders = {site: SITES[number // 3 * 3] for number, site in enumerate(SITES)}
    sites = [SiteLimits(site) for site in SITES]
    crawl = begin(None, {"sites": sites, "leader_of": leaders.get})
    crawl.share()
    return crawl


def new_site(crawl, source):
    """Return a new site of a source that is open, in which a page waits."""
    with crawl.crawl.session.database.write() as connection:
        new = SiteList([SiteRow(0, "http://new.test", 1, None, 0.0)])
        (row,) = open_sites(connection, crawl.crawl.session.row.id, new, 0.0)
        connection.execute(update(site).where(site.c.id == row.id).values(source_id=source))
    write_rows(crawl.crawl.session.database, new_page(999_999, row.id, url="http://new.test/"))
    return replace(row, source_id=source, is_new=False)


def test_sources_with_work_are_counted_and_chosen_as_a_whole(sources):
    held, rows = sources.crawl.session.claims, list(sources.crawl.sites.rows.values())
    first, second = rows[0].id, rows[3].id
    assert held._waiting_sources() == [first, second]
    leases = [sources.lease() for _ in range(3)]
    assert {lease.site_id for lease in leases} == {row.id for row in rows[:3]}
    assert held._waiting_sources() == [second, first], "nothing is leased of the second one"
    for lease in leases:
        sources.end(lease, f"{lease.url}x")
    assert held._waiting_sources() == [second, first], "nothing was requested of it"
    sources.crawl.sites.fetching.add(rows[4].id)
    held._give_up_sources(1, 2)
    assert first not in sources.crawl.sites.rows, "the robots.txt of a site of the other one is being fetched"
    assert second in sources.crawl.sites.rows


def test_claimed_sources_of_many_urls_are_opened_one_by_one(sources, monkeypatch):
    """Because what is known of their URLs is taken up by the reactor."""
    held, first = sources.crawl.session.claims, next(iter(sources.crawl.sites.rows.values())).id
    opened = []
    load = held._held.load

    def load_only(sources):
        some, _ = load(sources)
        opened.append([row.id for its in some for row in its])
        return some, lambda: None

    monkeypatch.setattr(held._held, "load", load_only)
    monkeypatch.setattr(sources.crawl.sites, "source", lambda site_id: first)
    many = CLAIMED_URLS_AT_ONCE
    monkeypatch.setattr(sources.crawl.frontier.store, "numbers_known", lambda sites: {102: many - 1, 103: 1, 104: many})
    held._add_claimed([SiteRow(number, f"http://{number}.test", 1, None, 0.0) for number in (101, 102, 103, 104)])
    asyncio.run(held.open())
    assert opened == [[101, 102, 103], [104]]


def test_new_site_of_a_source_that_is_not_held_is_not_opened(sources):
    held = sources.crawl.session.claims
    held._add_claimed([SiteRow(101, "http://new.test", 1, None, 0.0, source_id=77)])
    assert held.are_all_open


def test_source_that_is_given_up_while_it_is_read_is_not_opened(sources, monkeypatch):
    held, row = sources.crawl.session.claims, new_site(sources, next(iter(sources.crawl.sites.rows.values())).id)
    monkeypatch.setattr(Run, "load_sites", lambda self, rows: held._claimed.clear())
    held._add_claimed([row])
    asyncio.run(held.open())
    assert row.id not in {one.id for one in sources.crawl.sites.rows.values()}


def test_new_site_of_a_source_that_is_to_be_given_up_waits_and_goes_with_it(sources):
    held, rows = sources.crawl.session.claims, list(sources.crawl.sites.rows.values())
    found = sources.leases()
    held._give_up_sources(1, 2)
    (source,) = held._parting
    held._add_claimed([new_site(sources, source)])
    asyncio.run(held.open())
    assert sources.leases() == []
    for lease in found:
        read(sources, lease)
    kept = {row.id for row in rows if (row.source_id or row.id) != source}
    assert {row.id for row in sources.crawl.sites.rows.values()} == kept


def test_new_site_that_is_not_open_yet_is_free_with_its_source(sources):
    held = sources.crawl.session.claims
    found = sources.leases()
    held._give_up_sources(1, 2)
    (source,) = held._parting
    held._add_claimed([SiteRow(101, "http://new.test", 1, None, 0.0, source_id=source)])
    assert not held.are_all_open
    for lease in found:
        read(sources, lease)
    assert held.are_all_open


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, [[[1], [2, 3]], [[4]], [[5, 6, 7, 8]], [[9]]]),  # a source is never divided
        ({2: 6, 3: 4}, [[[1], [2, 3]], [[4]], [[5, 6, 7, 8]], [[9]]]),
        ({1: 1, 2: 6, 3: 4}, [[[1]], [[2, 3], [4]], [[5, 6, 7, 8]], [[9]]]),
        ({4: 11}, [[[1], [2, 3]], [[4]], [[5, 6, 7, 8]], [[9]]]),  # a large one is read alone
    ],
)
def test_sources_are_read_together_until_they_have_many_sites_or_urls(monkeypatch, known, expected):
    monkeypatch.setattr("crawlers.crawl.held_sites.SITES_AT_ONCE", 3)
    store = SimpleNamespace(numbers_known=lambda numbers: {one: known[one] for one in numbers if one in known})
    frontier = SimpleNamespace(store=store)
    sources = [[SiteRow(number, "", 1, None, 0.0) for number in its] for its in ([1], [2, 3], [4], [5, 6, 7, 8], [9])]
    found = list(batches_of_sources(frontier, sources, 10))
    assert [[[row.id for row in its] for its in batch] for batch in found] == expected
