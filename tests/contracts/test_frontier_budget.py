"""A page budget is not exceeded, even by pages in flight; URLs that were never requested cost nothing."""

import pytest

from crawlers.bandits.index_rule import EXACT, BatchGreedy
from crawlers.items import State
from crawlers.store.writing.pulls import Pull
from tests.contracts.site import NOW, Site
from tests.support.frontier_state import counts_of


@pytest.fixture
def site(engine):
    site = Site(engine, engine.frontier(page_budget=3), parallel=100)
    site.add("/1", "/2", "/3", "/4", "/5")
    return site


def test_no_more_is_leased_than_the_budget_allows(site):
    site.frontier.learn([Pull(site.id, 1.0), Pull(site.id + 1, 0.0)])  # those of others cost nothing
    first = site.lease(n=2)
    rest = site.lease()
    assert (len(first), len(rest), site.lease()) == (2, 1, [])
    assert site.frontier.next_due(NOW) is None, "the budget does not depend on time"
    assert site.frontier.has_pending
    for lease in (*first, *rest):
        site.end(lease)
        assert site.lease() == []
    assert site.frontier.budget.is_exhausted
    assert not site.frontier.has_pending
    assert site.frontier.schedule.is_waiting
    assert counts_of(site.frontier)[site.id] == {State.DONE: 3, State.WAITING: 2}


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
    assert site.frontier.budget.is_exhausted


def test_worker_requests_what_it_was_granted_over_its_life(engine):
    site = Site(engine, engine.frontier(page_budget=2), parallel=100)
    site.add(*(f"/{n}" for n in range(9)))
    for lease in site.lease():
        site.end(lease)
    assert site.frontier.budget.is_exhausted
    assert site.frontier.next_due(NOW) is None
    site.frontier.budget.grant(1)  # a round that was late
    assert site.lease() == []
    site.frontier.budget.grant(4)
    assert not site.frontier.budget.is_exhausted
    assert len(site.lease()) == 2


def test_limited_worker_requests_one_block_more_than_it_has_begun(site):
    first, _ = site.lease(n=2)
    site.end(first)
    assert site.frontier.budget.limit(5) == 3, "no more than was granted"
    assert site.frontier.budget.limit(0) == 2
    assert site.lease() == []
    site.frontier.budget.grant(3)
    assert len(site.lease()) == 1


def test_site_is_known_to_the_rule_after_a_refill_that_waited(engine, monkeypatch):
    """With so many sites, a rule leaves one out that is not ready when the best one is asked for."""
    held = engine.held
    monkeypatch.setattr(type(held), "is_committed", lambda _, number: number <= held.committed)
    monkeypatch.setattr("crawlers.frontier.sql_store.is_in_event_loop", lambda: True)
    limits = {"rule": BatchGreedy(2), "page_budget": 16, "head_urls": 16, "records_pulls": True}
    site = Site(engine, engine.frontier(**limits), parallel=50)
    for _ in range(EXACT):
        Site(engine, site.frontier)
    site.add(*map("/{}".format, range(60)))
    for lease in site.lease(n=16):
        site.end(lease)
    assert site.frontier.best_index(NOW) is None
    held.flush()
    assert site.lease() == []
    assert site.frontier.best_index(NOW) == 0.0
