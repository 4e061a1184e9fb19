"""The page order `groups` makes the choices of the bandit, whatever the caches, and after any kill."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.page_orders import LinkGroups
from crawlers.algorithms.urls.resolution import resolve
from crawlers.frontier.frontier import MAX_QUEUE
from crawlers.frontier.site_queue import MIN_QUEUE
from crawlers.frontier.url_cache import MAX_GROUP
from crawlers.frontier.values import Candidate, Decision, Lease, Reward, SiteState
from crawlers.items import Page, State
from tests.contracts.engines import HeldMemoryEngine, HeldSqlEngine
from tests.contracts.examples import budget
from tests.contracts.grouping import Model
from tests.contracts.site import NOW, Site

if TYPE_CHECKING:
    from tests.contracts.engines import Engine

MAX_STEPS = 2_000  # more than any of these crawls needs


class GroupedSite(Site):
    """A site whose groups of links are the first parts of their paths."""

    def __init__(self, engine: Engine, *, id: int | None = None, head_urls: int = 100_000, **limits: Any) -> None:
        frontier = engine.frontier(LinkGroups(), head_urls=head_urls)
        super().__init__(engine, frontier, id=id, **limits)

    def read(self, lease: Lease, *links: str, reward: float = 0.0) -> None:
        found = [self.target(link) for link in links]
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            State.DONE,
            links=[(target, 1) for target in found],
            link_groups={target.key: target.url.removeprefix(self.root).split("/")[1] for target in found},
        )
        self.frontier.acknowledge(lease, Decision(page), NOW, Reward(reward))

    def begin(self, *links: str) -> None:
        self.add("/")
        self.read(self.one(), *links)

    def crawl(self, rewards: dict[str, float]) -> list[str]:
        """Read all waiting pages one by one; return their paths in this order. *rewards* are by group."""
        paths = []
        while leases := self.lease(n=1):
            paths += self.paths(leases)
            self.read(leases[0], reward=rewards[paths[-1].split("/")[1]])
        return paths


def folders(paths: list[str]) -> str:
    return "".join(path.split("/")[1] for path in paths)


def test_group_with_the_highest_rewards_is_read_first(engine):
    site = GroupedSite(engine)
    site.begin(*(f"/{group}/{n}" for n in range(4) for group in "abc"))
    paths = site.crawl({"a": 0.0, "b": 9.0, "c": 1.0})
    assert paths[:2] == ["/a/0", "/b/0"]
    assert [n for n, path in enumerate(paths) if path[1] == "b"][-1] <= 5, "all of the rich group, soon"
    for group in "abc":
        assert [path for path in paths if path[1] == group] == [f"/{group}/{n}" for n in range(4)]


@pytest.mark.both_stores
def test_groups_are_kept_with_their_names_and_their_pages(durable):
    site = GroupedSite(durable)
    site.begin("/b/1", "/a/1", "/b/2")
    assert {path: row["link_group"] for path, row in site.rows().items()} == {"/": 0, "/b/1": 1, "/a/1": 2, "/b/2": 1}
    again = GroupedSite(durable, id=site.id)
    again.read(again.one(), "/c/1", "/a/2", "/b/3")
    groups = {path: row["link_group"] for path, row in again.rows().items()}
    assert (groups["/c/1"], groups["/a/2"], groups["/b/3"]) == (3, 2, 1)


def test_groups_of_different_sites_are_separate(engine):
    one = GroupedSite(engine)
    other = Site(engine, one.frontier)
    one.begin("/a/1", "/b/1")
    other.add("/")
    other.end(other.lease()[0], State.DONE, "/b/1")
    assert [one.rows()[path]["link_group"] for path in ("/a/1", "/b/1")] == [1, 2]
    assert other.rows()["/b/1"]["link_group"] == 0, "links are in group 0 if their page gives no groups"


def test_groups_beyond_the_greatest_number_share_one(durable):
    names = [f"g{n}" for n in range(MAX_GROUP + 20)]
    site = GroupedSite(durable)
    site.begin(*(f"/{name}/1" for name in names))
    again = GroupedSite(durable, id=site.id)
    again.read(again.one(), "/late/1", f"/{names[0]}/2", f"/{names[-1]}/2")
    groups = {path: row["link_group"] for path, row in again.rows().items()}
    numbers = [groups[f"/{name}/1"] for name in names]
    assert numbers == [*range(1, MAX_GROUP + 1), *[0] * 20]
    assert (groups["/late/1"], groups[f"/{names[0]}/2"], groups[f"/{names[-1]}/2"]) == (0, 1, 0)
    assert sorted(again.crawl(dict.fromkeys([*names, "late"], 1.0))) == sorted(
        [*(f"/{name}/1" for name in names[1:]), "/late/1", f"/{names[0]}/2", f"/{names[-1]}/2"]
    )


@pytest.mark.both_stores
def test_groups_share_the_memory_of_their_site(engine):
    site = GroupedSite(engine)
    site.begin(*(f"/{n % 50}/{n}" for n in range(5_000)))
    queues = site.frontier._schedule.site(site.id).queues
    assert sum(len(queue) for queue in queues.values()) <= 2 * 50 * MIN_QUEUE + MAX_QUEUE
    assert len(site.crawl({str(n): float(n % 3) for n in range(50)})) == 5_000


def test_redirect_target_belongs_to_the_group_of_the_redirect(engine):
    site = GroupedSite(engine)
    site.begin("/a/1", "/b/1")
    site.end(site.one(), State.MOVED, moved_to="/elsewhere/1")
    rows = site.rows()
    assert rows["/elsewhere/1"]["link_group"] == rows["/a/1"]["link_group"] == 1


@pytest.mark.parametrize("head_urls", [1, 100_000])
def test_url_that_is_found_nearer_keeps_its_first_group(engine, head_urls):
    site = GroupedSite(engine, head_urls=head_urls)
    site.begin("/a/1", "/b/1")
    site.read(site.one(), "/c/1", reward=5.0)  # /a/1, level 1
    site.read(site.one(), "/d/1", "/a/2", reward=5.0)  # /b/1
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    row = site.rows()["/c/1"]
    assert (row["level"], row["link_group"]) == (1, 3)
    assert sorted(site.crawl({"a": 0.0, "c": 1.0, "d": 2.0})) == ["/a/2", "/c/1", "/d/1"]


def test_url_that_is_no_longer_too_deep_keeps_its_first_group(engine):
    site = GroupedSite(engine, max_level=1)
    site.begin("/a/1", "/b/1")
    site.read(site.one(), "/c/1")
    assert site.rows()["/c/1"]["state"] == State.REJECTED
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    row = site.rows()["/c/1"]
    assert (row["state"], row["level"], row["link_group"]) == (State.WAITING, 1, 3)
    assert sorted(site.crawl({"b": 0.0, "c": 0.0})) == ["/b/1", "/c/1"]


# Random webs and accidents


class Crawl:
    """One crawl of a random web with accidents; *seed* decides on all of them."""

    def __init__(self, engine: Any, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self._seed = seed
        self._engine = engine
        self._id = engine.new_site()
        self._root = f"http://host{self._id}.test"
        self._parallel = rng.choice([1, 1, 3])
        self._max_level = rng.choice([None, None, 2])
        self._groups = rng.choice([3, 8, 8, 150])
        self._size = rng.choice([20, 60, 250])
        self._kills = rng.choice([0, 1, 4])
        self._in_flight: list[Lease] = []
        self._model = Model(self._max_level)
        self._open()

    def _open(self) -> None:
        rng = self._rng
        self._frontier = self._engine.frontier(LinkGroups(), cache_urls=rng.choice([1, 5, 10_000]), records_pulls=True)
        self._open_site()
        self._in_flight = []
        self._model.add("/p0")
        self._frontier.add([Candidate(self._id, self._target("/p0"))], NOW)

    def _open_site(self) -> None:
        state = SiteState(self._id, f"http://host{self._id}.test", self._parallel, 0.0, self._max_level)
        self._frontier.open_site(state, NOW)
        self._frontier._discovery.head_urls = self._rng.choice([1, 3, 1000])  # less than any setting allows

    def _target(self, path: str) -> Any:
        return resolve(self._root + "/", self._root + path)

    def _path(self, lease: Lease) -> str:
        return lease.url.removeprefix(self._root)

    def run(self) -> int:
        """Crawl to the end; return the number of requested pages."""
        for _ in range(MAX_STEPS):
            self._accident()
            leases = self._frontier.lease(NOW, 1)
            for lease in leases:
                self._model.leased(self._path(lease))
            self._in_flight += leases
            if self._in_flight and (not leases or self._rng.random() < 0.6):
                self._end(self._in_flight.pop(self._rng.randrange(len(self._in_flight))))
            elif not leases:
                assert {page.state for page in self._model.pages.values()} <= {"ended", "deep"}
                stored = {row["url"].removeprefix(self._root): row["link_group"] for row in self._engine.rows(self._id)}
                assert stored == {path: page.group for path, page in self._model.pages.items()}
                return len(self._model.pulls)
        raise AssertionError("the crawl does not end")

    def _accident(self) -> None:
        chance, held = self._rng.random(), self._engine.held
        if chance < 0.03 and self._kills:
            self._kills -= 1
            held.commit(self._rng.randint(0, held.pending))
            self._model.lose(held.pending)
            self._open()
        elif chance < 0.05:
            held.commit(self._rng.randint(0, held.pending))
        elif chance < 0.08 and not self._in_flight:
            held.submit(self._frontier.close_site(self._id, NOW))
            held.flush()
            self._open_site()
        elif chance < 0.11 and self._in_flight:
            lease = self._in_flight.pop()
            self._frontier.release(lease, NOW)
            self._model.released(self._path(lease))

    def _end(self, lease: Lease) -> None:
        path = self._path(lease)
        web = random.Random(f"{self._seed} {path}")  # a page does not depend on the time of its request
        fate = web.random()
        if fate < 0.1 and not lease.attempts:
            self._frontier.release(lease, NOW, "no answer", failed=True)
            self._model.failed(path)
            return
        others = [f"/p{web.randrange(self._size)}" for _ in range(web.choice([0, 2, 6, 40]) if path != "/p0" else 30)]
        if fate < 0.2 and path != "/p0" and others and others[0] != path and lease.hops < 10:
            page = Page(lease.id, lease.url, lease.level, State.MOVED, moved_to=self._target(others[0]))
            self._frontier.acknowledge(lease, Decision(page), NOW)
            self._model.moved(path, 0.0, others[0])
            return
        others = list(dict.fromkeys(others))  # a page's links are distinct
        names = {other: f"{fate:.1f} {int(other[2:]) % self._groups}" for other in others}
        reward = web.choice([0.0, 1.0, 300.0]) if int(path[2:]) % 3 else 0.0
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            State.DONE,
            links=[(self._target(other), 1) for other in others],
            link_groups={self._target(other).key: name for other, name in names.items()},
        )
        self._frontier.acknowledge(lease, Decision(page), NOW, Reward(reward))
        self._model.read(path, reward, list(names.items()))


@budget(100)
@given(st.integers(0, 1_000_000))
def test_any_crawl_in_memory_chooses_as_the_bandit_does(seed: int) -> None:
    Crawl(HeldMemoryEngine(), seed).run()


@budget(8)
@given(st.integers(0, 1_000_000))
def test_any_crawl_in_a_database_chooses_as_the_bandit_does(sql_engine: HeldSqlEngine, seed: int) -> None:
    Crawl(sql_engine, seed).run()


def test_random_crawls_are_long_enough() -> None:
    assert sum(Crawl(HeldMemoryEngine(), seed).run() > 40 for seed in range(20)) > 5
