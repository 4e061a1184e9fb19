"""OPIC conserves cash, agrees with a naive implementation, resumes after a kill, and finds important pages."""

import math
import random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.opic import OPIC
from crawlers.algorithms.ranking.page_scores import GONE
from crawlers.storage.schema.score_tables import SCORE_ROWS
from tests.support.naive_opic import NaiveOPIC
from tests.support.scale_free import copy_model, rewired
from tests.support.scored_webs import Walk, errors, estimate, exact, l1, linked

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
    assert [lazy.history(page) for page in PAGES] == pytest.approx([naive.history.get(p, 0.0) for p in PAGES])
    assert lazy.ticks == naive.ticks
    if sum(naive.history.values()) > 1e-9 and lazy.pages:
        assert sum(lazy.importance(page) for page in PAGES) == pytest.approx(1.0)


@given(events, weights, st.sampled_from(["greedy", "cyclic", "random"]))
def test_cash_is_conserved_and_never_negative(events, weight, policy):
    scores = OPIC(policy, uncrawled_weight=weight)
    for event in events:
        happen(scores, [event])
        assert scores.total_cash() == pytest.approx(1.0, rel=1e-9)
        assert all(scores.cash(page) >= 0.0 and scores.history(page) >= 0.0 for page in PAGES)
        assert all(0.0 <= scores.importance(page) <= 1.0 + 1e-12 for page in PAGES)


@given(webs, walks)
def test_cash_and_payments_of_a_page_equal_its_income(web, walk):
    scores = walked(OPIC(), web, walk)
    given_to_each = scores.offset(0)  # by the virtual page, which has all the cash in the beginning
    assert scores.offset(1) == given_to_each
    got = dict.fromkeys(web, given_to_each)
    to_virtual = 1.0
    for page, targets in web.items():
        others = targets.keys() - {page}
        for target in others:
            got[target] += 0.85 * scores.history(page) / len(others)
        to_virtual += (0.15 if others else 1.0) * scores.history(page)
    for page in web:
        assert scores.history(page) + scores.cash(page) == pytest.approx(got[page], abs=1e-9)
    if walk:
        assert given_to_each * len(web) == pytest.approx(to_virtual, abs=1e-9)


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


def test_pages_found_before_the_first_fetch_share_the_total():
    scores = OPIC(virtual_share=1.0)
    happen(scores, [("add_waiting", 1, 0), ("add_waiting", 2, 0), ("fetched", 1, {2: 1.0})])
    assert scores.history(1) == 0.5
    assert (scores.cash(1), scores.cash(2)) == (0.25, 0.75)


def test_nothing_is_known_before_the_first_fetch():
    for scores in (OPIC(), OPIC(window=2.0)):
        scores.add_waiting(1, 0)
        assert (scores.cash(1), scores.importance(1)) == (0.0, 0.0)


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
    assert scores.total_cash() == pytest.approx(1.0, abs=1e-12)


def test_pages_that_move_in_a_circle_are_gone():
    scores = OPIC()
    happen(scores, [("add_waiting", page, 0) for page in (1, 2, 3)])
    happen(scores, [("record_alias", 1, 2), ("record_alias", 2, 1), ("record_alias", 3, 3)])
    assert [scores.queue(page) for page in (1, 2, 3)] == [GONE] * 3
    assert scores.total_cash() == 1.0


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
    assert sum((count - 10) ** 2 for count in counts) / 200 == pytest.approx(10, rel=0.3), (
        "as in a Poisson distribution"
    )


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
    with patch("crawlers.algorithms.ranking.opic._REBASE", -1.0):
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


def test_both_cases_agree_at_the_length_of_the_window():
    _, after, cash = history_after(gap=6, window=3.0)
    assert after == cash
    before, shorter, _ = history_after(gap=6, window=3.0 + 1e-9)
    assert shorter == pytest.approx(cash, abs=before * 1e-8)


def test_window_forgets_removed_links():
    rng = random.Random(1)
    web = copy_model(1000, rng)
    changed = rewired(web, 0.2, rng)
    truth = exact(changed)
    found = {}
    for name, scores in {"window": OPIC(window=2.0), "all": OPIC()}.items():
        walk = Walk(scores, web)
        walk.fetch(10_000)
        walk.links = linked(changed)
        walk.fetch(5_000)
        found[name] = l1(estimate(scores.weight, 1000), truth)
    assert found["window"] < 0.06 < found["all"]


# Importance ------------------------------------------------------------------------------------------


def test_greedy_crawl_approaches_pagerank_faster_than_a_random_one():
    web = copy_model(2000, random.Random(1))
    truth = exact(web)
    found = {}
    for policy in ("greedy", "random"):
        scores = OPIC(policy)
        walk = Walk(scores, web)
        rows = []
        for times in (1, 3, 10):
            walk.fetch(times * 2000 - scores.ticks)
            rows.append(errors(estimate(scores.importance, 2000), truth))
        found[policy] = rows
    taus = [tau for _, tau, _ in found["greedy"]]
    assert taus[0] > 0.86
    assert taus[1] > 0.95
    assert taus[2] > 0.985
    assert found["random"][2][0] > 2.2 * found["greedy"][2][0], "the errors after ten fetches a page"


def test_records_have_the_columns_of_the_table_in_the_store():
    assert SCORE_ROWS[OPIC.table]._fields[4:] == OPIC.columns
