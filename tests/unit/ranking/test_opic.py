"""OPIC conserves cash, agrees with a naive implementation, resumes after a kill, and finds important pages."""

from __future__ import annotations

import math
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import GONE
from crawlers.ranking.opic import OPIC, Aliases
from tests.support.naive_opic import NaiveOPIC, cash_of
from tests.support.scored_webs import Walk

PAGES = range(4092, 4100)  # of two blocks
pages = st.sampled_from(PAGES)
links = st.lists(pages, max_size=6).map(lambda targets: dict.fromkeys(targets, 1.0))
events = st.lists(
    st.one_of(
        st.tuples(st.just("add_waiting"), pages, st.integers(0, 3)),
        st.tuples(st.just("fetched"), pages, links),
        st.tuples(st.just("fetched"), pages, links),
        st.tuples(st.just("record_alias"), pages, pages),
        st.tuples(st.just("remove_page"), pages),
    ),
    max_size=60,
).map(lambda later: [("add_waiting", page, 0) for page in PAGES[:5]] + later)
windows = st.sampled_from([0.5, 1.0, 4.0, math.inf])
weights = st.sampled_from([1.0, 3.0, math.inf])
webs = st.lists(links, min_size=len(PAGES), max_size=len(PAGES)).map(lambda rows: dict(zip(PAGES, rows, strict=True)))
walks = st.lists(pages, max_size=80)


def happen(scores, events):
    for name, *arguments in events:
        getattr(scores, name)(*arguments)


def walked(scores, web, walk):
    happen(scores, [("add_waiting", page, 0) for page in web] + [("fetched", page, web[page]) for page in walk])
    return scores


def knows(scores):
    """Return all observable values."""
    of_pages = [
        (scores.queue(page), scores.score(page), scores.cash(page), scores.history(page), scores.importance(page))
        for page in PAGES
    ]
    return [of_pages, scores.offset(0), scores.offset(1), scores.totals(), scores.pages]


def best(scores):
    """Return the next page; ties go to the first."""
    waiting = [page for page in PAGES if scores.queue(page) != GONE]
    return min(waiting, key=lambda page: (-scores.score(page) - scores.offset(scores.queue(page)), page))


# Bookkeeping -----------------------------------------------------------------------------------------


@given(events, windows, weights)
def test_cash_equals_that_of_payments_page_by_page(events, window, weight):
    lazy = OPIC(window=window, uncrawled_weight=weight)
    naive = NaiveOPIC(window, weight)
    for event in events:
        happen(lazy, [event])
        naive.happens(event)
        assert [lazy.cash(page) for page in PAGES] == pytest.approx([naive.cash.get(p, 0.0) for p in PAGES], abs=1e-12)
        assert lazy.pages == len(naive.cash)
        assert cash_of(lazy, PAGES) == pytest.approx(1.0, rel=1e-9)
    assert [lazy.history(page) for page in PAGES] == pytest.approx([naive.history.get(p, 0.0) for p in PAGES])
    assert lazy.ticks == naive.ticks
    if sum(naive.history.values()) > 1e-9 and lazy.pages:
        assert sum(lazy.importance(page) for page in PAGES) == pytest.approx(1.0)


@given(webs, walks.filter(bool))
def test_importance_satisfies_its_equation_within_the_error_bound(web, walk):
    scores = walked(OPIC(), web, walk)
    importance = {page: scores.importance(page) for page in web}
    virtual = scores.offset(0) * len(web) / (sum(scores.history(page) for page in web) + 1.0)
    made = dict.fromkeys(web, virtual / len(web))
    to_virtual = 0.0
    for page, targets in web.items():
        others = targets.keys() - {page}
        for target in others:
            made[target] += 0.85 * importance[page] / len(others)
        to_virtual += (0.15 if others else 1.0) * importance[page]
    apart = sum(abs(importance[page] - made[page]) for page in web) + abs(virtual - to_virtual)
    assert apart <= 2.0 / sum(scores.history(page) for page in web) + 1e-12


# Pages that move -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e9, 1e308])
def test_no_cash_is_lost_at_any_uncrawled_weight(weight):
    scores = OPIC(uncrawled_weight=weight)
    for page in range(1, 11):
        scores.add_waiting(page, 0)
    for page in [*range(1, 11), *range(1, 11)]:
        scores.fetched(page, {1 + page % 10: 1.0})
    for page in range(11, 1000):
        scores.add_waiting(page, 0)
    scores.fetched(1, {})
    assert cash_of(scores, range(1, 1000)) == pytest.approx(1.0, abs=1e-12)


# Order -----------------------------------------------------------------------------------------------


@given(events, weights)
def test_page_with_the_most_cash_comes_first(events, weight):
    scores, naive = OPIC(uncrawled_weight=weight), NaiveOPIC(uncrawled_weight=weight)
    happen(scores, events)
    for event in events:
        naive.happens(event)
    if naive.cash:
        assert naive.cash[best(scores)] == pytest.approx(max(naive.cash.values()), abs=1e-12)


@given(events, weights, st.sampled_from(["greedy", "cyclic", "random"]))
def test_scores_rise_only_by_events_that_report_it(events, weight, policy):
    scores = OPIC(policy, uncrawled_weight=weight)
    for name, *arguments in events:
        before = {page: scores.score(page) for page in PAGES if scores.queue(page) != GONE}
        lead = scores.offset(1) - scores.offset(0)
        told = getattr(scores, name)(*arguments) or ()
        rose = {page for page, score in before.items() if scores.queue(page) != GONE and scores.score(page) > score}
        assert rose <= {*told, arguments[0]}
        assert scores.offset(1) - scores.offset(0) <= lead + 1e-15


def test_cyclic_policy_chooses_the_page_not_fetched_for_longest():
    scores = OPIC("cyclic")
    happen(scores, [("add_waiting", page, 0) for page in PAGES])
    order = []
    for _ in range(20):
        order.append(best(scores))
        scores.fetched(order[-1], {})
    assert order == [*PAGES, *PAGES, *PAGES][:20]


def test_random_policy_treats_all_pages_alike():
    web = {page: [page % 200 + 1] for page in range(1, 201)}
    walk = Walk(OPIC("random"), web)
    times = dict.fromkeys(web, 0)
    for _ in range(2000):
        times[walk.best()] += 1
        walk.fetch(1)
    counts = list(times.values())
    assert counts.count(0) <= 2, "with a probability of exp(-10) each"
    variance = sum((count - 10) ** 2 for count in counts) / 200
    assert variance == pytest.approx(10, rel=0.3), "as in a Poisson distribution"


# Recalled state --------------------------------------------------------------------------------------


@given(events, events, windows, weights, st.sampled_from(["greedy", "cyclic", "random"]), st.randoms())
def test_resumed_crawl_continues_as_if_it_had_not_been_killed(before, after, window, weight, policy, shuffle):
    first, second = (OPIC(policy, window=window, uncrawled_weight=weight) for _ in range(2))
    happen(first, before)
    second.recall_totals(first.totals())
    known = [page for page, _ in first._queues.items()]  # only known pages have a record in the store
    for page in shuffle.sample(known, len(known)):
        record = first.record(page)
        assert len(record) == len(first.columns)
        second.recall(page, first.queue(page), record)
    assert knows(second) == knows(first)
    happen(first, after)
    happen(second, after)
    assert knows(second) == knows(first)


@given(events, weights)
def test_rebase_changes_only_the_representation(events, weight):
    scores, other = OPIC(uncrawled_weight=weight), OPIC(uncrawled_weight=weight)
    happen(scores, events)
    happen(other, events)
    with patch("crawlers.ranking.opic._REBASE", -1.0):
        assert scores.rebase()
    assert (scores.offset(0), scores.offset(1)) == (0.0, 0.0)
    assert [scores.cash(page) for page in PAGES] == [other.cash(page) for page in PAGES]
    happen(scores, events)
    happen(other, events)
    assert [scores.cash(page) for page in PAGES] == pytest.approx([other.cash(page) for page in PAGES], abs=1e-12)


def test_rebase_is_due_when_offsets_outgrow_cash():
    scores = OPIC()
    happen(scores, [("add_waiting", 1, 0), ("fetched", 1, {})])
    assert not scores.rebase()
    totals = scores.totals()
    totals[3] = totals[4] = 2e9
    scores.recall_totals(totals)
    assert scores.rebase()
    assert not scores.rebase()


# The window -----------------------------------------------------------------------------------------


def history_after(gap, window):
    """Return the history of a page before and after a fetch *gap* ticks later, and its payment then."""
    scores = OPIC(window=window)
    for page in (1, 2):
        scores.add_waiting(page, 0)
    scores.fetched(1, {2: 1.0})
    for _ in range(gap - 1):
        scores.fetched(2, {1: 1.0})
    before, cash = scores.history(1), scores.cash(1)
    scores.fetched(1, {2: 1.0})
    return before, scores.history(1), cash


def test_cash_within_the_window_is_added_to_the_remaining_history():
    before, after, cash = history_after(gap=3, window=6.0)
    assert after == pytest.approx(before * (12 - 3) / 12 + cash)


def test_only_the_part_within_the_window_counts_after_a_longer_time():
    _, after, cash = history_after(gap=8, window=1.0)
    assert after == pytest.approx(cash * 2 / 8)


moves = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=30)


@given(moves)
def test_chains_end_for_any_moves_of_pages(moves):
    aliases, plain = Aliases(), {}
    for page, target in moves:
        aliases.add(page, target)
        end = target
        while end in plain:
            end = plain[end]
        if page not in plain and end != page:
            plain[page] = target
        for one in range(1, 9):
            end = one
            while end in plain:
                end = plain[end]
            assert aliases.representative(one) == end
    assert {page for page in range(1, 9) if aliases.get(page)} == plain.keys()
    assert bool(aliases) == bool(plain)


def test_long_chain_is_followed_once():
    aliases = Aliases()
    for page in range(1, 10_000):
        aliases.add(page, page + 1)
    assert aliases.get(1) == 2
    assert aliases.representative(1) == 10_000
    assert aliases.get(1) == aliases.get(5000) == 10_000
