"""Sites and pulls are shared without leaving any to nobody."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.workers.exchange import BLOCK, block, claim_limit, promises_enough

counts = st.integers(0, 10_000)
workers = st.integers(1, 300)


@given(counts, workers, counts)
def test_worker_takes_no_more_than_it_wants_or_is_free_and_at_least_one_of_both(free, takers, wanted):
    taken = claim_limit(free, takers, wanted)
    assert 0 <= taken <= min(free, wanted)
    assert taken or not (free and wanted)


@given(counts, workers)
def test_workers_that_take_their_shares_one_by_one_take_everything(free, takers):
    left = free
    for others in range(takers, 0, -1):
        taken = claim_limit(left, others, free)
        assert taken <= -(-free // takers)
        left -= taken
    assert left == 0


@given(st.integers(-100, 10_000), workers, counts, counts)
def test_block_is_free_and_wanted(free, number, at_hand, wanted):
    granted = block(free, number, at_hand, wanted)
    assert 0 <= granted <= max(0, free)
    if number > 1:
        assert granted <= max(0, wanted - at_hand)
        assert granted or free <= 0 or at_hand >= wanted


@given(counts, workers)
def test_last_pulls_of_a_budget_are_granted(free, number):
    rounds = 0
    while free > 0:
        free -= block(free, number, 0)
        rounds += 1
    assert free == 0
    assert rounds <= 10_000 // BLOCK + 2 * number * 10 + 1


def test_index_that_is_infinite_beats_others_unless_no_share_of_it_is_needed():
    infinite = float("inf")
    assert promises_enough(infinite, infinite, 0.9)
    assert not promises_enough(1.0, infinite, 0.9)
    assert promises_enough(1.0, infinite, 0.0)
    assert promises_enough(0.0, 0.0, 1.0)
    assert promises_enough(-21.0, -21.0, 0.9), "levels, which RULE=best compares, are negative"
    assert not promises_enough(-42.0, -21.0, 0.9)
