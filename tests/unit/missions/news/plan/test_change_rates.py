"""The estimated rate follows a feed that is steady, dead or active again."""

import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, norm

from crawlers.missions.news.plan.poll_plan import PRIOR_ITEMS, PRIOR_SECONDS, ArrivalRate

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
