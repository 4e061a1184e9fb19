"""Page orders: the nearest first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.page_orders import MAX_HOPS, ORDERS, BreadthFirst, OrderOptions

places = st.tuples(st.integers(0, 32_767), st.integers(0, MAX_HOPS))


@given(places, places)
def test_breadth_first_goes_by_level_and_then_by_redirects(one: tuple[int, int], other: tuple[int, int]) -> None:
    order = BreadthFirst()
    assert (order.priority(*one) < order.priority(*other)) == (one < other)


@pytest.mark.parametrize("name", sorted(ORDERS))
def test_priorities_are_finite_numbers(name: str) -> None:
    # They are kept in the store, where infinity has many spellings.
    priority = ORDERS[name](OrderOptions()).priority(32_767, MAX_HOPS)
    assert isinstance(priority, float)
    assert abs(priority) < 1e300


def test_breadth_first_finishes_a_level_before_the_next() -> None:
    assert BreadthFirst.finishes_each_priority
