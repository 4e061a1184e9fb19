"""The plan keeps the budget and the bounds, learns rates, and polls feeds before items are lost."""

import json
import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, norm

from crawlers.frontier.values import Lease
from crawlers.missions.news.news_items import FEED
from crawlers.missions.news.plan.poll_plan import (
    PRIOR_ITEMS,
    PRIOR_SECONDS,
    ArrivalRate,
    PollLimits,
    distribution,
    safe_s,
)
from crawlers.missions.news.plan.polls import Polls
from crawlers.missions.news.stored.news_tables import PollRow
from crawlers.store.writing.change_set import ChangeSet

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
some = settings(max_examples=40, deadline=None, derandomize=True)
feeds = st.lists(values, min_size=1, max_size=8)


def visits(rates, budget, lowest=0.0, highest=1e9, in_time=0.0):
    rates = np.array(rates)
    bounds = np.full(len(rates), lowest), np.full(len(rates), highest)
    plan = distribution(rates, *bounds, budget, in_time)
    return plan, plan.visits(rates, *bounds)


@some
@given(feeds, values, st.floats(0.0, 1.0), st.floats(1.0, 100.0))
def test_whole_budget_is_spent_within_bounds_where_a_further_poll_shortens_the_mean_delay_most(
    rates, budget, low, high
):
    lowest, highest = low * budget / 10, high * budget / 10
    _, found = visits(rates, budget, lowest, highest)
    assert found.sum() == pytest.approx(min(budget, len(rates) * highest), rel=1e-8)
    assert all(lowest * (1 - 1e-9) <= polls <= highest * (1 + 1e-9) for polls in found)
    worth = [(rate / polls**2, polls) for rate, polls in zip(rates, found, strict=True)]
    could_get = [value for value, polls in worth if polls < highest * (1 - 1e-6)]
    could_give = [value for value, polls in worth if polls > lowest * (1 + 1e-6)]
    assert max(could_get, default=0.0) <= min(could_give, default=math.inf) * (1 + 1e-6)


@some
@given(feeds, values, st.integers(0, 7), st.floats(1.01, 10.0))
def test_page_with_a_greater_change_rate_gets_more_visits(rates, budget, which, times):
    which %= len(rates)
    _, before = visits(rates, budget)
    rates[which] *= times
    assert visits(rates, budget)[1][which] >= before[which] * (1 - 1e-8)


def test_lowest_rates_are_reduced_in_proportion_if_the_budget_is_too_small():
    lowest = np.array([4.0, 2.0])
    plan = distribution(np.array([9.0, 1.0]), lowest, np.full(2, 9.0), 3.0, 4.0)
    assert plan.visits(np.array([9.0, 1.0]), lowest, np.full(2, 9.0)) == pytest.approx([2.0, 1.0])
    assert (plan.share, plan.window_share) == (0.5, 1.0)
    plan = distribution(np.array([9.0, 1.0]), lowest, np.full(2, 9.0), 3.0, 1.0)  # windows have what is left of it
    assert plan.visits(np.array([9.0, 1.0]), lowest, np.full(2, 9.0)) == pytest.approx([1.75, 1.25])
    assert (plan.share, plan.window_share) == (1.0, 0.25)


QUIET, BUSY = ArrivalRate(1.0, DAY), ArrivalRate(30.0, 2 * HOUR)


class Feeds(Polls):
    """Feeds by number, which is also that of their site unless it is given."""

    def __init__(self, per_s, limits=None):
        super().__init__(per_s, limits or PollLimits(), most_pages=20)
        self.changes = ChangeSet()

    def add(self, feed, rate, site=None, window=20):
        state = json.dumps([*rate, window, 0.0])
        self.recall([PollRow(feed, site or feed, FEED, 0.0, 0.0, 1, 0, 0, None, state, None)], 0.0)

    def poll(self, feed, now, new_items, shown, span_s=None):
        lease = Lease(feed, feed, 0, "", 1, 0, 0, None, now)
        counts = {"new_items": new_items, "shown": shown}
        return self.record_poll(lease, FEED, now, self.changes, **counts, span_s=span_s)

    def fail(self, feed, now):
        return self.record_failure(Lease(feed, feed, 0, "", 1, 0, 0, None, now), FEED, now, self.changes, "timeout")

    @property
    def warning(self):
        return self._warning


def steady(plan, per_hour, hours):
    """Return the times of polls of feeds that publish at equal intervals and show 20 dated items."""
    polled = {feed: [] for feed in per_hour}
    due = dict.fromkeys(per_hour, 0.0)
    while (now := min(due.values())) < hours * HOUR:
        feed = min(due, key=due.__getitem__)
        rate, before = per_hour[feed] / HOUR, polled[feed][-1] if polled[feed] else None
        new = 20 if before is None else int(rate * now) - int(rate * before)
        due[feed] = plan.poll(feed, now, min(20, new), 20, 20 / rate)
        polled[feed].append(now)
    return polled


def test_budget_is_used_and_not_exceeded():
    rng = random.Random(1)
    polled = steady(Feeds(0.05), {feed: rng.lognormvariate(-1, 1) for feed in range(60)}, 48)
    polls = sum(at > 24 * HOUR for times in polled.values() for at in times)
    assert polls / DAY == pytest.approx(0.05, rel=0.08)


def test_feeds_that_publish_more_are_polled_more_and_all_are_polled():
    polled = steady(Feeds(0.01), {1: 10.0, 2: 1.0, 3: 0.01}, 72)
    assert len(polled[1]) > 1.5 * len(polled[2]) > 2 * len(polled[3])
    assert len(polled[3]) >= 72 / 6 - 2


def test_intervals_stay_within_the_limits():
    limits = PollLimits(shortest_s=120.0, longest_s=2 * HOUR)
    rich = Feeds(10.0, limits)
    rich.add(1, BUSY)
    assert rich.poll(1, 100.0, 10, 20) == 220.0
    poor = Feeds(1.2 / HOUR, limits)
    poor.add(1, BUSY)
    poor.add(2, QUIET)
    poor.poll(1, 50.0, 0, 20)
    assert 0.9 * 2 * HOUR <= poor.poll(2, 50.0, 0, 20) - 50.0 <= 2 * HOUR
    assert PollLimits(longest_s=DAY).slowest_s == 6 * HOUR


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(0.0, 100.0), st.floats(60.0, 1e6), st.integers(1, 100))
def test_safe_interval_prevents_overflow_of_the_window(items, seconds, window):
    rate = ArrivalRate(items, seconds)
    assert safe_s(rate, window) * rate.per_s <= window / 2
    assert safe_s(rate, window + 1) > safe_s(rate, window)


def test_deadline_has_priority_over_windows_if_the_budget_is_too_small():
    plan = Feeds(11 / (6 * HOUR))
    for feed in range(10):
        plan.add(feed, BUSY if feed < 5 else QUIET)
    assert plan.poll(9, HOUR, 0, 20) - HOUR <= 6 * HOUR
    assert "; increase FEED_POLLS_PER_SECOND=0.000509259 to " in plan.warning
    plan.divide(2)
    plan.poll(9, HOUR, 0, 20)
    assert ", of 0.000255 for this worker; increase " in plan.warning


def test_polls_use_half_of_the_requests_that_the_delay_of_a_host_allows():
    plan = Feeds(1.0)
    plan.set_delay(7, 10.0)
    for feed in range(40):
        plan.add(feed, ArrivalRate(10.0, DAY), 7 if feed < 20 else None, window=50)
    for feed in range(40):
        plan.poll(feed, 0.5 * HOUR, 0, 50)
    waits = [plan.poll(feed, HOUR, 0, 50) - HOUR for feed in range(40)]
    assert sum(1 / wait for wait in waits[:20]) == pytest.approx(0.05, rel=0.1)
    assert max(waits[20:]) < min(waits[:20])
    assert plan.warning == ""
    plan.set_delay(7, 50_000.0)
    for feed in range(40):
        plan.poll(feed, 2 * HOUR, 0, 50)
    assert "that their feeds need: 1 (at worst, " in plan.warning


def test_dates_of_items_give_the_rate_at_the_first_poll():
    plan = Feeds(1.0)
    for feed in (1, 2, 3):
        plan.poll(feed, 60.0, 20, 20, {1: 2 * HOUR, 2: 60 * DAY}.get(feed))
    busy, quiet, unknown = (ArrivalRate(*json.loads(row.rate)[:2]).per_s * HOUR for row in plan.changes[PollRow])
    assert busy == pytest.approx(9.0, rel=0.05)
    assert quiet < 0.05
    assert unknown == ArrivalRate().per_s * HOUR


def test_failed_poll_is_retried_soon_and_then_less_often():
    plan = Feeds(0.01)
    plan.add(1, ArrivalRate(1.0, DAY), window=50)
    plan.fail(2, 0.0)
    plan.poll(1, 0.0, 0, 50)
    now, waits = 6 * HOUR, []
    for _ in range(250):
        later = plan.fail(1, now)
        waits.append(later - now)
        now = later
    assert waits[:3] == [60.0, 120.0, 240.0]
    assert max(wait for wait in waits if wait < 2 * HOUR) <= HOUR
    assert max(waits) == pytest.approx(6 * HOUR) == waits[-1]
    assert [plan.fail(2, 0.0) for _ in range(20)][-1] == 6 * HOUR


def test_failed_poll_is_retried_24_times_within_the_deadline():
    plan = Feeds(1e-6)
    plan.add(1, QUIET)
    plan.poll(1, 0.0, 0, 20)
    assert [plan.fail(1, HOUR) for _ in range(10)][-1] == 1.5 * HOUR
    assert plan.fail(1, 24 * HOUR) == 30 * HOUR


def test_polls_of_a_removed_feed_go_to_the_others():
    plan = Feeds(0.01)
    for feed in range(10):
        plan.add(feed, QUIET)
    among_ten = plan.poll(9, HOUR, 0, 20) - HOUR
    for feed in range(9):
        plan.forget(feed)
    assert plan.poll(9, 2 * HOUR, 0, 20) - 2 * HOUR < among_ten / 5


def test_budget_is_not_redistributed_at_every_poll(monkeypatch):
    times = []
    original = Polls._make_plan
    monkeypatch.setattr(Polls, "_make_plan", lambda plan: (times.append(1), original(plan)))
    plan, rng = Feeds(1.0), random.Random(1)
    for feed in range(400):
        plan.add(feed, QUIET)
    for turn in range(2000):
        plan.poll(turn % 400, 10.0 * turn, rng.choice((0, 20)), 20)
    assert 10 <= len(times) <= 2000 * 16 / 400
