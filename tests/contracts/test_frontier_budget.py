"""A page budget is not exceeded, even by pages in flight; URLs that were never requested cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlers.items import State
from tests.contracts.site import NOW, Site

if TYPE_CHECKING:
    from tests.contracts.engines import Engine


@pytest.fixture
def site(engine: Engine) -> Site:
    site = Site(engine, engine.frontier(page_budget=3), parallel=100)
    site.add("/1", "/2", "/3", "/4", "/5")
    return site


def test_no_more_is_leased_than_the_budget_allows(site):
    first = site.lease(n=2)
    assert len(first) == 2
    assert len(site.lease()) == 1
    assert site.lease() == []
    assert site.frontier.next_due(NOW) is None, "the budget does not depend on time"
    assert site.frontier.has_pending
    site.end(first[0])
    assert site.lease() == []


def test_spent_budget_leaves_the_rest_waiting(site):
    for lease in site.lease():
        site.end(lease)
    assert site.frontier.pulls.is_spent
    assert not site.frontier.has_pending
    assert site.frontier.is_waiting
    assert site.frontier.counts()[site.id] == {State.DONE: 3, State.WAITING: 2}


def test_rejected_and_released_urls_cost_nothing(site):
    one, two, _ = site.lease()
    site.end(one, State.REJECTED)
    site.frontier.release(two, NOW)
    assert len(site.lease()) == 2
    assert site.lease() == []


def test_failed_download_costs_a_page(site):
    one, two, three = site.lease()
    site.frontier.release(one, NOW, "timeout", failed=True)
    site.end(two, State.FAILED)
    assert site.lease() == []
    site.end(three, State.REFUSED)
    assert site.frontier.pulls.is_spent


def test_pages_of_earlier_runs_count(engine):
    frontier = engine.frontier(page_budget=3)
    site = Site(engine, frontier, parallel=100)
    frontier.recall_pulls([(site.id, 0, 1.0), (site.id, 0, 0.0)])
    site.add("/1", "/2", "/3")
    assert len(site.lease()) == 1
