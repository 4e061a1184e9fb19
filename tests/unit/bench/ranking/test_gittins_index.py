"""Gittins indices: published values, and what the theory says of them whatever the values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.ranking.gittins_index import gittins_bernoulli, gittins_poisson


@pytest.mark.parametrize(
    ("a", "b", "discount", "index"),
    [(1, 1, 0.9, 0.7029), (2, 1, 0.9, 0.8001), (1, 1, 0.99, 0.8699), (2, 1, 0.99, 0.9102), (1, 2, 0.99, 0.7005)],
)
def test_bernoulli_indices_are_those_of_the_tables(a: int, b: int, discount: float, index: float) -> None:
    assert gittins_bernoulli(a, b, discount) == pytest.approx(index, abs=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "discount", "index"),
    [
        (1, 1, 0.99, 3.385),
        (1, 1, 0.9, 1.900),
        (5, 5, 0.9, 1.253),
        (10, 10, 0.9, 1.137),
        (5, 5, 0.99, 1.698),
        (10, 10, 0.99, 1.402),
        (2, 10, 0.99, 0.404),
        (20, 100, 0.99, 0.2258),
        (100, 50, 0.99, 2.145),
    ],
)
def test_poisson_indices_are_those_known(a: int, b: int, discount: float, index: float) -> None:
    assert gittins_poisson(a, b, discount) == pytest.approx(index, abs=1e-3)


few = settings(max_examples=8)
discounts = st.sampled_from([0.5, 0.8])


@few
@given(st.integers(1, 9), st.integers(1, 9), discounts)
def test_the_index_is_above_the_mean_and_rises_with_what_the_future_is_worth(a: int, b: int, discount: float) -> None:
    for index, mean in ((gittins_bernoulli, a / (a + b)), (gittins_poisson, a / b)):
        assert mean < index(a, b, discount) < index(a, b, discount + 0.05)


@few
@given(st.integers(1, 9), st.integers(1, 9), discounts)
def test_the_index_rises_with_success_and_falls_with_experience(a: int, b: int, discount: float) -> None:
    for index in (gittins_bernoulli, gittins_poisson):
        assert index(a, b, discount) < index(a + 1, b, discount)
        assert index(a, b, discount) > index(2 * a, 2 * b, discount)


def test_a_poisson_index_is_where_a_plain_recursion_breaks_even() -> None:
    # Every state of 25 pulls up to 200 links: what is beyond is too improbable or too far in the future to count.
    a, b, discount, pulls, most = 2.0, 1.0, 0.5, 25, 200
    charge = gittins_poisson(a, b, discount)
    worth = [max(0.0, (a + s) / (b + pulls) - charge) / (1 - discount) for s in range(most + 1)]
    for t in range(pulls - 1, -1, -1):
        rate = b + t
        going_on = []
        for s in range(most + 1 if t else 1):
            probability = (rate / (rate + 1)) ** (a + s)
            expected = 0.0
            for count in range(most + 1 - s):
                expected += probability * worth[s + count]
                probability *= (a + s + count) / ((count + 1) * (rate + 1))
            going_on.append((a + s) / rate - charge + discount * expected)
        worth = [max(0.0, value) for value in going_on]
    assert going_on[0] == pytest.approx(0.0, abs=1e-3)
