"""The page order `learnt` follows the links that promise most, and after any kill the same ones as without it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_features import feature_id, features_of
from crawlers.algorithms.ranking.link_values import CLOSE, LinkValues
from crawlers.algorithms.ranking.page_orders import learnt
from crawlers.frontier.queues import value_queue
from crawlers.frontier.queues.value_queue import ValueQueue
from crawlers.frontier.values import Candidate, Decision, Reward
from crawlers.items import LinkPlace, Page, State
from tests.contracts.engines import HeldMemoryEngine
from tests.contracts.examples import budget
from tests.contracts.learning_crawls import HARVEST, Accidents, Crawl
from tests.contracts.site import NOW, Site


def order():
    return learnt(LinkValues())


def place(path):
    """A place of the links to a folder."""
    return LinkPlace(f"ul/li.{path.split('/')[1]}", "div/ul/li", f"to {path}")


class LearntSite(Site):
    """A site whose links to one folder stand at one place."""

    def __init__(self, engine, frontier=None, **limits):
        super().__init__(engine, frontier or engine.frontier(order(), records_pulls=True), **limits)

    def read(self, lease, *links, reward=0.0):
        found = {link: self.target(link) for link in links}
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            State.DONE,
            links=[(target, 1) for target in found.values()],
            link_places={target.key: place(link) for link, target in found.items()},
        )
        self.frontier.acknowledge(lease, Decision(page), NOW, Reward(reward))

    def begin(self, *links):
        self.add("/")
        self.read(self.one(), *links)

    def crawl(self, rewards):
        """Read all waiting pages one by one; return their paths in this order. *rewards* are by folder."""
        paths = []
        while leases := self.lease(n=1):
            paths += self.paths(leases)
            self.read(leases[0], reward=rewards[paths[-1].split("/")[1]])
        return paths

    @property
    def queue(self):
        queue = self.frontier.schedule.site(self.id).queues[0]
        assert isinstance(queue, ValueQueue)
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
    order = learnt(LinkValues({feature_id("anchor", "", "secon"): more}))
    site = LearntSite(engine, engine.frontier(order, records_pulls=True))
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


def stored(engine):
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
    monkeypatch.setattr(value_queue, "LOADED", 2)
    site = LearntSite(engine)
    site.frontier._learning.compared = most
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


SEEDS = st.integers(0, 39)  # few, so that each undisturbed crawl is run once for all tests


@cache
def undisturbed(seed):
    return Crawl(HeldMemoryEngine(), seed, HARVEST, kills=0).run()


@budget(25)
@given(SEEDS)
def test_any_crawl_in_memory_chooses_after_kills_as_without(seed):
    assert Crawl(HeldMemoryEngine(), seed, HARVEST, kills=4).run() == undisturbed(seed)


@budget(6)
@given(SEEDS)
def test_any_crawl_in_a_database_chooses_after_kills_as_without(sql_engine, seed):
    assert Crawl(sql_engine, seed, HARVEST, kills=4).run() == undisturbed(seed)


def test_random_crawls_are_long_enough():
    assert sum(len(undisturbed(seed)) > 40 for seed in range(20)) > 5


def test_stored_features_are_those_of_the_link(durable):
    site = LearntSite(durable)
    site.begin("/a/1")
    (text,) = stored(durable).values()
    assert features_of(text).tolist() == site.queue._links.features[0].tolist()


# Everything that may happen to a page


@budget(12)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 4, 100_000]))
def test_whatever_happens_features_are_kept_once_and_the_store_teaches_the_same(seed, head_urls):
    crawl = Accidents(seed, HARVEST, head_urls)
    crawl.run()
    learnt, replayed = crawl.values, crawl.replayed()
    assert isinstance(learnt, LinkValues)
    assert isinstance(replayed, LinkValues)
    assert np.array_equal(learnt._learnt()[0], replayed._learnt()[0])
