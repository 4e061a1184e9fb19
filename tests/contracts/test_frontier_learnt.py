"""Orders that learn follow the links that promise most, and after any kill the same ones as without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier import value_queue
from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.ranking.link_features import feature_id
from crawlers.ranking.link_values import CLOSE, LinkValues, features_of
from crawlers.ranking.page_orders import PageOrder
from tests.contracts.learning_crawls import HARVEST, Accidents, Crawl, LearntSite
from tests.contracts.site import NOW
from tests.contracts.webs import budget
from tests.support.of_missions import for_core

WAYS = {"harvest": HARVEST}
for module in for_core():
    WAYS |= module.LEARNING
all_ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@all_ways
def test_links_like_those_that_paid_are_followed_first(engine, way):
    site = LearntSite(engine, way)
    site.begin(*(f"/{folder}/{n}" for n in range(6) for folder in "abc"))
    paths = site.crawl({"a": 0.0, "b": way.rewards[-1], "c": way.rewards[-1] / 12})
    assert paths[0] == "/a/0", "of equals, the oldest"
    assert [n for n, path in enumerate(paths) if path[1] == "b"][-1] <= 8, "all of the rich folder, soon"
    assert way.links_sites or all(path[1] == "a" for path in paths[-3:])


@pytest.mark.parametrize(("more", "first"), [(0.9 * CLOSE, "/first/1"), (1.1 * CLOSE, "/second/1")])
def test_of_links_that_promise_nearly_as_much_the_oldest_is_next(engine, more, first):
    order = PageOrder(link_values=LinkValues({feature_id("anchor", "", "secon"): more}))
    site = LearntSite(engine, frontier=engine.frontier(order, records_pulls=True))
    site.begin("/first/1", "/second/1")
    assert site.paths([site.one()]) == [first]


@all_ways
def test_what_is_learnt_on_one_site_counts_on_others(engine, way):
    one = LearntSite(engine, way)
    one.begin(*(f"/{folder}/{n}" for n in range(9) for folder in ("poor", "rich")))
    one.crawl({"poor": 0.0, "rich": way.rewards[-1]})
    other = LearntSite(engine, way, one.frontier)
    other.begin("/poor/1", "/rich/1")
    assert other.paths([other.one()]) == ["/rich/1"]


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


@all_ways
@pytest.mark.parametrize("most", [1, 3])
def test_urls_that_do_not_fit_into_memory_come_from_the_store(engine, monkeypatch, way, most):
    monkeypatch.setattr(value_queue, "LOADED", 2)
    site = LearntSite(engine, way, worth={"unicode": 0.5})
    site.frontier._learning.compared = most
    site.begin(*(f"/{folder}/{n}" for n in range(20) for folder in ("a", "b", "unicode")))
    assert len(site.queue) <= 2 * most
    paths = site.crawl({"a": 0.0, "b": 0.3, "unicode": 0.8})
    assert len(paths) == 60
    if way.links_sites:
        assert sorted(paths[:20]) == sorted(f"/unicode/{n}" for n in range(20))
    assert all(row["state"] == State.DONE for row in site.rows().values())


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


@all_ways
def test_any_crawl_chooses_after_kills_as_without(engine, way):
    lengths = []
    for seed in range(6):
        undisturbed = Crawl(engine.begin_crawl(), seed, way, kills=0).run().read
        assert Crawl(engine.begin_crawl(), seed, way, kills=4).run().read == undisturbed
        lengths.append(len(undisturbed))
    assert sum(length > 40 for length in lengths) > 2


def known(values):
    """Return what was learnt."""
    if not isinstance(values, LinkValues):  # the order of a mission makes more of them
        return values.learnt, values._sum, values._greatest, known(values._values)
    return values._learnt()[0].tolist()


@all_ways
@budget(8)
@given(st.integers(0, 1_000_000), st.sampled_from([1, 4, 100_000]))
def test_whatever_happens_features_are_kept_once_and_the_store_teaches_the_same(engine, way, seed, head_urls):
    crawl = Accidents(engine.begin_crawl(), seed, way, head_urls)
    crawl.run(600)
    assert known(crawl.values) == known(crawl.replayed())
