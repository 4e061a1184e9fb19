"""Windows are sums over the last pulls, including those in flight, in a ring buffer."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.windows import MAX_WINDOW, WindowArm


def started(arm: WindowArm) -> None:
    arm.pulls += 1
    arm.pending += 1


@given(st.lists(st.integers(0, 100), max_size=50), st.integers(0, 5))
def test_window_sums_the_last_rewards_and_counts_pulls_in_flight_as_zero(rewards: list[int], in_flight: int) -> None:
    arm = WindowArm("a", 3)
    assert (arm.name, arm.number) == ("a", 3)
    for reward in rewards:
        started(arm)
        arm.earn(reward)
    for _ in range(in_flight):
        started(arm)
    pulls = [*rewards, *[0] * in_flight]
    for window in range(1, len(pulls) + 1):
        assert arm.last(window) == sum(pulls[-window:])


def test_ring_keeps_the_last_of_many_rewards() -> None:
    rng = random.Random(0)
    rewards = [rng.randrange(100) for _ in range(3 * MAX_WINDOW)]
    arm = WindowArm("a", 0)
    for count, reward in enumerate(rewards, 1):
        started(arm)
        arm.earn(reward)
        if count % 997 == 0 or MAX_WINDOW - 2 <= count <= MAX_WINDOW + 2:
            for window in (1, 2, 1000, min(count, MAX_WINDOW)):
                assert arm.last(min(count, window)) == sum(rewards[max(0, count - window) : count])
    assert len(arm._sums) == MAX_WINDOW + 1
