"""The page order `learnt` follows the links that promise most, and after any kill the same ones as without it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_features import feature_id, features_of
from crawlers.algorithms.ranking.link_values import CLOSE, LinkValues
from crawlers.algorithms.ranking.page_orders import LearntLinks
from crawlers.algorithms.urls.resolution import resolve
from crawlers.frontier.protocols import Candidate, Decision, Earned, Lease, SiteState
from crawlers.frontier.queues import learnt_queue
from crawlers.frontier.queues.learnt_queue import LearntQueue
from crawlers.items import LinkPlace, Page, State
from crawlers.storage.pulls import Pull, pulls_of
from tests.contracts.engines import HeldMemoryEngine, HeldSqlEngine, MemoryEngine, SqlEngine
from tests.contracts.examples import budget
from tests.contracts.site import NOW, Site

if TYPE_CHECKING:
    from crawlers.frontier.frontier import QueuedFrontier
    from tests.contracts.engines import Engine

MAX_STEPS = 1_000  # more than any of these crawls needs


def order() -> LearntLinks:
    return LearntLinks(LinkValues())


def place(path: str) -> LinkPlace:
    """A place of the links to a folder."""
    return LinkPlace(f"ul/li.{path.split('/')[1]}", "div/ul/li", f"to {path}")


class LearntSite(Site):
    """A site whose links to one folder stand at one place."""

    def __init__(self, engine: Engine, frontier: QueuedFrontier | None = None, **limits: Any) -> None:
        super().__init__(engine, frontier or engine.frontier(order(), records_pulls=True), **limits)

    def read(self, lease: Lease, *links: str, reward: float = 0.0) -> None:
        found = {link: self.target(link) for link in links}
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            State.DONE,
            links=[(target, 1) for target in found.values()],
            link_places={target.key: place(link) for link, target in found.items()},
        )
        self.frontier.acknowledge(lease, Decision(page), NOW, Earned(reward))

    def begin(self, *links: str) -> None:
        self.add("/")
        self.read(self.one(), *links)

    def crawl(self, rewards: dict[str, float]) -> list[str]:
        """Read all waiting pages one by one; return their paths in this order. *rewards* are by folder."""
        paths = []
        while leases := self.lease(n=1):
            paths += self.paths(leases)
            self.read(leases[0], reward=rewards[paths[-1].split("/")[1]])
        return paths

    @property
    def queue(self) -> LearntQueue:
        queue = self.frontier._schedule.site(self.id).queues[0]
        assert isinstance(queue, LearntQueue)
        return queue


def test_links_like_those_that_paid_are_followed_first(engine):
    site = LearntSite(engine)
    site.begin(*(f"/{folder}/{n}" for n in range(6) for folder in "abc"))
    paths = site.crawl({"a": 0.0, "b": 9.0, "c": 1.0})
    assert paths[0] == "/a/0", "of equals, the oldest"
    assert [n for n, path in enumerate(paths) if path[1] == "b"][-1] <= 8, "all of the rich folder, soon"
    assert all(path[1] == "a" for path in paths[-3:])


@pytest.mark.parametrize(("more", "first"), [(0.9 * CLOSE, "/first/1"), (1.1 * CLOSE, "/second/1")])
def test_of_links_that_promise_nearly_as_much_the_oldest_is_next(engine, more, first):
    learnt = LearntLinks(LinkValues({feature_id("anchor", "", "second"): more}))
    site = LearntSite(engine, engine.frontier(learnt, records_pulls=True))
    site.begin("/first/1", "/second/1")
    assert site.paths([site.one()]) == [first]


def test_what_is_learnt_on_one_site_counts_on_others(engine):
    one = LearntSite(engine)
    one.begin(*(f"/{folder}/{n}" for n in range(9) for folder in ("poor", "rich")))
    one.crawl({"poor": 0.0, "rich": 20.0})
    other = LearntSite(engine, one.frontier)
    other.begin("/poor/1", "/rich/1")
    assert other.paths([other.one()]) == ["/rich/1"]


def test_home_pages_come_first_and_nothing_is_learnt_from_them(engine):
    site = LearntSite(engine)
    site.add("/")
    site.add("/start", level=0)
    assert site.paths([site.one()]) == ["/"]
    assert site.frontier._order.link_values._tables is None


def test_redirect_target_has_the_features_of_the_redirect(durable):
    site = LearntSite(durable)
    site.begin("/a/1")
    site.end(site.one(), State.MOVED, moved_to="/elsewhere/1")
    rows = site.rows()
    features = stored(durable)
    assert features[rows["/elsewhere/1"]["id"]] == features[rows["/a/1"]["id"]]
    assert rows["/"]["id"] not in features


def stored(engine: SqlEngine) -> dict[int, str]:
    engine._flush()
    with engine.database.read() as connection:
        return {one: text for one, text in connection.exec_driver_sql("SELECT page_id, features FROM link_features")}


def test_url_that_is_no_longer_too_deep_has_features_too(durable):
    site = LearntSite(durable, max_level=1)
    site.begin("/a/1", "/b/1")
    site.read(site.one(), "/c/1")
    assert site.rows()["/c/1"]["state"] == State.REJECTED
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    assert site.rows()["/c/1"]["id"] in stored(durable)
    assert sorted(site.crawl({"b": 0.0, "c": 0.0})) == ["/b/1", "/c/1"]


@pytest.mark.parametrize("most", [1, 3])
def test_urls_that_do_not_fit_into_memory_come_from_the_store(engine, monkeypatch, most):
    monkeypatch.setattr(learnt_queue, "LOADED", 2)
    site = LearntSite(engine)
    site.frontier._discovery.head_urls = most
    site.begin(*(f"/{folder}/{n}" for n in range(20) for folder in "ab"))
    assert len(site.queue) <= 2 * most
    assert len(site.crawl({"a": 0.0, "b": 3.0})) == 40
    assert all(row["state"] == State.DONE for row in site.rows().values())


def test_url_that_is_found_nearer_or_as_a_better_variant_keeps_its_features(durable):
    site = LearntSite(durable)
    site.begin("/a/1", "/b/1?y=")
    site.read(site.one(), "/c/1", "/b/1")
    before = stored(durable)
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    assert site.rows()["/c/1"]["level"] == 1
    assert stored(durable) == before
    assert sorted(site.crawl({"a": 0.0, "b": 0.0, "c": 0.0})) in (["/b/1", "/c/1"], ["/b/1?y=", "/c/1"])


# Random webs and kills


class Crawl:
    """A crawl of a random web of two sites, one request in flight; *seed* decides on the web, *kills* are accidents."""

    def __init__(self, engine: Any, seed: int, *, kills: int) -> None:
        self._accidents = random.Random(seed)
        self._head_urls = random.Random(seed).choice([32, 100_000])
        self._seed, self._kills, self._engine = seed, kills, engine
        self._ids = [engine.new_site(), engine.new_site()]
        self._open()

    def _open(self) -> None:
        self._frontier = self._engine.frontier(order(), records_pulls=True, cache_urls=10, head_urls=self._head_urls)
        self._frontier.learn(self._pulls())
        for number in self._ids:
            self._frontier.open_site(SiteState(number, f"http://host{number}.test", 1, 0.0), NOW)
        self._frontier.add([Candidate(number, self._target(number, "/p0")) for number in self._ids], NOW)

    def _pulls(self) -> list[Pull]:
        if isinstance(self._engine, HeldSqlEngine):
            pulls = pulls_of(self._engine.database, self._engine._crawl_id)  # also those of earlier examples
            return [one for one in pulls if one.site_id in self._ids]
        store = self._engine.held.store
        return [Pull(one.site_id, one.reward, store._features.get(one.page_id)) for one in store._pulls]

    def _target(self, site_id: int, path: str) -> Any:
        root = f"http://host{site_id}.test"
        return resolve(root + "/", root + path)

    def run(self) -> list[tuple[int, str]]:
        """Crawl to the end; return the pages that were read, in order, without those whose results were lost."""
        read: list[tuple[int, str]] = []
        held = self._engine.held
        for _ in range(MAX_STEPS):
            if self._kills and self._accidents.random() < 0.1:
                self._kills -= 1
                held.commit(self._accidents.randint(0, held.pending))
                self._open()
                read = read[: len(self._pulls())]
            elif self._accidents.random() < 0.2:
                held.flush()
            leases = self._frontier.lease(NOW, 1)
            if not leases:
                return read
            read.append(self._place_of(leases[0]))
            self._end(leases[0])
        raise AssertionError("the crawl does not end")

    def _place_of(self, lease: Lease) -> tuple[int, str]:
        return self._ids.index(lease.site_id), lease.url.partition(".test")[2]

    def _end(self, lease: Lease) -> None:
        site, path = self._place_of(lease)
        web = random.Random(f"{self._seed} {site} {path}")
        fate = web.random()
        if fate < 0.1 and not lease.attempts:
            self._frontier.release(lease, NOW, "no answer", failed=True)
            return
        others = list(dict.fromkeys(f"/p{web.randrange(60)}" for _ in range(web.choice([0, 3, 12]))))
        targets = {other: self._target(lease.site_id, other) for other in others}
        if fate < 0.2 and others and lease.hops < 10 and targets[others[0]].url != lease.url:
            page = Page(lease.id, lease.url, lease.level, State.MOVED, moved_to=targets[others[0]])
            self._frontier.acknowledge(lease, Decision(page), NOW)
            return
        places = {one.key: LinkPlace(f"ul/{int(to[2:]) % 3}", "", f"to {to}") for to, one in targets.items()}
        links = [(target, 1) for target in targets.values()]
        page = Page(lease.id, lease.url, lease.level, State.DONE, links=links, link_places=places)
        reward = float(len(path) % 3 * web.choice([0, 1, 300]))
        self._frontier.acknowledge(lease, Decision(page), NOW, Earned(reward))


@budget(60)
@given(st.integers(0, 1_000_000))
def test_any_crawl_in_memory_chooses_after_kills_as_without(seed: int) -> None:
    assert Crawl(HeldMemoryEngine(), seed, kills=4).run() == Crawl(HeldMemoryEngine(), seed, kills=0).run()


@budget(6)
@given(st.integers(0, 1_000_000))
def test_any_crawl_in_a_database_chooses_after_kills_as_without(sql_engine: HeldSqlEngine, seed: int) -> None:
    assert Crawl(sql_engine, seed, kills=4).run() == Crawl(HeldMemoryEngine(), seed, kills=0).run()


def test_random_crawls_are_long_enough() -> None:
    assert sum(len(Crawl(HeldMemoryEngine(), seed, kills=0).run()) > 40 for seed in range(20)) > 5


def test_stored_features_are_those_of_the_link(durable):
    site = LearntSite(durable)
    site.begin("/a/1")
    (text,) = stored(durable).values()
    assert features_of(text).tolist() == site.queue._features[0].tolist()


# Everything that may happen to a page


class Accidents:
    """A crawl of two sites, several requests in flight, in which everything happens that may happen to a page."""

    def __init__(self, seed: int, head_urls: int) -> None:
        self._rng = random.Random(seed)
        self._engine = MemoryEngine()
        self.values = LinkValues()
        limits = {"head_urls": head_urls, "cache_urls": self._rng.choice([10, 10_000])}
        self._frontier = self._engine.frontier(LearntLinks(self.values), records_pulls=True, **limits)
        self._ids = [self._engine.new_site(), self._engine.new_site()]
        self._now = NOW
        self._leases: list[Lease] = []
        for number in self._ids:
            self._open(number)
        self._frontier.add([Candidate(number, self._target(number, "/")) for number in self._ids], NOW)

    def _open(self, number: int) -> None:
        self._frontier.open_site(SiteState(number, f"http://host{number}.test", 2, 0.0, max_level=3), self._now)

    def _target(self, number: int, path: str) -> Any:
        return resolve(f"http://host{number}.test/", f"http://host{number}.test{path}")

    def run(self) -> None:
        rng = self._rng
        for _ in range(600):
            self._now += rng.choice([0, 1])
            if rng.random() < 0.5:
                self._leases += self._frontier.lease(self._now, 1)
            if self._leases and rng.random() < 0.6:
                self._end(self._leases.pop(rng.randrange(len(self._leases))))
            if rng.random() < 0.05:
                number = rng.choice(self._ids)
                if not any(lease.site_id == number for lease in self._leases):
                    self._frontier.close_site(number, self._now)
                    self._open(number)
            self._check()

    def _end(self, lease: Lease) -> None:
        rng, frontier, now = self._rng, self._frontier, self._now
        target = self._target(rng.choice(self._ids), f"/p{rng.randrange(200)}")
        variant = self._target(lease.site_id, lease.url.partition(".test")[2] + "?")
        fate = rng.choice(["released", "rests", "fails", "refused", "moves", "varies", *["read"] * 6])
        if fate == "fails" and lease.attempts < 3:
            frontier.release(lease, now, "no answer", failed=True)
        elif fate == "rests":
            frontier.release(lease, now + 3, "no answer", failed=True)
        elif fate == "refused":
            self._acknowledge(lease, State.REJECTED, reason="robots.txt")
        elif fate == "moves" and target.url != lease.url and lease.hops < 9:
            self._acknowledge(lease, State.MOVED, moved_to=target)
        elif fate == "varies" and variant.key == lease.key and variant.url != lease.url and lease.hops < 9:
            self._acknowledge(lease, State.MOVED, moved_to=variant)
        elif fate == "read":
            paths = (rng.choice(["/p%d", "/p%d/", "//p%d"]) % rng.randrange(400) for _ in range(rng.choice([0, 3, 20])))
            found = {one.key: one for one in (self._target(lease.site_id, path) for path in paths)}
            places = dict.fromkeys(found, LinkPlace("ul/li", "ul/li", "a page"))
            reward = float(rng.choice([0, 1, 30]))
            links = [(one, 1) for one in found.values()]
            self._acknowledge(lease, State.DONE, reward, links=links, link_places=places)
        else:
            frontier.release(lease, now)

    def _acknowledge(self, lease: Lease, state: State, reward: float = 0.0, **more: Any) -> None:
        page = Page(lease.id, lease.url, lease.level, state, **more)
        self._frontier.acknowledge(lease, Decision(page), self._now, Earned(reward))

    def _check(self) -> None:
        sites = self._frontier._schedule.sites.values()
        leased = {lease.id for lease in self._leases}
        resting = {number for site in sites for number in site.resting}
        assert set(self._frontier._learning._features) <= leased | resting
        assert all(one.level == 0 or one.id in self._frontier._learning._features for one in self._leases)
        for site in sites:
            for queue in site.queues.values():
                queued = [*queue._ids[: queue._size].tolist(), *queue._homes]
                assert len(queued) == len(set(queued))
                assert leased.isdisjoint(queued)

    def replayed(self) -> LinkValues:
        """Return what the stored pulls teach."""
        values, store = LinkValues(), self._engine._store
        for one in store._pulls:
            if one.page_id in store._features:
                values.learn(features_of(store._features[one.page_id]).tolist(), one.reward)
        return values


@budget(20)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 4, 100_000]))
def test_whatever_happens_features_are_kept_once_and_the_store_teaches_the_same(seed: int, head_urls: int) -> None:
    crawl = Accidents(seed, head_urls)
    crawl.run()
    assert np.array_equal(crawl.values._learnt()[0], crawl.replayed()._learnt()[0])
