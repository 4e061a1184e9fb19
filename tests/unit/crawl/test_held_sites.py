"""Claimed sites are opened together; one that is given up is forgotten in all parts of the crawl."""

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
    from collections.abc import Collection

    from crawlers.frontier.protocols import Lease

SITES = [f"http://s{number}.test" for number in range(2)]


class Noting(CrawlPolicy):
    """Notes the sites that are closed."""

    def __init__(self) -> None:
        self.closed: list[int] = []

    def close_sites(self, site_ids: Collection[int]) -> None:
        self.closed += site_ids


def read(crawl: OpenedCrawl, lease: Lease) -> None:
    """Read a page with a link within its site and one to a site that is not crawled."""
    links = [(target(f"{lease.url}{lease.id}"), 1)]
    external = [(ExternalLink("http://x.test/", 7, "http://x.test", "", "", "", "", "a"), 1)]
    crawl.crawl.record(Page(lease.id, lease.url, lease.level, State.DONE, 200, links=links, external=external))


def test_site_that_is_given_up_is_forgotten(sqlite_url):
    policy, settings = Noting(), {"WORKER_DEADLINE_SECONDS": 30.0}
    mission = {"sites": [SiteLimits(site) for site in SITES], "can_be_shared": True, "counts_rewards": True}
    one = OpenedCrawl(sqlite_url, policy, mission, **settings)
    for _ in SITES:
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
