"""Several workers share the sources of one crawl: all sites of a source have one worker, and move together."""

import pytest

from crawlers.items import SiteLimits
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import rounds, target

A, B, C, D = (f"http://{name}.test" for name in ("a1", "a2", "b1", "b2"))
LEADERS = {A: A, B: A, C: C, D: C}  # two sources with two sites
NEW = "http://a3.test"  # of the first source, discovered by the crawl


@pytest.fixture
def opened(begin):
    """Opens a further worker of the crawl."""
    leaders = {**LEADERS, NEW: A}.get
    sites, scope = [SiteLimits(site) for site in LEADERS], Scope("all", list(LEADERS))
    return lambda: begin(None, {"sites": sites, "leader_of": leaders, "scope": scope})


def owners(crawl):
    return dict(crawl.rows("SELECT site, worker_id FROM site"))


def holds(crawl):
    """Return the sites that the worker holds by the store, which must be those that it has opened."""
    own = {site for site, owner in owners(crawl).items() if owner == crawl.crawl.session.row.worker_id}
    assert own == {row.site for row in crawl.crawl.sites.rows.values()}
    return own


def leases(crawl):
    return {lease.url: lease for lease in crawl.leases()}


def end(crawl, lease, *across):
    crawl.end(lease, cross_site_links=[(target(url), 1) for url in across])


def test_sources_are_claimed_and_given_up_as_a_whole_when_nothing_of_them_is_in_flight(opened):
    one = opened()
    assert holds(one) == set(LEADERS)
    two = opened()
    found = leases(one)
    rounds(two, one, two)
    assert holds(two) == set()
    for site in (A, C):
        end(one, found[f"{site}/"])
    rounds(two, one, two)
    assert holds(two) == set(), "of each source, one page is in flight"
    end(one, found[f"{B}/"], f"{A}/x")
    end(one, found[f"{D}/"], f"{C}/x")
    for _ in range(2):
        rounds(one, two, number=2)
        assert {frozenset(holds(one)), frozenset(holds(two))} == {frozenset([A, B]), frozenset([C, D])}


def test_new_site_of_a_source_gets_its_worker(opened):
    one, two = opened(), opened()
    rounds(two, one, two)
    first, second = (one, two) if A in holds(one) else (two, one)
    end(second, leases(second)[f"{C}/"], f"{NEW}/x")
    assert owners(second) | {NEW: None} == owners(second)
    rounds(first, second)
    assert holds(first) == {A, B, NEW}
    assert f"{NEW}/x" in leases(first)
    assert first.rows("SELECT count(*) FROM message") == [(0,)]


def test_new_site_of_a_source_that_nobody_holds_is_claimed_with_it(opened):
    one, two = opened(), opened()
    rounds(two, one, two)
    first, second = (one, two) if A in holds(one) else (two, one)
    first.close(reason="shutdown")
    end(second, leases(second)[f"{C}/"], f"{NEW}/x")
    rounds(second)
    assert holds(second) == {*LEADERS, NEW}


def test_feed_hosts_of_sources_are_sites_from_the_beginning(begin):
    mission = {"sites": [SiteLimits(A)], "roots": ["http://feeds.test/a"], "scope": Scope("feeds.test", [A])}
    crawl = begin(None, mission)
    found = crawl.rows("SELECT site, is_found FROM site JOIN seed USING (site) ORDER BY site.id")
    assert found == [(A, 0), ("http://feeds.test", 1)]
    assert set(leases(crawl)) == {f"{A}/", "http://feeds.test/a"}
