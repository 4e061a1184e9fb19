"""The table of Gittins indices is accurate at its entries, between them and beyond them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.ranking.gittins_index import gittins_poisson
from crawlers.algorithms.bandits.gittins_rule import OptimismTable, optimism_table

ERROR = 0.02  # standard deviations of the posterior mean


@pytest.mark.parametrize(("a", "b"), [(1, 1), (64, 32), (256, 256)])
def test_entries_of_the_table_equal_the_index(a: int, b: int) -> None:
    assert optimism_table().index(a, b) == pytest.approx(gittins_poisson(a, b, 0.99), rel=1e-5)


@pytest.mark.parametrize(("a", "b"), [(1.4, 1.4), (3, 5), (11, 90), (700, 20), (45, 3000), (2.5, 9000)])
def test_error_between_and_beyond_the_entries_is_small(a: float, b: float) -> None:
    error = optimism_table().index(a, b) - gittins_poisson(a, b, 0.99)
    assert abs(error) < ERROR * math.sqrt(a) / b


def test_interpolation_is_exact_for_optimism_linear_in_the_inverse_root() -> None:
    table = OptimismTable([[5.0 - 3.0 / math.sqrt(2**column) + row for column in range(4)] for row in range(3)])
    for a in (1.0, 1.5, 3.0, 8.0, 9.0, 100.0, 1e6):
        for b, by_row in ((1.0, 0.0), (2.0**0.5, 0.5), (2.0, 1.0), (4.0, 2.0)):
            assert table.optimism(a, b) == pytest.approx(5.0 - 3.0 / math.sqrt(a) + by_row)
        assert table.optimism(a, 64.0) == pytest.approx(table.optimism(a, 4.0) / 4.0)


states = st.floats(1.0, 1e5)


@given(states, states)
def test_index_exceeds_the_mean_rises_with_links_and_falls_with_pages(a: float, b: float) -> None:
    table = optimism_table()
    assert table.index(a, b) > a / b
    assert table.index(a + 1, b) > table.index(a, b) > table.index(a, b + 1)
    assert table.index(a, b) > table.index(2 * a, 2 * b)
