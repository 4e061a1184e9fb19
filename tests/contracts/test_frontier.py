"""The frontier's contract: each URL once, near ones first, in the best variant found."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, State
from tests.contracts.site import NOW, VARIANTS, Site

# Each URL once, near ones first


def test_acknowledge_returns_the_number_of_new_links(site):
    site.add("/")
    lease = site.one()
    page = Page(lease.id, lease.url, 0, State.DONE, links=[(site.target(p), 2) for p in ("/", "/a/", "/b/")])
    assert site.frontier.acknowledge(lease, Decision(page), NOW) == (2, page)
    rows = site.rows()
    assert site.engine.links() == {(lease.id, rows[path]["id"]): 2 for path in ("/", "/a/", "/b/")}
    assert (rows["/a/"]["level"], rows["/a/"]["found_on"]) == (1, lease.id)


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
    for first in (0, 3, 6):
        site.add(*(f"/{number}/" for number in range(first, min(first + 3, 7))), level=9)
    if is_answered:
        site.end(lease)
        assert engine.held.pending, "the response is not stored yet"
    site.add("/a/", level=1)
    assert "/a/" not in site.drain()
