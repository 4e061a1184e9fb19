"""The frontier's contract, for every engine: each URL once, near ones first, in the best variant found."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, State
from tests.contracts.site import NOW, VARIANTS, Site
from tests.support.frontier_state import counts_of

# Each URL once, near ones first


def test_each_url_is_leased_once(site):
    assert site.add("/a/", "/b/", "/a/", "/a", "/c/") == 3
    assert site.add("/b/") == 0
    assert site.drain() == ["/a/", "/b/", "/c/"]
    assert site.add("/a/", "/b", "/c/?x=") == 0
    assert site.lease() == []


def test_acknowledge_returns_the_number_of_new_links(site):
    site.add("/")
    lease = site.one()
    page = Page(lease.id, lease.url, 0, State.DONE, links=[(site.target(p), 2) for p in ("/", "/a/", "/b/")])
    assert site.frontier.acknowledge(lease, Decision(page), NOW) == (2, page)
    rows = site.rows()
    assert site.engine.links() == {
        (lease.id, rows["/"]["id"]): 2,
        (lease.id, rows["/a/"]["id"]): 2,
        (lease.id, rows["/b/"]["id"]): 2,
    }
    assert (rows["/a/"]["level"], rows["/a/"]["found_on"]) == (1, lease.id)


def test_farther_level_waits_for_the_last_response_of_a_nearer_one(site):
    site.add("/near1/", "/near2/", level=1)
    site.add("/far/", level=2)
    first, second = site.lease()
    site.end(first)
    assert site.lease() == []
    site.end(second)
    assert site.paths(site.lease()) == ["/far/"]


def test_farther_level_waits_for_a_nearer_url_that_rests(site):
    site.add("/near/", level=1)
    site.add("/far/", level=2)
    site.frontier.release(site.one(), NOW + 10)
    assert site.lease(NOW + 9.9) == []
    assert site.paths(site.lease(NOW + 10)) == ["/near/"]


def test_redirect_target_comes_after_its_level_and_before_the_next(site):
    site.add("/level2/", level=2)
    site.add("/redirected/", level=1, hops=1)
    site.add("/level1/", level=1)
    assert site.drain() == ["/level1/", "/redirected/", "/level2/"]


def test_urls_of_a_level_are_leased_in_order_of_discovery(site):
    site.add(*(f"/{name}/" for name in "zmaqk"))
    assert site.drain() == ["/z/", "/m/", "/a/", "/q/", "/k/"]


def test_known_url_gains_a_shorter_level(site):
    site.add("/a/", level=5)
    site.add("/b/", level=4)
    site.add("/a/", level=3)
    assert [(lease.url, lease.level) for lease in (site.one(),)] == [(site.root + "/a/", 3)]
    assert site.rows()["/a/"]["level"] == 3


def test_known_url_keeps_its_level_when_found_farther_away(site):
    site.add("/a", level=1)
    site.add("/a/", level=2)
    lease = site.one()
    assert (site.paths([lease]), lease.level) == (["/a"], 1)


def test_variant_does_not_depend_on_the_order_of_discovery(engine):
    frontier = engine.frontier()
    for size in (2, 3, 5):
        chosen = set()
        for number, found in enumerate(itertools.permutations(VARIANTS[-size:])):
            site = Site(engine, frontier)
            for path in found if number % 2 else reversed(found):
                site.add(path)
            chosen.update(site.paths(frontier.lease(NOW, 1)))
        assert chosen == {{2: "//a/", 3: "//a/", 5: "/a/"}[size]}


@pytest.mark.both_stores
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(finds=st.permutations([(path, level) for path in VARIANTS for level in (1, 2)]), split=st.integers(0, 10))
def test_nearest_level_and_best_variant_win_in_any_order_and_across_a_restart(engine, finds, split):
    limits = {"cache_urls": 1, "head_urls": 1}
    site = Site(engine, engine.frontier(**limits))
    for path, level in finds[:split]:
        site.add(path, level=level)
    site = Site(engine, engine.frontier(**limits), id=site.id)
    for path, level in finds[split:]:
        site.add(path, level=level)
    lease = site.one()
    assert (site.paths([lease]), lease.level) == (["/a/"], 1)
    site.end(lease)
    assert site.lease() == []


def test_better_variant_replaces_the_worse_one_also_after_a_release(site):
    site.add("//a/")
    site.add("/a/")
    site.frontier.release(site.one(), NOW, "no answer", failed=True)
    lease = site.one()
    assert (site.paths([lease]), lease.attempts) == (["/a/"], 1)
    site.end(lease)
    assert site.lease() == []


def test_request_of_the_nearest_discovery_is_used(engine):
    site = Site(engine)
    for level in (3, 2):
        site.frontier.add([Candidate(site.id, site.target("/a/"), level, request=f'{{"n": {level}}}')], NOW)
    assert site.one().request == '{"n": 2}'
    assert site.rows()["/a/"]["request"] == '{"n": 2}'


@pytest.mark.parametrize("is_answered", [False, True])
def test_leased_url_is_not_leased_again_after_its_eviction_from_the_cache(engine, is_answered):
    site = Site(engine, engine.frontier(cache_urls=4), parallel=9)
    site.add("/a/", level=5)
    lease = site.one()
    site.add(*(f"/{number}/" for number in range(3)), level=9)
    site.add(*(f"/{number}/" for number in range(3, 6)), level=9)
    site.add("/6/", level=9)
    if is_answered:
        site.end(lease)
        assert engine.held.pending, "the response is not stored yet"
    site.add("/a/", level=1)
    assert "/a/" not in site.drain()


# URLs that are not fetched


def test_too_deep_url_is_rejected_and_revived_by_a_shorter_path(engine):
    site = Site(engine, max_level=2)
    site.add("/deep", level=3)
    assert site.lease() == []
    row = site.rows()["/deep"]
    assert (row["state"], row["reason"]) == (State.REJECTED, "too_deep 3 2")
    site.add("/deep", level=2)
    assert site.paths(site.lease()) == ["/deep"]
    assert counts_of(site.frontier)[site.id] == {State.WAITING: 1}
    assert site.rows()["/deep"]["state"] == State.WAITING


def test_url_that_is_not_admitted_is_rejected_permanently(engine):
    frontier = engine.frontier(reason_against=lambda target: "extension pdf" if target.url.endswith("pdf") else None)
    site = Site(engine, frontier)
    assert site.add("/x.pdf", "/y/", level=2) == 2
    assert site.add("/x.pdf", level=1) == 0
    assert site.drain() == ["/y/"]
    assert site.rows()["/x.pdf"]["reason"] == "extension pdf"


def test_url_that_is_not_admitted_is_stored_in_normal_form(engine):
    frontier = engine.frontier(reason_against=lambda target: "extension no")
    for path in VARIANTS:
        site = Site(engine, frontier)
        site.add(path)
        assert list(site.rows()) == ["/a/"]


@pytest.mark.parametrize("cache_urls", [1, 1000])
def test_too_deep_url_is_stored_in_its_best_variant(engine, cache_urls):
    frontier = engine.frontier(cache_urls=cache_urls)
    for found in itertools.permutations(["//a/", "/a/?x=", "/a"]):
        site = Site(engine, frontier, max_level=0)
        for path in found[:2]:
            site.add(path, level=1)
        assert list(site.rows()) == [min(found[:2], key=["/a", "//a/", "/a/?x="].index)]
        site.add(found[2], level=1)
        assert list(site.rows()) == ["/a"]
        assert site.lease() == []
