"""Known URLs: the integer of each, and the order of forgetting."""

import random
from array import array

from hypothesis import given
from hypothesis import strategies as st

from crawlers.frontier.url_cache import (
    MAX_LEVEL,
    MIN_MERGED,
    REVIVABLE,
    TAKEN,
    UrlCache,
    id_of,
    pack,
    place_in,
    place_of,
)
from crawlers.ranking.page_orders import MAX_HOPS


@given(
    st.integers(1, 2**32 - 1),
    st.integers(0, MAX_LEVEL),
    st.integers(0, MAX_HOPS),
    st.integers(0, 2),
    st.sampled_from([0, TAKEN, REVIVABLE]),
)
def test_packed_value_returns_all_its_fields(page_id, level, hops, variant, flags):
    value = pack(page_id, level, hops, variant, flags)
    assert (id_of(value), place_in(value)) == (page_id, place_of(level, hops, variant))
    assert (value & TAKEN, value & REVIVABLE) == (flags & TAKEN, flags & REVIVABLE)


PLACES = st.tuples(st.integers(0, MAX_LEVEL), st.integers(0, MAX_HOPS), st.integers(0, 3))


@given(PLACES, PLACES)
def test_place_orders_by_level_and_then_by_hops_and_then_by_variant(one, other):
    assert (place_of(*one) < place_of(*other)) == (one < other)


def _with(values):
    seen = UrlCache()
    seen.lately.update(values)
    return seen


@given(
    st.lists(st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.integers(1, 2**62)), max_size=4),
    st.integers(-(2**63), 2**63 - 1),
)
def test_url_is_known_by_its_latest_value_in_dict_or_table(changes, other):
    seen, expected = UrlCache(), {}
    for change in changes:
        seen.lately.update(change)
        expected |= change
        seen.merge_if_large()
    asked = [*expected, other]
    assert seen.values_of(asked) == {key: expected[key] for key in asked if key in expected}
    assert seen.is_complete


def test_value_that_changed_shadows_the_merged_one_and_then_replaces_it():
    seen = _with(dict.fromkeys(range(MIN_MERGED), 7))
    seen.merge_if_large()
    seen.lately[3] = 8
    assert seen.values_of([3, 4]) == {3: 8, 4: 7}
    seen.lately.update(dict.fromkeys(range(1000, 1000 + MIN_MERGED), 9))
    seen.merge_if_large()
    assert not seen.lately
    assert seen.merged_values([3, 4]) == {3: 8, 4: 7}


def test_variant_is_forgotten_with_its_url():
    seen = _with({1: 1, 2: 2})
    seen.urls.update({1: "http://a.test/1", 2: "http://a.test/2"})
    seen.forget()
    assert set(seen.urls) == {1, 2}
    seen.lately[2] = 2
    seen.forget()
    assert seen.urls == {2: "http://a.test/2"}


def test_largest_page_number_fits_into_the_table():
    value = pack(2**32 - 1, MAX_LEVEL, MAX_HOPS, 2, REVIVABLE)
    seen = _with(dict.fromkeys(range(MIN_MERGED), value))
    seen.merge_if_large()
    assert id_of(seen.merged_values([0])[0]) == 2**32 - 1


def test_keys_with_equal_low_bits_do_not_lengthen_each_others_search():
    seen = UrlCache()
    rng = random.Random(3)
    keys = [rng.getrandbits(31) << 32 for _ in range(2_000)]
    seen.merge(dict.fromkeys(keys, 1))
    seen._keys = looks = _CountedArray("q", seen._keys)
    assert len(seen.merged_values(keys)) == len(keys)
    assert looks.number < 4 * len(keys)  # otherwise each is compared with half of the others


class _CountedArray(array):
    number = 0

    def __getitem__(self, at):
        self.number += 1
        return super().__getitem__(at)
