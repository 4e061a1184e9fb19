"""LambdaCrawl spends the whole budget where it has the greatest effect, within all bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.missions.news.plan.poll_plan import best_visits, harmonic, lambda_crawl

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
