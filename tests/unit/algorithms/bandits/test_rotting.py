"""RAW-UCB takes the least of the upper bounds of its windows; test_beebot tests its choices."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.rotting import RAWUCB, WINDOW, SlidingWindowUCB

histories = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), min_size=1, max_size=150)


def told(rule: RAWUCB | SlidingWindowUCB, pulls: list[tuple[str, int]]) -> RAWUCB | SlidingWindowUCB:
    for arm, reward in pulls:
        rule.record_reward(arm, reward)
    return rule


@given(histories)
def test_index_is_at_most_that_of_the_whole_history(pulls: list[tuple[str, int]]) -> None:
    rule = told(RAWUCB(), pulls)
    rewards = [reward for _, reward in pulls]
    n = len(rewards)
    variance = max(sum(r * r for r in rewards) / n - (sum(rewards) / n) ** 2, 1e-9)
    for arm in {arm for arm, _ in pulls}:
        own = [reward for name, reward in pulls if name == arm]
        whole = sum(own) / len(own) + math.sqrt(variance * math.log(n) / len(own))
        assert rule.index(arm) <= whole * (1 + 1e-9)


@given(histories, st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_index_does_not_fall_with_c(pulls: list[tuple[str, int]], c: float, more: float) -> None:
    low, high = told(RAWUCB(c), pulls), told(RAWUCB(c + more), pulls)
    for arm in {arm for arm, _ in pulls}:
        assert low.index(arm) <= high.index(arm)


def test_window_excludes_earlier_rewards() -> None:
    pulls = [("late", 5)] * WINDOW
    short, long = told(SlidingWindowUCB(), pulls), told(SlidingWindowUCB(), [("late", 0)] * 500 + pulls)
    assert short.index("late") == pytest.approx(5.0, abs=0.01)
    assert long.index("late") > 5.0, "the pooled sigma includes the pages before the window"
