"""Orders that learn follow the links that promise most, and after any kill the same ones as without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier import value_queue
from crawlers.frontier.value_queue import ValueQueue
from crawlers.frontier.values import Candidate, LinkFacts
from crawlers.items import LinkPlace, State
from crawlers.missions.topic.topic_scores import LinkRelevance
from crawlers.ranking.link_features import feature_id
from crawlers.ranking.link_values import CLOSE, LinkValues, features_of
from crawlers.ranking.page_orders import PageOrder
from tests.contracts.learning_crawls import HARVEST, TOPIC, Accidents, Crawl
from tests.contracts.site import NOW, Site
from tests.contracts.webs import budget

both_ways = pytest.mark.parametrize("way", [HARVEST, TOPIC], ids=["harvest", "topic"])


def place(path):
    """A place of the links to a folder."""
    return LinkPlace(f"ul/li.{path.split('/')[1]}", "div/ul/li", f"to {path}")


class LearntSite(Site):
    """A site whose links to one folder stand at one place; *worth* is the relevance of a text that contains a word."""

    def __init__(self, engine, way=HARVEST, frontier=None, worth=(), **limits):
        super().__init__(engine, frontier or engine.frontier(way.order(), way.rule(), records_pulls=True), **limits)
        self.worth = dict(worth)

    def read(self, lease, *links, reward=0.0):
        found = {link: self.target(link) for link in links}
        worth = {
            target.key: max((value for word, value in self.worth.items() if word in link), default=0.0)
            for link, target in found.items()
        }
        places = {target.key: place(link) for link, target in found.items()}
        self.end(lease, State.DONE, *links, reward=reward, known=LinkFacts(places, worth))

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
        queue = self.frontier.site(self.id).queues[0]
        assert isinstance(queue, ValueQueue)
        return queue


@pytest.mark.parametrize(("way", "much", "little"), [(HARVEST, 9.0, 1.0), (TOPIC, 0.8, 0.05)], ids=["harvest", "topic"])
def test_links_like_those_that_paid_are_followed_first(engine, way, much, little):
    site = LearntSite(engine, way)
    site.begin(*(f"/{folder}/{n}" for n in range(6) for folder in "abc"))
    paths = site.crawl({"a": 0.0, "b": much, "c": little})
    assert paths[0] == "/a/0", "of equals, the oldest"
    assert [n for n, path in enumerate(paths) if path[1] == "b"][-1] <= 8, "all of the rich folder, soon"
    assert way is TOPIC or all(path[1] == "a" for path in paths[-3:])


@pytest.mark.parametrize(("more", "first"), [(0.9 * CLOSE, "/first/1"), (1.1 * CLOSE, "/second/1")])
def test_of_links_that_promise_nearly_as_much_the_oldest_is_next(engine, more, first):
    order = PageOrder(link_values=LinkValues({feature_id("anchor", "", "secon"): more}))
    site = LearntSite(engine, frontier=engine.frontier(order, records_pulls=True))
    site.begin("/first/1", "/second/1")
    assert site.paths([site.one()]) == [first]


@both_ways
def test_what_is_learnt_on_one_site_counts_on_others(engine, way):
    one = LearntSite(engine, way)
    one.begin(*(f"/{folder}/{n}" for n in range(9) for folder in ("poor", "rich")))
    one.crawl({"poor": 0.0, "rich": 0.9 if way is TOPIC else 20.0})
    other = LearntSite(engine, way, one.frontier)
    other.begin("/poor/1", "/rich/1")
    assert other.paths([other.one()]) == ["/rich/1"]


def test_site_is_chosen_by_what_its_links_promise_now(engine):
    """The value of a site that was not read for a while changes with what is learnt on others."""
    one = LearntSite(engine, TOPIC)
    other = LearntSite(engine, TOPIC, one.frontier)
    one.begin("/rich/9", *(f"/poor/{n}" for n in range(9)))
    other.begin(*(f"/{folder}/{n}" for folder in ("poor", "rich") for n in range(3)))
    read = []
    for _ in range(9):
        (lease,) = one.frontier.lease(NOW, 1)
        read.append((lease.site_id, lease.url.partition(".test")[2]))
        its = one if lease.site_id == one.id else other
        its.read(lease, reward=0.9 if "rich" in lease.url else 0.001)
    assert read[0] == (one.id, "/rich/9")
    assert {(other.id, f"/rich/{n}") for n in range(3)} <= set(read[:6])


def test_home_pages_come_first_and_nothing_is_learnt_from_them(engine):
    site = LearntSite(engine)
    site.add("/")
    site.add("/start", level=0)
    assert site.paths([site.one()]) == ["/"]
    assert site.frontier._order.link_values._tables is None


def stored(engine):
    return {row["page_id"]: row["features"] for row in engine.stored("link_features")}


def test_redirect_target_has_the_features_of_the_redirect(engine):
    site = LearntSite(engine)
    site.begin("/a/1")
    site.end(site.one(), State.MOVED, moved_to="/elsewhere/1")
    rows = site.rows()
    features = stored(engine)
    assert features[rows["/elsewhere/1"]["id"]] == features[rows["/a/1"]["id"]]
    assert rows["/"]["id"] not in features


def test_url_that_is_no_longer_too_deep_has_features_too(engine):
    site = LearntSite(engine, max_level=1)
    site.begin("/a/1", "/b/1")
    site.read(site.one(), "/c/1")
    assert site.rows()["/c/1"]["state"] == State.REJECTED
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    assert site.rows()["/c/1"]["id"] in stored(engine)
    assert sorted(site.crawl({"b": 0.0, "c": 0.0})) == ["/b/1", "/c/1"]


@both_ways
@pytest.mark.parametrize("most", [1, 3])
def test_urls_that_do_not_fit_into_memory_come_from_the_store(engine, monkeypatch, way, most):
    monkeypatch.setattr(value_queue, "LOADED", 2)
    site = LearntSite(engine, way, worth={"unicode": 0.5})
    site.frontier._learning.compared = most
    site.begin(*(f"/{folder}/{n}" for n in range(20) for folder in ("a", "b", "unicode")))
    assert len(site.queue) <= 2 * most
    paths = site.crawl({"a": 0.0, "b": 0.3, "unicode": 0.8})
    assert len(paths) == 60
    if way is TOPIC:
        assert sorted(paths[:20]) == sorted(f"/unicode/{n}" for n in range(20))
    assert all(row["state"] == State.DONE for row in site.rows().values())


def test_url_whose_relevance_rises_comes_into_memory(engine):
    site = LearntSite(engine, TOPIC, worth={"unicode": 0.5})
    site.frontier._learning.compared = 2
    site.begin(*(f"/a/{n}" for n in range(20)))
    site.worth["/a/19"] = 0.9
    site.read(site.one(), "/a/19")
    assert site.paths([site.one()]) == ["/a/19"]


def test_url_that_is_found_nearer_or_as_a_better_variant_keeps_its_features(engine):
    site = LearntSite(engine)
    site.begin("/a/1", "/b/1?y=")
    site.read(site.one(), "/c/1", "/b/1")
    before = stored(engine)
    site.frontier.add([Candidate(site.id, site.target("/c/1"), 1)], NOW)
    assert site.rows()["/c/1"]["level"] == 1
    assert stored(engine) == before
    assert sorted(site.crawl({"a": 0.0, "b": 0.0, "c": 0.0})) in (["/b/1", "/c/1"], ["/b/1?y=", "/c/1"])


def test_stored_features_are_those_of_the_link(engine):
    site = LearntSite(engine)
    site.begin("/a/1")
    (text,) = stored(engine).values()
    assert features_of(text).tolist() == site.queue._links.features[0].tolist()


@both_ways
def test_any_crawl_chooses_after_kills_as_without(engine, way):
    lengths = []
    for seed in range(6):
        undisturbed = Crawl(engine.begin_crawl(), seed, way, kills=0).run().read
        assert Crawl(engine.begin_crawl(), seed, way, kills=4).run().read == undisturbed
        lengths.append(len(undisturbed))
    assert sum(length > 40 for length in lengths) > 2


def known(values):
    """Return what was learnt."""
    if isinstance(values, LinkRelevance):
        return values.learnt, values._sum, values._greatest, known(values._values)
    assert isinstance(values, LinkValues)
    return values._learnt()[0].tolist()


@both_ways
@budget(8)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 4, 100_000]))
def test_whatever_happens_features_are_kept_once_and_the_store_teaches_the_same(engine, way, seed, head_urls):
    crawl = Accidents(engine.begin_crawl(), seed, way, head_urls)
    crawl.run(600)
    assert known(crawl.values) == known(crawl.replayed())
