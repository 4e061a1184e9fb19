"""LambdaCrawl spends the whole budget where it has the greatest effect, within all bounds."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.algorithms.news.revisit_rates import best_visits, harmonic, lambda_crawl

values = st.floats(1e-6, 1e3)
pages = st.lists(st.tuples(values, values, st.integers(0, 2)), min_size=1, max_size=8)
Pages = list[tuple[float, float, int]]
some = settings(max_examples=40, deadline=None, derandomize=True)


def cost(weights: list[float], rates: list[float], visits: list[float]) -> float:
    rows = zip(weights, rates, visits, strict=True)
    return sum(weight * math.log((rate + visit) / visit) for weight, rate, visit in rows)


@some
@given(pages, values)
def test_whole_budget_is_spent_with_equal_marginal_values(pages: Pages, budget: float) -> None:
    weights, rates, _ = (np.array(column) for column in zip(*pages, strict=True))
    found = lambda_crawl(weights, rates, budget)
    assert found.rates.sum() <= budget * (1 + 1e-12)
    assert found.rates.sum() == pytest.approx(budget, rel=1e-9)
    worth = weights * rates / (found.rates * (found.rates + rates))
    assert worth == pytest.approx(np.full(len(pages), found.price), rel=1e-9)


@some
@given(pages, values, st.floats(0.01, 1.0), st.floats(1.0, 100.0), st.lists(values, min_size=3, max_size=3))
def test_bounds_and_caps_are_kept_with_equal_marginal_values_between_them(
    pages: Pages, budget: float, low: float, high: float, caps: list[float]
) -> None:
    weights, rates, hosts = (np.array(column) for column in zip(*pages, strict=True))
    lowest, highest = low * budget / 10, high * budget / 10
    found = lambda_crawl(weights, rates, budget, lowest=lowest, highest=highest, hosts=hosts, host_caps=caps)
    of_hosts = np.bincount(hosts, found.rates, 3)
    granted = lowest * found.host_shares[hosts] * found.share
    assert found.rates.sum() <= budget * (1 + 1e-9)
    assert (of_hosts <= np.array(caps) * (1 + 1e-9)).all()
    assert (found.rates >= granted * (1 - 1e-9)).all()
    assert (found.rates <= highest * (1 + 1e-9)).all()
    for visits, weight, rate, host, least in zip(found.rates, weights, rates, hosts, granted, strict=True):
        price = max(found.price, found.host_prices[host])
        worth = weight * rate / (visits * (visits + rate))
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
def test_page_with_a_greater_weight_or_change_rate_gets_more_visits(
    pages: Pages, budget: float, which: int, times: float
) -> None:
    which %= len(pages)
    weights, rates, _ = (np.array(column) for column in zip(*pages, strict=True))
    before = lambda_crawl(weights, rates, budget).rates[which]
    for column in (weights, rates):
        column[which] *= times
        assert lambda_crawl(weights, rates, budget).rates[which] >= before * (1 - 1e-9)
        column[which] /= times


@some
@given(pages, values, st.floats(1e-9, 1e9))
def test_units_of_time_and_weight_do_not_matter(pages: Pages, budget: float, times: float) -> None:
    weights, rates, _ = (np.array(column) for column in zip(*pages, strict=True))
    before = lambda_crawl(weights, rates, budget).rates
    assert lambda_crawl(weights * times, rates, budget).rates == pytest.approx(before, rel=1e-8)
    assert lambda_crawl(weights, rates * times, budget * times).rates / times == pytest.approx(before, rel=1e-8)


def test_no_other_allocation_of_the_budget_costs_less() -> None:
    rng = random.Random(1)
    weights, rates = [[rng.lognormvariate(0, 1) for _ in range(6)] for _ in range(2)]
    visits = lambda_crawl(weights, rates, 2.0).rates.tolist()
    best = cost(weights, rates, visits)
    for _ in range(200):
        other = [visit * rng.uniform(0.7, 1.4) for visit in visits]
        assert cost(weights, rates, [visit * 2.0 / sum(other) for visit in other]) >= best


def test_lowest_rates_are_reduced_in_proportion_if_the_budget_or_a_cap_is_too_small() -> None:
    found = lambda_crawl([1, 5], [9, 1], 3.0, lowest=[4.0, 2.0])
    assert found.rates == pytest.approx([2.0, 1.0])
    assert (found.share, found.price) == (0.5, math.inf)
    found = lambda_crawl([1, 5, 1], [9, 1, 1], 3.0, lowest=[4.0, 2.0, 0.0], hosts=[0, 0, 1], host_caps=[1.5, 9.0])
    assert found.rates == pytest.approx([1.0, 0.5, 1.5])
    assert (found.share, found.host_shares.tolist()) == (1.0, [0.25, 1.0])


def test_page_without_changes_or_weight_gets_its_lowest_rate() -> None:
    assert lambda_crawl([1, 0, 1], [0, 1, 1], 1.0, lowest=0.125).rates == pytest.approx([0.125, 0.125, 0.75])


@some
@given(values, values, st.floats(1e-9, 1e9))
def test_formula_for_one_page_equals_that_for_many(weight: float, rate: float, price: float) -> None:
    of_many = harmonic(np.array([weight]), np.array([rate]), np.array([price]))[0]
    assert best_visits(weight, rate, price) == pytest.approx(of_many, rel=1e-12)
    assert best_visits(weight, rate, 0.0) == math.inf
