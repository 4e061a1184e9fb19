"""The frontier's contract: what is known of a crawl, also after its process was killed."""

import pytest

from crawlers.bandits.index_rule import Best
from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.store.sites.site_opening import SiteRow
from crawlers.urls.resolution import resolve
from tests.contracts.site import NOW, Site
from tests.support.frontier_state import counts_of
from tests.support.orders import order as order_of

# What is known of a crawl


def test_counts_are_per_site_and_state_with_leased_ones_as_waiting(engine):
    frontier = engine.frontier()
    one, two = Site(engine, frontier, parallel=9, max_level=1), Site(engine, frontier)
    one.add("/a/", "/b/", "/c/", "/d/", "/e/")
    one.add("/deep/", level=2)
    two.add("/a/")
    for state, lease in zip((State.DONE, State.REFUSED, State.FAILED, State.REJECTED), one.lease(), strict=False):
        one.end(lease, state)
    states = (State.DONE, State.REFUSED, State.FAILED, State.WAITING)
    assert counts_of(frontier) == {one.id: dict.fromkeys(states, 1) | {State.REJECTED: 2}, two.id: {State.WAITING: 1}}
    assert frontier.schedule.is_waiting


def test_lease_hands_out_one_url_of_each_of_thousands_of_hosts(engine):
    frontier = engine.frontier()
    for site_id in range(1, 5_001):
        frontier.open_site(SiteRow(site_id, f"http://host{site_id}.test", 1, None, 1.0, is_new=True), NOW)
        root = f"http://host{site_id}.test/"
        frontier.add([Candidate(site_id, resolve(root, path)) for path in ("/", "/a/")], NOW)
    assert sorted(lease.site_id for lease in frontier.lease(NOW, 9_000)) == list(range(1, 5_001))
    assert frontier.lease(NOW + 1, 1) == []


# Engines with a store


@pytest.mark.both_stores
@pytest.mark.parametrize("cache_urls", [1, 1000])
def test_crawl_resumes_where_it_was_killed(engine, cache_urls):
    site = Site(engine, parallel=9, max_level=1)
    site.add("/")
    site.end(site.one(), State.DONE, "/a", "/b/", "/c/", "/a/?x=")
    leased_a, leased_b, _ = site.lease()
    site.end(leased_a, State.DONE, "/deep/", "/b/")
    site.frontier.release(leased_b, NOW + 100, "no answer", failed=True)

    site = Site(engine, engine.frontier(cache_urls=cache_urls), id=site.id, parallel=9, max_level=1)
    assert counts_of(site.frontier)[site.id] == {State.WAITING: 2, State.DONE: 2, State.REJECTED: 1}
    assert site.add("/") == 0
    assert site.add("/a/", "/b", "/c/?x=", level=1) == 0
    assert [(path, lease.attempts) for lease in site.lease() for path in site.paths([lease])] == [("/c/", 0)]
    assert site.lease(NOW + 99) == []
    assert site.frontier.next_due(NOW + 99) == 1.0
    assert [(path, lease.attempts) for lease in site.lease(NOW + 100) for path in site.paths([lease])] == [("/b/", 1)]


def test_known_urls_are_forgotten_once_they_are_committed_without_a_wait(engine, monkeypatch):
    site = Site(engine, engine.frontier(cache_urls=100), parallel=9)
    known = site.frontier.site(site.id).seen
    paths = [f"/{number}/" for number in range(300)]
    with monkeypatch.context() as committing:
        committing.setattr(site.frontier.store, "has_committed", lambda number: False)
        assert site.add(*paths[:200]) == 200
        assert site.add(*paths[:200], *paths[200:]) == 100
        assert len(known) == 300
    assert site.add("/last/") == 1
    assert len(known) < 300
    assert site.add(*paths) == 0


def test_crawl_whose_next_urls_are_still_being_committed_is_not_idle(engine, monkeypatch):
    site = Site(engine, engine.frontier(head_urls=1), parallel=1000)
    paths = [f"/{number}/" for number in range(100)]
    site.add(*paths)
    with monkeypatch.context() as committing:
        committing.setattr(site.frontier.store, "has_committed", lambda number: False)
        leased = site.lease()
        assert len(leased) < len(paths)
        for lease in leased:
            site.end(lease)
        site.frontier.schedule.pause(site.id)
        site.frontier.schedule.resume(site.id, NOW)
        assert site.frontier.has_pending
        assert site.frontier.next_due(NOW) > 0.0
    assert site.paths(leased) + site.drain() == paths


def test_sites_of_one_store_are_independent(engine):
    frontier = engine.frontier(cache_urls=1)
    one = Site(engine, frontier)
    same = resolve("http://shared.test/", "/a")
    two = Site(engine, frontier)
    assert frontier.add([Candidate(one.id, same), Candidate(two.id, same)], NOW) == 2
    assert {lease.site_id for lease in frontier.lease(NOW, 9)} == {one.id, two.id}


@pytest.mark.parametrize("at_once", [7, 300])
def test_queue_longer_than_its_part_in_memory_is_leased_in_order_without_duplicates(engine, at_once):
    site = Site(engine, engine.frontier(cache_urls=10, head_urls=1), parallel=1000)
    paths = [f"/{number}/" for number in range(300)]
    for first in range(0, 300, at_once):
        some = paths[first : first + at_once]
        assert site.add(*some, *some) == len(some)
    assert site.drain() == paths
    assert len(site.rows()) == 300


def test_url_that_rested_while_the_queue_grew_before_it_is_not_lost(engine):
    site = Site(engine, engine.frontier(head_urls=1), parallel=1000)
    site.add("/far/", level=2)
    site.frontier.release(site.one(), NOW + 5)
    site.add(*(f"/{number}/" for number in range(100)), level=1)
    site.end(site.one(NOW + 5))
    assert site.drain()[-1] == "/far/"


@pytest.mark.parametrize("cache_urls", [1, 1000])
def test_unseen_urls_are_the_new_ones_whatever_the_cache_holds(engine, cache_urls):
    site = Site(engine, max_level=1)
    site.add("/a/", "/b/")
    site = Site(engine, engine.frontier(cache_urls=cache_urls), id=site.id, max_level=1)
    targets = [site.target(path) for path in ("/a", "/c/", "/b/", "/c/")]
    assert [target.url for target in site.frontier.discovery.new_targets(targets, 1)] == [targets[1].url]
    assert site.frontier.discovery.new_targets(targets, 2) == []


@pytest.mark.parametrize("order", ["bfs", "opic"])
def test_retry_keeps_its_time_over_a_kill(engine, order):
    site = Site(engine, engine.frontier(order_of(order), Best()))
    site.add("/", "/a/")
    lease = site.one()
    site.frontier.release(lease, NOW + 60.0, "timeout", failed=True)
    again = Site(engine, engine.frontier(order_of(order), Best()), id=site.id, parallel=9)
    assert [one.id for one in again.lease(NOW)] != [lease.id]
    assert again.lease(NOW + 59.0) == []
    assert again.frontier.next_due(NOW + 59.0) == 1.0
    (retry,) = again.lease(NOW + 60.0)
    assert (retry.id, retry.attempts) == (lease.id, 1)
