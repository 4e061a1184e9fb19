"""Claimed sites are opened together, given up a few at a time, and forgotten then in all parts of the crawl."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from crawlers.crawl import held_sites
from crawlers.crawl.policy import CrawlPolicy
from crawlers.items import ExternalLink, Page, SiteLimits, State
from crawlers.storage.site_rows import SiteRow
from tests.support.opened_crawl import OpenedCrawl, target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlers.frontier.protocols import Lease

SITES = [f"http://s{number}.test" for number in range(6)]


class Noting(CrawlPolicy):
    """Notes the sites that are closed."""

    def __init__(self) -> None:
        self.closed: list[int] = []

    def close_sites(self, site_ids: Collection[int]) -> None:
        self.closed += site_ids


def read(crawl: OpenedCrawl, lease: Lease) -> None:
    """Read a page with links within its site, and one to a site that is not crawled."""
    links = [(target(f"{lease.url}{lease.id}-{number}"), 1) for number in range(2)]
    external = [(ExternalLink("http://x.test/", 7, "http://x.test", "", "", "", "", "a"), 1)]
    crawl.crawl.record(Page(lease.id, lease.url, lease.level, State.DONE, 200, links=links, external=external))


@pytest.fixture
def crawl(sqlite_url: str) -> Iterator[OpenedCrawl]:
    mission = {"sites": [SiteLimits(site, 2) for site in SITES], "can_be_shared": True}
    opened = OpenedCrawl(sqlite_url, None, mission)
    yield opened
    opened.kill()


def held_after_each(crawl: OpenedCrawl, rounds: int) -> list[int]:
    """Return how many sites are left after each of some rounds in which one of two workers has nothing to do."""
    left = []
    for _ in range(rounds):
        crawl.crawl._held.share(1, 2)
        left.append(len(list(crawl.crawl.sites.rows)))
    return left


def test_more_is_given_up_when_others_had_time_to_claim_it(crawl):
    assert held_after_each(crawl, 5) == [3, 3, 2, 2, 1]


def test_nothing_more_is_given_up_while_pages_of_what_is_given_up_are_in_flight(crawl):
    for lease in [crawl.lease() for _ in SITES]:
        read(crawl, lease)
    leases = [crawl.lease() for _ in SITES]
    assert len({lease.site_id for lease in leases}) == 6
    assert held_after_each(crawl, 5) == [6] * 5
    further = [crawl.lease() for _ in range(3)]
    assert crawl.crawl.next(crawl.now) is None, "three sites request nothing more"
    for lease in leases:
        read(crawl, lease)
    kept = {row.id for row in crawl.crawl.sites.rows}
    assert kept == {lease.site_id for lease in further}
    assert crawl.crawl._trials._responding == kept


def test_site_that_is_given_up_is_forgotten(sqlite_url):
    policy, settings = Noting(), {"WORKER_DEADLINE_SECONDS": 30.0}
    mission = {"sites": [SiteLimits(site) for site in SITES[:2]], "can_be_shared": True, "counts_rewards": True}
    one = OpenedCrawl(sqlite_url, policy, mission, **settings)
    for _ in SITES[:2]:
        read(one, one.lease())
    both = {row.id for row in one.crawl.sites.rows}
    parts = (one.crawl.session.rewards._paid.young, one.crawl._trials._responding)
    assert [set(part) for part in parts] == [both, both]
    one.crawl._homes._moving.update(dict.fromkeys(both, "http://www.test"))
    two = OpenedCrawl(sqlite_url, None, mission, **settings)
    for _ in range(2):
        two.round()
        one.round()
    kept = {row.id for row in one.crawl.sites.rows}
    assert len(kept) == 1
    assert set(policy.closed) == both - kept
    for part in (*parts, one.crawl._homes._moving):
        assert set(part) == kept
    for crawl in (one, two):
        crawl.kill()


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
    monkeypatch.setattr(held_sites, "SITES_AT_ONCE", 3)
    monkeypatch.setattr(held_sites, "URLS_AT_ONCE", 10)
    frontier = SimpleNamespace(numbers_known=lambda numbers: {one: known[one] for one in numbers if one in known})
    sources = [[SiteRow(number, "", 1, None, 0.0) for number in its] for its in ([1], [2, 3], [4], [5, 6, 7, 8], [9])]
    found = list(held_sites.batches(frontier, sources))
    assert [[[row.id for row in its] for its in batch] for batch in found] == expected
