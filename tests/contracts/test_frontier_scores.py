"""The frontier's contract: the best page of all comes first, and no cash is lost."""

import math

import pytest

from crawlers.frontier.values import Candidate
from crawlers.items import State
from crawlers.ranking.opic import OPIC
from crawlers.ranking.page_orders import PageOrder
from crawlers.store.sites.page_selection import retry_home_page
from tests.contracts.fading import Fading
from tests.contracts.scored_crawl import ScoredCrawl, Way, name_of, target_of
from tests.support.naive_opic import cash_of
from tests.support.orders import ORDER_NAMES, installed
from tests.support.orders import order as order_of
from tests.support.stored_rows import committed

SCORED = [name for name in ORDER_NAMES if order_of(name).scores is not None]
TINY = (1, 2, 5)


def order(name, weight=1.0):
    return lambda: order_of(name, AOPIC_UNCRAWLED_WEIGHT=weight)


# The best page ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORED)
def test_leased_page_is_the_best_of_all_that_politeness_allows(engine, name):
    ScoredCrawl(engine, Way(order(name), parallel=(1, 2), delays_s=(0.0, 3.0), heads=TINY)).run(150)


@pytest.mark.parametrize(
    ("weight", "heads", "seed"),
    [(1.0, (1,), 1), (3.0, (2, 5), 2), (math.inf, (1, 3), 3), (3.0, (1,), 4), (1.0, (1000,), 5)],
)
def test_leased_page_has_the_most_cash_whatever_is_in_memory(engine, weight, heads, seed):
    crawl = ScoredCrawl(engine, Way(order("aopic", weight), seed, weight, heads, caches=(1, 10, 1000)))
    crawl.run(200)
    crawl.check_store()


@pytest.mark.parametrize("heads", [(1,), (2, 5), (1000,)])
def test_scores_that_fall_with_time_are_read_again(engine, heads):
    crawl = ScoredCrawl(engine, Way(lambda: PageOrder(Fading()), heads=heads, parallel=(1, 3), delays_s=(0.0, 1.0)))
    crawl.run(150)
    assert sum(is_revisit for _, is_revisit in crawl.asked) > 30
    crawl.check_store()


# Kills -----------------------------------------------------------------------------------------------


# Not aopic-random: its random numbers depend on page ids, and a killed process loses its reserved ids.
@pytest.mark.parametrize("name", installed("aopic", "aopic-cyclic", "opic", "topic"))
def test_crawl_killed_after_commits_requests_the_same_pages_as_an_undisturbed_one(engine, name):
    whole = ScoredCrawl(engine, Way(order(name, 2.0), 5, 2.0, delays_s=(0.0,)))
    whole.run(120)
    killed = ScoredCrawl(engine.begin_crawl(), Way(order(name, 2.0), 5, 2.0, heads=TINY, caches=(1, 10, 1000)))
    kills = 0
    for _ in range(8):
        killed.run(15)
        if killed.is_at_rest:
            kills += 1
            before = killed.scores.totals()
            killed.reopen()
            assert killed.scores.totals() == before
    assert kills > 3
    assert killed.asked_by_place == whole.asked_by_place
    killed.check_store()


@pytest.mark.parametrize(("weight", "seed"), [(1.0, 1), (3.0, 2), (math.inf, 3)])
def test_no_cash_is_lost_by_kills_after_commits_with_pages_in_flight(engine, weight, seed):
    way = Way(order("aopic", weight), seed, weight, TINY, parallel=(1, 3), caches=(1, 1000), rejects=False)
    crawl = ScoredCrawl(engine, way)
    for _ in range(6):
        crawl.run(25)
        before = crawl.cash()
        crawl.reopen()
        assert crawl.cash() == pytest.approx(before, abs=1e-9)
        crawl.check_cash()
        crawl.check_store()


def test_rebase_in_a_later_run_changes_nothing(engine, monkeypatch):
    monkeypatch.setattr("crawlers.ranking.opic._REBASE", 1e-3)
    crawl = ScoredCrawl(engine, Way(order("aopic", 3.0), 6, 3.0, TINY, parallel=(1, 3), rejects=False))
    for _ in range(4):
        crawl.run(25)
        assert crawl.scores.offset(0) > 0.0
        crawl.reopen()
        assert crawl.scores.offset(0) == 0.0
        crawl.check_cash()
        crawl.check_store()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kills_that_lose_the_last_change_sets_keep_all_cash_and_every_page(engine, seed):
    way = Way(order("aopic", 9.0), seed, 9.0, (20, 1000), pages=200, parallel=(1, 3), rejects=False)
    crawl = ScoredCrawl(engine, way)
    lost = 0
    for _ in range(6):
        crawl.run(25)
        kept = crawl.rng.randint(0, engine.held.pending)
        lost += engine.held.pending - kept
        engine.held.commit(kept)
        engine.held.lose()
        crawl.open()
        crawl.url_history = None  # the stored rows count, and the cash is not known
        crawl.check_cash()
    assert lost > 10


# Changed sites and limits ----------------------------------------------------------------------------


@pytest.mark.both_stores
def test_crawl_of_fewer_sites_keeps_the_scores_of_the_others(engine):
    crawl = ScoredCrawl(engine, Way(order("aopic", 3.0), 3, 3.0, (2, 1000), rejects=False))
    crawl.run(40)
    before, totals = crawl.rows(), crawl.scores.totals()
    crawl.open(crawl.sites[:1])
    assert crawl.scores.totals() == totals
    crawl.url_history = None
    crawl.run(40)
    assert crawl.cash() == pytest.approx(1.0, abs=1e-9)
    assert {site for (site, _), _ in crawl.asked[-20:]} == {crawl.sites[0]}
    after = crawl.rows()
    assert all(after[name] == row for name, row in before.items() if name[0] in crawl.sites[1:])
    crawl.reopen()
    crawl.check_cash()
    crawl.run(60)
    assert {site for (site, _), _ in crawl.asked[-40:]} == set(crawl.sites)
    crawl.reopen()
    crawl.check_cash()


@pytest.fixture
def limited(engine):
    """A crawl of a home page that links to one page."""
    crawl = ScoredCrawl(engine, Way(order("aopic"), sites=1, accidents=False))
    crawl.read(crawl.frontier.lease(crawl.now, 1)[0], {(1, 1): 1})
    return crawl


def test_page_excluded_by_a_lower_limit_returns_its_cash(limited):
    limited.limit(0)
    limited.check_cash()
    for _ in range(3):
        (lease,) = limited.frontier.lease(limited.now, 1)
        assert name_of(lease.url) == (1, 0)
        limited.read(lease, {(1, 1): 1})
    limited.limit(0)
    limited.check_cash()


def test_page_that_was_always_too_deep_is_requested_under_a_higher_limit(limited):
    limited.limit(1)
    (lease,) = limited.frontier.lease(limited.now, 1)
    limited.read(lease, {(1, 2): 1})
    assert limited.rows()[1, 2]["state"] == State.REJECTED
    limited.limit(2)
    limited.check_cash()
    limited.run(10)
    assert limited.rows()[1, 2]["state"] == State.DONE


@pytest.mark.parametrize("name", SCORED)
def test_page_that_was_gone_waits_again_when_it_is_found(name):
    scores = order(name)().scores
    assert scores is not None
    scores.add_waiting(1, 0)
    scores.add_waiting(2, 1)
    scores.remove_page(2)
    scores.add_waiting(2, 1)
    assert scores.queue(2) == 0
    if isinstance(scores, OPIC):
        scores.fetched(1, {2: 1.0})
        assert scores.cash(2) > 0.0
        assert cash_of(scores, (1, 2)) == pytest.approx(1.0)


@pytest.mark.both_stores
def test_every_page_is_requested_after_the_limit_was_lowered_and_raised(limited):
    for limit in (0, 1):
        limited.limit(limit)
    limited.check_cash()
    limited.run(10)
    assert limited.rows()[1, 1]["state"] == State.DONE


def test_unavailable_home_page_is_requested_when_the_crawl_resumes(limited):
    other = limited.engine.new_site()
    limited.sites.append(other)
    limited.open()
    limited.frontier.add([Candidate(other, target_of((other, 0)))], limited.now)
    lease = next(lease for lease in limited.frontier.lease(limited.now, 9) if lease.site_id == other)
    limited.acknowledge(lease, State.REFUSED, status=404, reason="status 404")
    limited.engine.held.flush()
    committed(retry_home_page, limited.engine.database, other, 0.0)
    limited.open()
    limited.url_history = None  # which does not model this
    limited.run(30)
    assert limited.rows()[other, 0]["state"] == State.DONE
