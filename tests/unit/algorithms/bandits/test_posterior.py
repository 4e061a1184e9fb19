"""Thompson sampling draws without a generator; the bound of KL-UCB is at its distance."""

from __future__ import annotations

import math
import random
from statistics import fmean

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.index_rule import Pool
from crawlers.algorithms.bandits.posterior import Thompson, dispersion, gamma_quantile, poisson_bound, uniform
from tests.support.fragments import Crawl, rotting


@given(st.floats(1e-3, 1e4), st.floats(1e-3, 1e4))
def test_bound_of_a_poisson_mean_is_at_the_given_distance(mean: float, distance: float) -> None:
    bound = poisson_bound(mean, distance)
    assert bound > mean
    assume(bound / mean > 1 + 1e-4)  # closer than that, rounding errors dominate
    assert bound - mean + mean * math.log(mean / bound) == pytest.approx(distance, rel=1e-4)


def test_bound_at_distance_zero_is_the_mean() -> None:
    assert poisson_bound(3.0, 0.0) == 3.0
    assert poisson_bound(0.0, 0.5) == 0.5
    assert poisson_bound(3.0, 1e-12) == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("shape", [1.0, 2.0, 7.5, 100.0])
def test_gamma_quantiles_agree_with_random_draws(shape: float) -> None:
    rng = random.Random(1)
    draws = sorted(rng.gammavariate(shape, 1.0) for _ in range(100_000))
    for p in (0.5, 0.8, 0.95, 0.99):
        assert gamma_quantile(shape, p) == pytest.approx(draws[int(p * len(draws))], rel=0.025)
    assert gamma_quantile(shape, 1e-9) >= 0.0


def test_pseudorandom_numbers_are_uniform_and_uncorrelated() -> None:
    lots = [uniform(7, pulls, arm) for pulls in range(200) for arm in range(100)]
    assert fmean(lots) == pytest.approx(0.5, abs=0.01)
    assert fmean((lot - 0.5) ** 2 for lot in lots) == pytest.approx(1 / 12, abs=0.002)
    for lag in (1, 100):
        products = [(a - 0.5) * (b - 0.5) for a, b in zip(lots, lots[lag:], strict=False)]
        assert fmean(products) == pytest.approx(0.0, abs=0.002)
    assert 0.0 < min(lots) < max(lots) < 1.0


def test_pseudorandom_numbers_are_those_of_splitmix64() -> None:
    first = 0xE220A8397B1DCDAF  # of the reference implementation, from the seed 0
    assert uniform(0) == ((first >> 12) + 0.5) / 2**52


def test_choices_are_those_of_the_published_measurements() -> None:
    chosen = Crawl(Thompson(1), rotting(2, 6)).run(24)
    assert chosen == [0, 1, 2, 3, 4, 5, 3, 5, 1, 1, 2, 3, 1, 3, 0, 4, 1, 1, 0, 1, 4, 0, 1, 1]


def pool(*rewards: float) -> Pool:
    found = Pool(len(rewards))
    found.total, found.total_sq = sum(rewards), sum(reward**2 for reward in rewards)
    return found


def test_dispersion_is_the_ratio_of_variance_to_mean_and_at_least_one() -> None:
    assert dispersion(pool(0, 0, 0)) == 1.0
    assert dispersion(pool(1, 1, 1)) == 1.0, "at least that of a Poisson count"
    assert dispersion(pool(*[0] * 9, 50)) == pytest.approx((250 - 25) / 5)


def test_thompson_sampling_discounts_old_rewards() -> None:
    rule = Thompson()
    for _ in range(2):
        for reward in [10.0] * 50 + [0.0] * 200:
            rule.record_reward("a", reward)
    arm = rule._arms[0]
    assert arm.discounted_total < 0.01
    assert arm.discounted_pulls == pytest.approx(20.0, rel=0.01)
