"""The plan keeps the budget and the bounds, learns rates, and polls feeds before items are lost."""

import math
import random
import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, norm

from crawlers.missions.news.plan.poll_plan import (
    NEVER,
    PRIOR_ITEMS,
    PRIOR_SECONDS,
    ArrivalRate,
    PollLimits,
    PollPlan,
    PollState,
    best_visits,
    harmonic,
    lambda_crawl,
    safe_s,
)

HOUR, DAY = 3600.0, 86_400.0


def poisson(mean, rng):
    number, at = 0, rng.expovariate(1.0)
    while at < mean:
        number, at = number + 1, at + rng.expovariate(1.0)
    return number


def polled(rate, per_s, every_s, polls, rng):
    for _ in range(polls):
        rate = rate.after(poisson(per_s * every_s, rng), every_s)
    return rate


@pytest.mark.parametrize("per_hour", [20.0, 2.0, 0.25])
def test_estimate_approaches_the_rate_of_the_feed(per_hour):
    found = [
        polled(ArrivalRate(), per_hour / HOUR, min(1.0, 5 / per_hour) * HOUR, 200, random.Random(seed)).per_s * HOUR
        for seed in range(10)
    ]
    assert statistics.fmean(found) == pytest.approx(per_hour, rel=0.15)


def test_poll_with_only_new_items_indicates_that_there_were_more():
    rate = ArrivalRate(items=10, seconds=10 * HOUR)
    counted, full = rate.after(10, HOUR), rate.after(10, HOUR, is_full=True)
    assert counted == ArrivalRate(10, HOUR)
    assert full == ArrivalRate(20, HOUR)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(1.0, 1e7)), max_size=20))
def test_states_stay_within_bounds_and_another_item_never_lowers_the_rate(polls):
    rate = ArrivalRate()
    for new_items, elapsed_s in polls:
        more = rate.after(new_items + 1, elapsed_s)
        rate = rate.after(new_items, elapsed_s)
        assert 0.0 <= rate.seconds <= 3 * DAY * (1 + 1e-9)
        assert 0.0 < rate.per_s <= rate.upper_per_s(3.0)
        assert more.per_s >= rate.per_s
        assert rate.upper_per_s(2.0) <= rate.upper_per_s(3.0)


@pytest.mark.parametrize("items", [0, 1, 3, 10, 100])
@pytest.mark.parametrize("deviations", [1.0, 2.0, 3.0])
def test_upper_bound_is_a_quantile_of_the_gamma_distribution(items, deviations):
    rate = ArrivalRate(items, HOUR)
    exact = gamma.ppf(norm.cdf(deviations), items + PRIOR_ITEMS) / (HOUR + PRIOR_SECONDS)
    assert rate.upper_per_s(deviations) == pytest.approx(exact, rel=0.04)


values = st.floats(1e-6, 1e3)
pages = st.lists(st.tuples(values, st.integers(0, 2)), min_size=1, max_size=8)
some = settings(max_examples=40, deadline=None, derandomize=True)


def unbounded(rates, budget):
    return lambda_crawl(
        rates, budget, np.zeros(len(rates)), math.inf, np.zeros(len(rates), np.int64), np.array([math.inf])
    )


@some
@given(pages, values)
def test_whole_budget_is_spent_with_equal_marginal_values(pages, budget):
    rates, _ = (np.array(column) for column in zip(*pages, strict=True))
    found = unbounded(rates, budget)
    assert found.rates.sum() <= budget * (1 + 1e-12)
    assert found.rates.sum() == pytest.approx(budget, rel=1e-9)
    worth = rates / (found.rates * (found.rates + rates))
    assert worth == pytest.approx(np.full(len(pages), found.price), rel=1e-9)


@some
@given(pages, values, st.floats(0.01, 1.0), st.floats(1.0, 100.0), st.lists(values, min_size=3, max_size=3))
def test_bounds_and_caps_are_kept_with_equal_marginal_values_between_them(pages, budget, low, high, caps):
    rates, hosts = (np.array(column) for column in zip(*pages, strict=True))
    lowest, highest = np.full(len(rates), low * budget / 10), high * budget / 10
    found = lambda_crawl(rates, budget, lowest, highest, hosts, np.array(caps))
    of_hosts = np.bincount(hosts, found.rates, 3)
    granted = lowest * found.host_shares[hosts] * found.share
    assert found.rates.sum() <= budget * (1 + 1e-9)
    assert (of_hosts <= np.array(caps) * (1 + 1e-9)).all()
    assert (found.rates >= granted * (1 - 1e-9)).all()
    assert (found.rates <= highest * (1 + 1e-9)).all()
    for visits, rate, host, least in zip(found.rates, rates, hosts, granted, strict=True):
        price = max(found.price, found.host_prices[host])
        worth = rate / (visits * (visits + rate))
        if visits > least * (1 + 1e-6):
            assert worth >= price * (1 - 1e-6)
        if visits < highest * (1 - 1e-6):
            assert worth <= price * (1 + 1e-6)
    is_spent = found.rates.sum() > budget * (1 - 1e-6)
    assert all(
        is_spent or visits > highest * (1 - 1e-6) or of_hosts[host] > caps[host] * (1 - 1e-6)
        for visits, host in zip(found.rates, hosts, strict=True)
    )


@some
@given(pages, values, st.integers(0, 7), st.floats(1.01, 10.0))
def test_page_with_a_greater_change_rate_gets_more_visits(pages, budget, which, times):
    which %= len(pages)
    rates, _ = (np.array(column) for column in zip(*pages, strict=True))
    before = unbounded(rates, budget).rates[which]
    rates[which] *= times
    assert unbounded(rates, budget).rates[which] >= before * (1 - 1e-9)


def test_lowest_rates_are_reduced_in_proportion_if_the_budget_or_a_cap_is_too_small():
    one = np.zeros(2, np.int64)
    found = lambda_crawl(np.array([9.0, 1.0]), 3.0, np.array([4.0, 2.0]), math.inf, one, np.array([math.inf]))
    assert found.rates == pytest.approx([2.0, 1.0])
    assert (found.share, found.price) == (0.5, math.inf)
    hosts, caps = np.array([0, 0, 1]), np.array([1.5, 9.0])
    found = lambda_crawl(np.array([9.0, 1.0, 1.0]), 3.0, np.array([4.0, 2.0, 0.0]), math.inf, hosts, caps)
    assert found.rates == pytest.approx([1.0, 0.5, 1.5])
    assert (found.share, found.host_shares.tolist()) == (1.0, [0.25, 1.0])


def test_page_without_changes_gets_its_lowest_rate():
    one = np.zeros(3, np.int64)
    found = lambda_crawl(np.array([0.0, 1.0, 1.0]), 1.0, np.full(3, 0.125), math.inf, one, np.array([math.inf]))
    assert found.rates == pytest.approx([0.125, 0.4375, 0.4375])


@some
@given(values, st.floats(1e-9, 1e9))
def test_formula_for_one_page_equals_that_for_many(rate, price):
    of_many = harmonic(np.array([rate]), np.array([price]))[0]
    assert best_visits(rate, price) == pytest.approx(of_many, rel=1e-12)
    assert best_visits(rate, 0.0) == math.inf


QUIET, BUSY = PollState(0.0, 20, ArrivalRate(1.0, DAY)), PollState(0.0, 20, ArrivalRate(30.0, 2 * HOUR))


def steady(plan, per_hour, hours):
    """Return the times of polls of feeds that publish at equal intervals and show 20 dated items."""
    polled = {feed: [] for feed in per_hour}
    due = {feed: plan.add(feed, feed, 0.0) for feed in per_hour}
    while (now := min(due.values())) < hours * HOUR:
        feed = min(due, key=due.__getitem__)
        rate, before = per_hour[feed] / HOUR, polled[feed][-1] if polled[feed] else None
        new = 20 if before is None else int(rate * now) - int(rate * before)
        due[feed] = plan.record_poll(feed, now, min(20, new), 20, 20 / rate)
        polled[feed].append(now)
    return polled


def test_first_polls_of_feeds_added_together_are_spread():
    plan = PollPlan(2.0)
    first = [plan.add(feed, 0, 100.0) for feed in range(5000)]
    assert min(first) >= 100.0
    assert all(later - earlier == pytest.approx(0.5) for earlier, later in pairwise(first))


def test_budget_is_used_and_not_exceeded():
    rng = random.Random(1)
    polled = steady(PollPlan(0.05), {feed: rng.lognormvariate(-1, 1) for feed in range(60)}, 48)
    polls = sum(at > 24 * HOUR for times in polled.values() for at in times)
    assert polls / DAY == pytest.approx(0.05, rel=0.08)


def test_feeds_that_publish_more_are_polled_more_and_all_are_polled():
    polled = steady(PollPlan(0.01), {1: 10.0, 2: 1.0, 3: 0.01}, 72)
    assert len(polled[1]) > 1.5 * len(polled[2]) > 2 * len(polled[3])
    assert len(polled[3]) >= 72 / 6 - 2


def test_intervals_stay_within_the_limits():
    limits = PollLimits(shortest_s=120.0, longest_s=2 * HOUR)
    rich = PollPlan(10.0, limits)
    rich.add(1, 1, 0.0, BUSY)
    assert rich.record_poll(1, 100.0, 10, 20) == 220.0
    poor = PollPlan(1.2 / HOUR, limits)
    poor.add(1, 1, 0.0, BUSY)
    poor.add(2, 1, 0.0, QUIET)
    poor.record_poll(1, 50.0, 0, 20)
    assert 0.9 * 2 * HOUR <= poor.record_poll(2, 50.0, 0, 20) - 50.0 <= 2 * HOUR
    assert PollLimits(longest_s=DAY).slowest_s == 6 * HOUR


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(0.0, 100.0), st.floats(60.0, 1e6), st.integers(1, 100))
def test_safe_interval_prevents_overflow_of_the_window(items, seconds, window):
    rate = ArrivalRate(items, seconds)
    assert safe_s(rate, window) * rate.per_s <= window / 2
    assert safe_s(rate, window + 1) > safe_s(rate, window)


def test_deadline_has_priority_over_windows_if_the_budget_is_too_small():
    plan = PollPlan(11 / (6 * HOUR))
    for feed in range(10):
        plan.add(feed, feed, 0.0, BUSY if feed < 5 else QUIET)
    assert plan.record_poll(9, HOUR, 0, 20) - HOUR <= 6 * HOUR
    assert plan.warning


def test_polls_use_half_of_the_requests_that_the_delay_of_a_host_allows():
    plan = PollPlan(1.0)
    plan.set_delay(7, 10.0)
    for feed in range(40):
        plan.add(feed, 7 if feed < 20 else feed, 0.0, PollState(0.0, 50, ArrivalRate(10.0, DAY)))
    for feed in range(40):
        plan.record_poll(feed, 0.5 * HOUR, 0, 50)
    waits = [plan.record_poll(feed, HOUR, 0, 50) - HOUR for feed in range(40)]
    assert sum(1 / wait for wait in waits[:20]) == pytest.approx(0.05, rel=0.1)
    assert max(waits[20:]) < min(waits[:20])
    assert plan.warning == ""
    plan.set_delay(7, 50_000.0)
    for feed in range(40):
        plan.record_poll(feed, 2 * HOUR, 0, 50)
    assert plan.warning
    assert "that their feeds need: 1 (at worst, " in plan.warning


def test_dates_of_items_give_the_rate_at_the_first_poll():
    plan = PollPlan(1.0)
    for feed in (1, 2, 3):
        plan.add(feed, feed, 0.0)
        plan.record_poll(feed, 60.0, 20, 20, {1: 2 * HOUR, 2: 60 * DAY}.get(feed))
    busy, quiet, unknown = (plan.state(feed).rate.per_s * HOUR for feed in (1, 2, 3))
    assert busy == pytest.approx(9.0, rel=0.05)
    assert quiet < 0.05
    assert unknown == ArrivalRate().per_s * HOUR


def test_failed_poll_is_retried_soon_and_then_less_often():
    plan = PollPlan(0.01)
    plan.add(1, 1, 0.0, PollState(0.0, 50, ArrivalRate(1.0, DAY)))
    plan.add(2, 2, 0.0)
    plan.record_poll(1, 0.0, 0, 50)
    now, waits = 6 * HOUR, []
    for attempts in range(1, 250):
        later = plan.record_failure(1, now, attempts)
        waits.append(later - now)
        now = later
    assert waits[:3] == [60.0, 120.0, 240.0]
    assert max(wait for wait in waits if wait < 2 * HOUR) <= HOUR
    assert max(waits) == pytest.approx(6 * HOUR) == waits[-1]
    assert plan.record_failure(2, 0.0, 10_000) == 6 * HOUR


def test_failed_poll_is_retried_24_times_within_the_deadline():
    plan = PollPlan(1e-6)
    plan.add(1, 1, 0.0, QUIET)
    plan.record_poll(1, 0.0, 0, 20)
    assert plan.record_failure(1, HOUR, 10) == 1.5 * HOUR
    assert plan.record_failure(1, 24 * HOUR, 10) == 30 * HOUR


def test_polls_of_a_removed_feed_go_to_the_others():
    plan = PollPlan(0.01)
    for feed in range(10):
        plan.add(feed, feed, 0.0, QUIET)
    among_ten = plan.record_poll(9, HOUR, 0, 20) - HOUR
    for feed in range(9):
        plan.remove(feed)
    assert len(plan) == 1
    assert plan.state(9).polled_at == HOUR
    assert plan.record_poll(9, 2 * HOUR, 0, 20) - 2 * HOUR < among_ten / 5
    with pytest.raises(KeyError):
        plan.state(3)


def test_feed_can_be_added_only_once():
    plan = PollPlan(1.0)
    plan.add(1, 1, 0.0)
    assert plan.state(1) == PollState(NEVER, 10, ArrivalRate())
    with pytest.raises(ValueError, match="feed 1 was added before"):
        plan.add(1, 1, 0.0)


def test_budget_is_not_redistributed_at_every_poll(monkeypatch):
    times = []
    original = PollPlan._share_out
    monkeypatch.setattr(PollPlan, "_share_out", lambda plan: (times.append(1), original(plan)))
    plan, rng = PollPlan(1.0), random.Random(1)
    for feed in range(400):
        plan.add(feed, feed, 0.0)
    for turn in range(2000):
        plan.record_poll(turn % 400, 10.0 * turn, rng.choice((0, 20)), 20)
    assert 10 <= len(times) <= 2000 * 16 / 400
