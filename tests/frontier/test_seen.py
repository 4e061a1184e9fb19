"""Known URLs: what one integer says of each, and what is forgotten first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.page_orders import MAX_HOPS
from crawlers.frontier.seen import (
    MAX_GROUP,
    MAX_LEVEL,
    TAKEN,
    TOO_DEEP,
    SeenUrls,
    id_of,
    link_group_of,
    pack,
    rank,
    rank_of,
    spelling_of,
)


@given(
    st.integers(1, 2**40),
    st.integers(0, MAX_GROUP),
    st.integers(0, MAX_LEVEL),
    st.integers(0, MAX_HOPS),
    st.integers(0, 2),
    st.sampled_from([0, TAKEN, TOO_DEEP]),
)
def test_packed_value_gives_back_all_that_went_in(
    page_id: int, group: int, level: int, hops: int, spelling: int, flags: int
) -> None:
    value = pack(page_id, group, rank(level, hops), spelling, flags)
    assert (id_of(value), rank_of(value), spelling_of(value)) == (page_id, rank(level, hops), spelling)
    assert link_group_of(value) == group
    assert (value & TAKEN, value & TOO_DEEP) == (flags & TAKEN, flags & TOO_DEEP)


@given(st.tuples(st.integers(0, MAX_LEVEL), st.integers(0, MAX_HOPS)), st.tuples(st.integers(0, 9), st.integers(0, 20)))
def test_rank_orders_by_level_and_then_by_hops(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (rank(*one) < rank(*other)) == (one < other)


def test_what_was_met_in_neither_of_two_generations_is_forgotten() -> None:
    seen = SeenUrls()
    seen.young.update({1: 10, 2: 20})
    assert seen.age() == 2
    assert seen.is_complete
    assert seen.get(1) == 10
    seen.young[3] = 30
    assert seen.age() == 2
    assert not seen.is_complete
    assert [seen.get(key) for key in (1, 2, 3)] == [10, None, 30]


def test_spelling_is_forgotten_with_its_url() -> None:
    seen = SeenUrls()
    for key in (1, 2):
        seen.young[key] = key
        seen.urls[key] = f"http://a.test/{key}"
    seen.age()
    assert set(seen.urls) == {1, 2}
    seen.get(2)
    seen.age()
    assert seen.urls == {2: "http://a.test/2"}
