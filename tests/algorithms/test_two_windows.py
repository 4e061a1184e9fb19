"""The rule `auto`: what scales it and what bounds it; see test_bandits for what it chooses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.two_windows import SMALLEST_HALF, TwoWindowUCB

histories = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), min_size=1, max_size=150)


def told(pulls: list[tuple[str, int]]) -> TwoWindowUCB:
    rule = TwoWindowUCB()
    for arm, reward in pulls:
        rule.rewarded(arm, reward)
    return rule


def scale(rule: TwoWindowUCB) -> float:
    return rule._pool.jump_total / rule._pool.jumps if rule._pool.jumps else 0.0


@given(histories)
def test_the_index_is_at_most_that_of_the_whole_history(pulls: list[tuple[str, int]]) -> None:
    rule = told(pulls)
    for arm in {arm for arm, _ in pulls}:
        own = [reward for name, reward in pulls if name == arm]
        whole = sum(own) / len(own) + scale(rule) * math.sqrt(math.log(len(pulls)) / len(own))
        assert rule.index(arm) <= whole * (1 + 1e-9)


def test_jumps_are_from_one_reward_to_the_next_of_the_same_site() -> None:
    assert scale(told([("a", 5), ("b", 100), ("a", 7), ("b", 100), ("a", 3)])) == pytest.approx((2 + 0 + 4) / 3)
    assert scale(told([("a", 5), ("b", 100)])) == 0.0


def test_pulls_in_flight_are_no_jumps_but_lower_the_index() -> None:
    rule = told([("a", 4), ("a", 6)])
    before = rule.index("a")
    rule.started("a")
    assert scale(rule) == 2.0
    assert rule.index("a") == pytest.approx(10 / 3 + 2.0 * math.sqrt(math.log(3) / 3))
    assert rule.index("a") < before


def test_a_site_that_dried_up_is_judged_by_its_later_half() -> None:
    rule = told([("a", 10)] * SMALLEST_HALF + [("a", 0)] * SMALLEST_HALF)
    assert rule.index("a") == pytest.approx(10 / 47 * math.sqrt(math.log(48) / 24))


def test_too_few_pages_have_no_later_half() -> None:
    rule = told([("a", 10)] * SMALLEST_HALF + [("a", 0)] * (SMALLEST_HALF - 1))
    assert rule.index("a") > 240 / 47


def test_one_page_full_of_links_is_forgotten() -> None:
    quiet = [("a", 1), ("b", 0)] * 500
    assert scale(told([("a", 7000), *quiet])) < 8.0
