"""Numbers by page, in blocks."""

import tracemalloc
from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.ranking.page_values import PageValues


@given(st.dictionaries(st.integers(1, 40_000), st.floats(0.5, 2.0)))
def test_values_equal_those_of_a_dict(numbers):
    values = PageValues(array("d", [0.0]))
    for page, number in numbers.items():
        values[page] = number
    assert dict(values.items()) == numbers
    assert all(values[page] == numbers.get(page, 0.0) for page in (1, 4095, 4096, 4097, 39_999, 10**12, *numbers))


@given(st.dictionaries(st.integers(1, 40_000), st.floats(0.5, 2.0)), st.lists(st.integers(1, 50_000)))
def test_many_values_are_those_of_one_after_the_other(numbers, pages):
    values = PageValues(array("d", [0.25]))
    for page, number in numbers.items():
        values[page] = number
    wanted = [*numbers, *pages]
    assert values.values_of(np.array(wanted, np.int64)).tolist() == [values[page] for page in wanted]
    values[1] = 3.0  # no array keeps the block from changing
    assert values[1] == 3.0


def test_number_takes_only_the_bytes_of_its_type():
    tracemalloc.start()
    values = PageValues(array("d", [0.0]))
    for page in range(2**20, 2**20 + 40_960):
        values[page] = 0.5
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken < 9.5 * 40_960
