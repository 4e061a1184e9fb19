"""Topic crawls follow the links that lead to relevant pages, and after any kill the same ones as without it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.ranking.link_relevance import LinkRelevance
from crawlers.algorithms.ranking.page_orders import relevant_first
from crawlers.algorithms.topic.vectors import STRATEGIES
from crawlers.frontier.queues import value_queue
from crawlers.frontier.values import Decision, Reward
from crawlers.items import LinkPlace, Page, PageAnalysis, State
from tests.contracts.engines import HeldMemoryEngine
from tests.contracts.examples import budget
from tests.contracts.learning_crawls import TOPIC, Accidents, Crawl
from tests.contracts.site import NOW, Site


class TopicSite(Site):
    """A site whose links have their paths as texts; *worth* is the relevance of a text that contains a word."""

    def __init__(self, engine, frontier=None, worth=()):
        order = relevant_first(STRATEGIES["learnt"])
        super().__init__(engine, frontier or engine.frontier(order, Best(), records_pulls=True))
        self._worth = dict(worth)

    def read(self, lease, *links, similarity=0.0):
        found = {link: self.target(link) for link in links}
        worth = {
            target.key: max((value for word, value in self._worth.items() if word in link), default=0.0)
            for link, target in found.items()
        }
        page = Page(
            lease.id,
            lease.url,
            lease.level,
            State.DONE,
            links=[(target, 1) for target in found.values()],
            link_places={target.key: LinkPlace("", "", link) for link, target in found.items()},
            analysis=PageAnalysis({}, worth, []),
        )
        self.frontier.acknowledge(lease, Decision(page), NOW, Reward(similarity))

    def crawl(self, similarities, most=1_000):
        """Read waiting pages one by one; return their paths in this order. *similarities* are by folder."""
        paths = []
        while len(paths) < most and (leases := self.lease(n=1)):
            paths += self.paths(leases)
            self.read(leases[0], similarity=similarities[paths[-1].split("/")[1]])
        return paths

    def begin(self, *links):
        self.add("/")
        self.read(self.one(), *links)


def test_links_like_those_to_relevant_pages_are_followed_first(engine):
    site = TopicSite(engine)
    site.begin(*(f"/{folder}/{n}" for n in range(6) for folder in ("kitchen", "unicode", "news")))
    paths = site.crawl({"kitchen": 0.0, "unicode": 0.8, "news": 0.05})
    assert paths[0] == "/kitchen/0", "of equals, the oldest"
    assert [n for n, path in enumerate(paths) if "unicode" in path][-1] <= 8, "all of that folder, soon"


def test_relevant_texts_come_before_links_of_which_nothing_is_known(engine):
    site = TopicSite(engine, worth={"unicode": 0.5})
    site.begin("/a/1", "/b/1", "/c/unicode")
    assert site.paths([site.one()]) == ["/c/unicode"]


def test_what_is_learnt_on_one_site_counts_on_others(engine):
    one = TopicSite(engine)
    one.begin(*(f"/{folder}/{n}" for n in range(9) for folder in ("poor", "rich")))
    one.crawl({"poor": 0.0, "rich": 0.9})
    other = TopicSite(engine, one.frontier)
    other.begin("/poor/1", "/rich/1")
    assert other.paths([other.one()]) == ["/rich/1"]


def test_site_is_chosen_by_what_its_links_promise_now(engine):
    """The value of a site that was not read for a while changes with what is learnt on others."""
    one = TopicSite(engine)
    other = TopicSite(engine, one.frontier)
    one.begin("/rich/9", *(f"/poor/{n}" for n in range(9)))
    other.begin(*(f"/{folder}/{n}" for folder in ("poor", "rich") for n in range(3)))
    read = []
    for _ in range(9):
        (lease,) = one.frontier.lease(NOW, 1)
        read.append((lease.site_id, lease.url.partition(".test")[2]))
        its = one if lease.site_id == one.id else other
        its.read(lease, similarity=0.9 if "rich" in lease.url else 0.001)
    assert read[0] == (one.id, "/rich/9")
    assert {(other.id, f"/rich/{n}") for n in range(3)} <= set(read[:6])


@pytest.mark.parametrize("most", [1, 3, 16])
def test_urls_that_do_not_fit_into_memory_come_from_the_store(engine, monkeypatch, most):
    monkeypatch.setattr(value_queue, "LOADED", 2)
    site = TopicSite(engine, worth={"unicode": 0.5})
    site.frontier._learning.compared = most
    site.begin(*(f"/{folder}/{n}" for n in range(20) for folder in ("a", "b", "unicode")))
    paths = site.crawl({"a": 0.0, "b": 0.3, "unicode": 0.8})
    assert sorted(paths[:20]) == sorted(f"/unicode/{n}" for n in range(20))
    assert len(paths) == 60
    assert all(row["state"] == State.DONE for row in site.rows().values())


def test_url_whose_relevance_rises_comes_into_memory(engine):
    site = TopicSite(engine, worth={"unicode": 0.5})
    site.frontier._learning.compared = 2
    site.begin(*(f"/a/{n}" for n in range(20)))
    site._worth["/a/19"] = 0.9
    site.read(site.one(), "/a/19")
    assert site.paths([site.one()]) == ["/a/19"]


SEEDS = st.integers(0, 24)  # few, so that each undisturbed crawl is run once for all tests


@cache
def undisturbed(seed):
    return Crawl(HeldMemoryEngine(), seed, TOPIC, kills=0).run()


@budget(15)
@given(SEEDS)
def test_any_crawl_in_memory_chooses_after_kills_as_without(seed):
    assert Crawl(HeldMemoryEngine(), seed, TOPIC, kills=4).run() == undisturbed(seed)


@budget(6)
@given(SEEDS)
def test_any_crawl_in_a_database_chooses_after_kills_as_without(sql_engine, seed):
    assert Crawl(sql_engine, seed, TOPIC, kills=4).run() == undisturbed(seed)


def test_random_crawls_are_long_enough():
    assert sum(len(undisturbed(seed)) > 40 for seed in range(20)) > 5


@budget(12)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 4, 100_000]))
def test_whatever_happens_features_are_kept_once_and_the_store_teaches_the_same(seed, head_urls):
    crawl = Accidents(seed, TOPIC, head_urls)
    crawl.run()
    learnt, replayed = crawl.values, crawl.replayed()
    assert isinstance(learnt, LinkRelevance)
    assert isinstance(replayed, LinkRelevance)
    assert (learnt.learnt, learnt._sum, learnt._greatest) == (replayed.learnt, replayed._sum, replayed._greatest)
    assert np.array_equal(learnt._values._learnt()[0], replayed._values._learnt()[0])
