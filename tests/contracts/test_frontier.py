"""The frontier's contract, for every engine: what `crawlers.frontier.base` promises, one test a promise."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.algorithms.page_orders import MAX_HOPS
from crawlers.algorithms.urls import resolve
from crawlers.errors import FrontierError
from crawlers.frontier.base import Candidate, Lease, SiteState
from crawlers.items import Page, State
from tests.contracts.engines import Engine, MemoryEngine, SqlEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlers.frontier.core import QueuedFrontier

NOW = 1000.0
SPELLINGS = ["/a/", "/a", "/a/?x", "//a/", "/a/?y"]  # of one page, best first but for the last three


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    engine: Engine
    if request.param == "memory":
        engine = MemoryEngine()
    elif request.param == "sqlite":
        engine = SqlEngine(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    else:
        engine = SqlEngine(request.getfixturevalue("postgresql_url"))
    yield engine
    engine.close()


class Site:
    """One open site of a frontier, with short names for what the tests do all the time."""

    def __init__(
        self, engine: Engine, frontier: QueuedFrontier | None = None, *, id: int | None = None, **limits: Any
    ) -> None:
        self.engine = engine
        self.id = engine.new_site() if id is None else id
        self.root = f"http://host{self.id}.test"
        self.frontier = engine.frontier() if frontier is None else frontier
        limits = {"parallel": 1, "delay_s": 0.0, "max_level": None} | limits
        self.frontier.open_site(SiteState(self.id, **limits), NOW)

    def target(self, path: str) -> Any:
        return resolve(self.root + "/", self.root + path)

    def add(self, *paths: str, level: int = 0, hops: int = 0) -> int:
        return self.frontier.add((Candidate(self.id, self.target(p), level, hops) for p in paths), NOW)

    def lease(self, now: float = NOW, n: int = 100) -> list[Lease]:
        return [lease for lease in self.frontier.lease(now, n) if lease.site_id == self.id]

    def one(self, now: float = NOW) -> Lease:
        leases = self.frontier.lease(now, 1)
        assert len(leases) == 1
        return leases[0]

    def end(self, lease: Lease, state: State = State.DONE, *links: str, moved_to: str = "", now: float = NOW) -> Page:
        page = Page(lease.id, lease.url, lease.level, state, links=[(self.target(link), 1) for link in links])
        page.moved_to = self.target(moved_to) if moved_to else None
        self.frontier.acknowledge(lease, page, now)
        return page

    def paths(self, leases: list[Lease]) -> list[str]:
        return [lease.url.removeprefix(self.root) for lease in leases]

    def drain(self) -> list[str]:
        """Answer everything that waits with an empty page; the paths as they went out."""
        paths = []
        while leases := self.lease():
            for lease in leases:
                paths += self.paths([lease])
                self.end(lease)
        return paths

    def rows(self) -> dict[str, dict[str, Any]]:
        return {row["url"].removeprefix(self.root): row for row in self.engine.rows(self.id)}


@pytest.fixture
def site(engine: Engine) -> Site:
    return Site(engine, parallel=100)


# Each URL once, near ones first


def test_each_url_is_leased_once(site: Site) -> None:
    assert site.add("/a/", "/b/", "/a/", "/a", "/c/") == 3
    assert site.add("/b/") == 0
    assert site.drain() == ["/a/", "/b/", "/c/"]
    assert site.add("/a/", "/b", "/c/?x") == 0
    assert site.lease() == []


def test_acknowledge_says_how_many_links_are_new(site: Site) -> None:
    site.add("/")
    lease = site.one()
    page = Page(lease.id, lease.url, 0, State.DONE, links=[(site.target(p), 2) for p in ("/", "/a/", "/b/")])
    assert site.frontier.acknowledge(lease, page, NOW) == 2
    rows = site.rows()
    assert site.engine.links() == {
        (lease.id, rows["/"]["id"]): 2,
        (lease.id, rows["/a/"]["id"]): 2,
        (lease.id, rows["/b/"]["id"]): 2,
    }
    assert (rows["/a/"]["level"], rows["/a/"]["found_on"]) == (1, lease.id)


def test_farther_level_waits_for_the_last_answer_of_a_nearer_one(site: Site) -> None:
    site.add("/near1/", "/near2/", level=1)
    site.add("/far/", level=2)
    first, second = site.lease()
    site.end(first)
    assert site.lease() == []
    site.end(second)
    assert site.paths(site.lease()) == ["/far/"]


def test_farther_level_waits_for_a_nearer_url_that_rests(site: Site) -> None:
    site.add("/near/", level=1)
    site.add("/far/", level=2)
    site.frontier.release(site.one(), NOW + 10)
    assert site.lease(NOW + 9.9) == []
    assert site.paths(site.lease(NOW + 10)) == ["/near/"]


def test_url_of_one_redirect_comes_before_the_next_level_and_after_its_own(site: Site) -> None:
    site.add("/level2/", level=2)
    site.add("/redirected/", level=1, hops=1)
    site.add("/level1/", level=1)
    assert site.drain() == ["/level1/", "/redirected/", "/level2/"]


def test_within_a_level_urls_go_out_as_discovered(site: Site) -> None:
    site.add(*(f"/{name}/" for name in "zmaqk"))
    assert site.drain() == ["/z/", "/m/", "/a/", "/q/", "/k/"]


def test_known_url_gains_a_shorter_level(site: Site) -> None:
    site.add("/a/", level=5)
    site.add("/b/", level=4)
    site.add("/a/", level=3)
    assert [(lease.url, lease.level) for lease in (site.one(),)] == [(site.root + "/a/", 3)]
    assert site.rows()["/a/"]["level"] == 3


def test_known_url_keeps_its_level_when_found_farther_away(site: Site) -> None:
    site.add("/a", level=1)
    site.add("/a/", level=2)
    lease = site.one()
    assert (site.paths([lease]), lease.level) == (["/a"], 1)


def test_spelling_does_not_depend_on_the_order_of_discovery(engine: Engine) -> None:
    frontier = engine.frontier()
    for size in (2, 3, 5):
        chosen = set()
        for number, found in enumerate(itertools.permutations(SPELLINGS[-size:])):
            site = Site(engine, frontier)
            for path in found if number % 2 else reversed(found):
                site.add(path)
            chosen.update(site.paths(frontier.lease(NOW, 1)))
        assert chosen == {{2: "//a/", 3: "//a/", 5: "/a/"}[size]}


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(finds=st.permutations([(path, level) for path in SPELLINGS for level in (1, 2)]), split=st.integers(0, 10))
def test_nearest_level_and_best_spelling_win_in_any_order_and_across_a_restart(
    engine: Engine, finds: list[tuple[str, int]], split: int
) -> None:
    limits = {"cache_urls": 1, "head_urls": 1}
    site = Site(engine, engine.frontier(**limits))
    for path, level in finds[:split]:
        site.add(path, level=level)
    if not isinstance(engine, MemoryEngine):
        site = Site(engine, engine.frontier(**limits), id=site.id)
    for path, level in finds[split:]:
        site.add(path, level=level)
    lease = site.one()
    assert (site.paths([lease]), lease.level) == (["/a/"], 1)
    site.end(lease)
    assert site.lease() == []


def test_better_spelling_replaces_the_worse_one_also_after_a_release(site: Site) -> None:
    site.add("//a/")
    site.add("/a/")
    site.frontier.release(site.one(), NOW, "no answer", failed=True)
    lease = site.one()
    assert (site.paths([lease]), lease.attempts) == (["/a/"], 1)
    site.end(lease)
    assert site.lease() == []


def test_request_that_comes_with_a_nearer_find_is_the_one_that_is_made(engine: Engine) -> None:
    site = Site(engine)
    for level in (3, 2):
        site.frontier.add([Candidate(site.id, site.target("/a/"), level, request=f'{{"n": {level}}}')], NOW)
    assert site.one().request == '{"n": 2}'
    assert site.rows()["/a/"]["request"] == '{"n": 2}'


# What is not fetched at all


def test_too_deep_url_is_rejected_and_revived_by_a_shorter_way(engine: Engine) -> None:
    site = Site(engine, max_level=2)
    site.add("/deep", level=3)
    assert site.lease() == []
    row = site.rows()["/deep"]
    assert (row["state"], row["reason"]) == (State.REJECTED, "too deep: level 3, the limit is 2")
    site.add("/deep", level=2)
    assert site.paths(site.lease()) == ["/deep"]
    assert site.frontier.counts()[site.id] == {State.WAITING: 1}
    assert site.rows()["/deep"]["state"] == State.WAITING


def test_url_that_is_not_admitted_is_rejected_for_good(engine: Engine) -> None:
    frontier = engine.frontier(admit=lambda target: "extension pdf" if target.url.endswith("pdf") else None)
    site = Site(engine, frontier)
    assert site.add("/x.pdf", "/y/", level=2) == 2
    assert site.add("/x.pdf", level=1) == 0
    assert site.drain() == ["/y/"]
    assert site.rows()["/x.pdf"]["reason"] == "extension pdf"


def test_url_that_is_not_admitted_goes_by_its_normal_form_however_it_was_found(engine: Engine) -> None:
    frontier = engine.frontier(admit=lambda target: "no")
    for path in SPELLINGS:
        site = Site(engine, frontier)
        site.add(path)
        assert list(site.rows()) == ["/a/"]


@pytest.mark.parametrize("cache_urls", [1, 1000])
def test_too_deep_url_has_the_best_spelling_that_was_found(engine: Engine, cache_urls: int) -> None:
    frontier = engine.frontier(cache_urls=cache_urls)
    for found in itertools.permutations(["//a/", "/a/?x", "/a"]):
        site = Site(engine, frontier, max_level=0)
        for path in found[:2]:
            site.add(path, level=1)
        assert list(site.rows()) == [min(found[:2], key=["/a", "//a/", "/a/?x"].index)]
        site.add(found[2], level=1)
        assert list(site.rows()) == ["/a"]
        assert site.lease() == []


# Redirects


def test_redirect_keeps_the_level_and_adds_a_hop(site: Site) -> None:
    site.add("/old/", level=3)
    old = site.one()
    site.end(old, State.MOVED, moved_to="/new/")
    lease = site.one()
    assert (site.paths([lease]), lease.level, lease.hops) == (["/new/"], 3, 1)
    row = site.rows()["/old/"]
    assert (row["state"], row["moved_to"]) == (State.MOVED, lease.id)


def test_redirect_to_a_known_page_points_to_it(site: Site) -> None:
    site.add("/old/", "/new/")
    old, new = site.lease()
    site.end(new)
    site.end(old, State.MOVED, moved_to="/new")
    assert site.rows()["/old/"]["moved_to"] == new.id
    assert site.lease() == []


def test_redirect_to_another_spelling_is_the_same_page_asked_again(site: Site) -> None:
    site.add("/a")
    first = site.one()
    site.end(first, State.MOVED, moved_to="/a/?x")
    again = site.one()
    assert (again.id, site.paths([again]), again.level, again.hops) == (first.id, ["/a/?x"], 0, 1)
    site.end(again)
    assert list(site.rows()) == ["/a/?x"]
    assert site.frontier.counts()[site.id] == {State.DONE: 1}


def test_spelling_that_the_server_wants_stands_whoever_names_another(site: Site) -> None:
    site.add("/a")
    site.end(site.one(), State.MOVED, moved_to="/a/?x")
    site.add("/a/", level=0, hops=1)
    assert site.drain() == ["/a/?x"]


def test_redirect_to_the_same_url_fails(site: Site) -> None:
    site.add("/a/")
    page = site.end(site.one(), State.MOVED, moved_to="/a/")
    row = site.rows()["/a/"]
    assert (page.state, row["state"], row["reason"]) == (State.FAILED, State.FAILED, "redirects to itself")


@pytest.mark.parametrize("step", ["/{}/", "/a/?x{}"], ids=["pages", "spellings"])
def test_redirects_without_end_are_given_up(site: Site, step: str) -> None:
    site.add("/a")
    asked = 0
    while leases := site.lease():
        asked += 1
        site.end(leases[0], State.MOVED, moved_to=step.format(asked))
    assert asked == MAX_HOPS + 1
    failed = [row for row in site.engine.rows(site.id) if row["state"] == State.FAILED]
    assert [row["reason"] for row in failed] == ["more than 20 redirects"]


def test_redirects_in_a_circle_end(site: Site) -> None:
    site.add("/a/")
    site.end(site.one(), State.MOVED, moved_to="/b/")
    site.end(site.one(), State.MOVED, moved_to="/a/")
    assert site.lease() == []
    rows = site.rows()
    assert (rows["/a/"]["moved_to"], rows["/b/"]["moved_to"]) == (rows["/b/"]["id"], rows["/a/"]["id"])


# Back to wait


def test_released_url_goes_out_again_before_its_successors(site: Site) -> None:
    site.add("/a/", "/b/")
    lease = site.one()
    site.frontier.release(lease, NOW)
    assert site.paths(site.lease()) == ["/a/", "/b/"]


def test_released_url_rests_as_long_as_it_is_told(site: Site) -> None:
    site.add("/a/", "/b/")
    site.frontier.release(site.one(), NOW + 5)
    assert site.drain() == ["/b/"]
    assert site.frontier.next_due(NOW) == 5
    assert site.lease(NOW + 4.9) == []
    assert site.paths(site.lease(NOW + 5)) == ["/a/"]


def test_only_failures_count_as_attempts(site: Site) -> None:
    site.add("/a/")
    site.frontier.release(site.one(), NOW)
    assert site.one().attempts == 0
    lease = next(iter(site.frontier._leases.values()))
    site.frontier.release(lease, NOW, "no answer", failed=True)
    assert site.one().attempts == 1
    row = site.rows()["/a/"]
    assert (row["state"], row["attempts"], row["reason"]) == (State.WAITING, 1, "no answer")


def test_lease_ends_once(site: Site) -> None:
    site.add("/a/")
    lease = site.one()
    site.end(lease)
    with pytest.raises(FrontierError, match="ended already"):
        site.end(lease)
    with pytest.raises(FrontierError, match="ended already"):
        site.frontier.release(lease, NOW)
    assert site.frontier.counts()[site.id] == {State.DONE: 1}


def test_lease_of_an_earlier_turn_does_not_end_the_present_one(site: Site) -> None:
    site.add("/a/")
    early = site.one()
    site.frontier.release(early, NOW)
    present = site.one()
    with pytest.raises(FrontierError):
        site.end(early)
    assert site.frontier.leased(present.id) is present


def test_unknown_site_is_a_mistake_of_ours_that_adds_nothing(site: Site) -> None:
    good = Candidate(site.id, site.target("/a/"))
    with pytest.raises(FrontierError, match="site 99 was not opened"):
        site.frontier.add([good, good._replace(site_id=99)], NOW)
    assert site.lease() == []
    assert site.add("/a/") == 1


# Politeness


def test_no_more_leases_at_a_time_than_the_host_allows(engine: Engine) -> None:
    site = Site(engine, parallel=2)
    site.add("/a/", "/b/", "/c/")
    first, _ = site.lease()
    assert site.lease() == []
    site.end(first)
    assert site.paths(site.lease()) == ["/c/"]


def test_starts_keep_their_distance(engine: Engine) -> None:
    site = Site(engine, parallel=9, delay_s=2.0)
    site.add("/a/", "/b/", "/c/")
    assert len(site.lease(NOW)) == 1
    assert site.frontier.next_due(NOW + 0.5) == 1.5
    assert site.lease(NOW + 1.9) == []
    assert len(site.lease(NOW + 2.0)) == 1
    assert len(site.lease(NOW + 4.5)) == 1


def test_host_that_asks_for_rest_holds_back_nobody_else(engine: Engine) -> None:
    frontier = engine.frontier()
    tired, fresh = Site(engine, frontier), Site(engine, frontier)
    tired.add("/a/", "/b/")
    fresh.add("/a/", "/b/")
    first, second = frontier.lease(NOW, 2)
    rest_until = frontier.gate(tired.id).refused(NOW, 60.0)
    frontier.release(first, rest_until, "status 429", failed=True)
    fresh.end(second)
    assert [lease.site_id for lease in frontier.lease(NOW + 1, 9)] == [fresh.id]
    fresh.end(next(iter(frontier._leases.values())))
    assert frontier.lease(NOW + 59.9, 9) == []
    assert frontier.next_due(NOW) == 60.0
    assert tired.paths(frontier.lease(NOW + 60, 9)) == ["/a/"]


def test_rejected_lease_costs_the_host_no_delay(engine: Engine) -> None:
    site = Site(engine, delay_s=10.0)
    site.add("/a/", "/b/", "/c/")
    for path in ("/a/", "/b/"):
        lease = site.one()
        assert site.paths([lease]) == [path]
        site.end(lease, State.REJECTED)
    site.end(site.one())
    assert site.frontier.next_due(NOW) is None
    assert not site.frontier.has_pending


def test_rejection_does_not_cut_short_the_delay_after_another_start(engine: Engine) -> None:
    site = Site(engine, parallel=3, delay_s=10.0)
    site.add("/a/", "/b/", "/c/")
    early = site.one(NOW)
    site.one(NOW + 10)
    site.end(early, State.REJECTED, now=NOW + 11)
    assert site.lease(NOW + 19) == []
    assert len(site.lease(NOW + 20)) == 1


def test_rejection_does_not_cut_short_the_rest_that_a_host_asked_for(engine: Engine) -> None:
    site = Site(engine, parallel=2, delay_s=10.0)
    site.add("/a/", "/b/")
    lease = site.one(NOW)
    site.frontier.gate(site.id).refused(NOW, 60.0)
    site.end(lease, State.REJECTED)
    assert site.frontier.next_due(NOW) == 60.0


# When something is due


def test_nothing_is_due_when_nothing_waits(site: Site) -> None:
    assert site.frontier.next_due(NOW) is None
    assert not site.frontier.has_pending
    site.add("/a/")
    assert site.frontier.next_due(NOW) == 0.0
    lease = site.one()
    assert site.frontier.next_due(NOW) is None
    assert site.frontier.is_waiting
    site.end(lease)
    assert not site.frontier.is_waiting


def test_next_due_is_exact_when_a_retry_rests_shorter_than_its_host(engine: Engine) -> None:
    site = Site(engine, delay_s=10.0)
    site.add("/a/")
    site.frontier.release(site.one(), NOW + 1, "no answer", failed=True)
    assert site.frontier.next_due(NOW) == 10.0
    assert len(site.lease(NOW + 10)) == 1


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    delays=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=4),
    steps=st.lists(st.sampled_from(["end", "reject", "refuse", "fail"]), max_size=30),
)
def test_something_is_leased_when_it_is_due_and_nothing_before(
    engine: Engine, delays: list[float], steps: list[str]
) -> None:
    frontier = engine.frontier()
    sites = {}
    for delay_s in delays:
        site = Site(engine, frontier, delay_s=delay_s)
        sites[site.id] = site
        site.add("/a/", "/b/", "/c/", "/d/")
    now = NOW
    for step in steps:
        due = frontier.next_due(now)
        if due is None:
            break
        if due:
            assert frontier.lease(now + 0.99 * due, 1) == []
        now += due
        (lease,) = frontier.lease(now, 1)
        site = sites[lease.site_id]
        if step == "end":
            site.end(lease, now=now)
        elif step == "reject":
            site.end(lease, State.REJECTED, now=now)
        elif step == "refuse":
            frontier.release(lease, frontier.gate(site.id).refused(now, 7.0), failed=True)
        else:
            frontier.release(lease, now + 1, failed=True)


def test_paused_site_hands_out_nothing_until_it_goes_on(engine: Engine) -> None:
    frontier = engine.frontier()
    paused, other = Site(engine, frontier), Site(engine, frontier)
    paused.add("/a/")
    frontier.pause(paused.id)
    frontier.pause(paused.id)
    other.add("/a/")
    paused.add("/b/")
    assert [lease.site_id for lease in frontier.lease(NOW, 9)] == [other.id]
    assert frontier.next_due(NOW) is None
    assert frontier.has_pending, "a paused site goes on sooner or later"
    frontier.resume(paused.id, NOW)
    assert paused.paths(frontier.lease(NOW, 9)) == ["/a/"]


# What is known of a crawl


def test_counts_are_per_site_and_state_with_leased_ones_as_waiting(engine: Engine) -> None:
    frontier = engine.frontier()
    one, two = Site(engine, frontier, parallel=9, max_level=1), Site(engine, frontier)
    one.add("/a/", "/b/", "/c/", "/d/", "/e/")
    one.add("/deep/", level=2)
    two.add("/a/")
    for state, lease in zip((State.DONE, State.REFUSED, State.FAILED, State.REJECTED), one.lease(), strict=False):
        one.end(lease, state)
    states = (State.DONE, State.REFUSED, State.FAILED, State.WAITING)
    assert frontier.counts() == {one.id: dict.fromkeys(states, 1) | {State.REJECTED: 2}, two.id: {State.WAITING: 1}}
    assert frontier.is_waiting


def test_lease_hands_out_one_url_of_each_of_twenty_thousand_hosts() -> None:
    engine = MemoryEngine()
    frontier = engine.frontier()
    for site_id in range(1, 20_001):
        frontier.open_site(SiteState(site_id, 1, 1.0), NOW)
        root = f"http://host{site_id}.test/"
        frontier.add([Candidate(site_id, resolve(root, path)) for path in ("/", "/a/")], NOW)
    assert sorted(lease.site_id for lease in frontier.lease(NOW, 30_000)) == list(range(1, 20_001))
    assert frontier.lease(NOW + 1, 1) == []


# Engines with a store


@pytest.fixture
def durable(database_url: str) -> Iterator[SqlEngine]:
    engine = SqlEngine(database_url)
    yield engine
    engine.close()


@pytest.mark.parametrize("cache_urls", [1, 1000])
def test_crawl_goes_on_where_it_was_killed(durable: SqlEngine, cache_urls: int) -> None:
    site = Site(durable, parallel=9, max_level=1)
    site.add("/")
    site.end(site.one(), State.DONE, "/a", "/b/", "/c/", "/a/?x")
    leased_a, leased_b, _ = site.lease()
    site.end(leased_a, State.DONE, "/deep/", "/b/")
    site.frontier.release(leased_b, NOW + 100, "no answer", failed=True)

    site = Site(durable, durable.frontier(cache_urls=cache_urls), id=site.id, parallel=9, max_level=1)
    assert site.frontier.counts()[site.id] == {State.WAITING: 2, State.DONE: 2, State.REJECTED: 1}
    assert site.add("/") == 0
    assert site.add("/a/", "/b", "/c/?x", level=1) == 0
    assert [(path, lease.attempts) for lease in site.lease() for path in site.paths([lease])] == [
        ("/b/", 1),
        ("/c/", 0),
    ]


def test_two_sites_of_one_store_know_nothing_of_each_other(durable: SqlEngine) -> None:
    frontier = durable.frontier(cache_urls=1)
    one = Site(durable, frontier)
    same = resolve("http://shared.test/", "/a")
    two = Site(durable, frontier)
    assert frontier.add([Candidate(one.id, same), Candidate(two.id, same)], NOW) == 2
    assert {lease.site_id for lease in frontier.lease(NOW, 9)} == {one.id, two.id}


def test_queue_longer_than_its_head_is_leased_in_order(durable: SqlEngine) -> None:
    site = Site(durable, durable.frontier(cache_urls=10, head_urls=1), parallel=1000)
    paths = [f"/{number}/" for number in range(300)]
    for first in range(0, 300, 7):
        site.add(*paths[first : first + 7])
    assert site.drain() == paths
    assert len(site.rows()) == 300


def test_many_urls_added_at_once_are_no_two_pages_whatever_the_cache_holds(durable: SqlEngine) -> None:
    site = Site(durable, durable.frontier(cache_urls=10, head_urls=1))
    paths = [f"/{number}/" for number in range(200)]
    assert site.add(*paths, *paths) == 200
    assert site.drain() == paths
