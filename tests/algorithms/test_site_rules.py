"""Site rules choose among sites that are awake, and none of them starves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.site_rules import RULES, RoundRobin, RuleOptions, SiteRule


@pytest.fixture(params=sorted(RULES))
def rule(request: pytest.FixtureRequest) -> SiteRule:
    return RULES[request.param](RuleOptions(page_budget=1000))


def pull(rule: SiteRule) -> object:
    arm = rule.select(0.0)
    if arm is not None:
        rule.started(arm)
    return arm


def test_nothing_is_chosen_while_all_sleep(rule: SiteRule) -> None:
    assert rule.select(0.0) is None
    rule.wake("a")
    rule.sleep("a")
    rule.sleep("a")
    rule.sleep("unknown")
    assert rule.select(0.0) is None


def test_choosing_is_not_pulling(rule: SiteRule) -> None:
    rule.wake("a")
    rule.wake("b")
    assert rule.select(0.0) == rule.select(0.0)


def test_only_those_awake_are_chosen(rule: SiteRule) -> None:
    for arm in "abc":
        rule.wake(arm)
    rule.sleep("b")
    assert "b" not in {pull(rule) for _ in range(50)}


def test_pull_of_a_site_that_fell_asleep_wakes_nobody(rule: SiteRule) -> None:
    rule.wake("a")
    rule.sleep("a")
    rule.started("a")
    rule.rewarded("a", 1.0)
    rule.cancelled("a")
    assert rule.select(0.0) is None


@given(st.lists(st.sampled_from("abcde"), unique=True, min_size=1))
def test_round_robin_takes_every_site_in_turn(arms: list[str]) -> None:
    rule = RoundRobin()
    for arm in arms:
        rule.wake(arm)
        rule.wake(arm)
    assert [pull(rule) for _ in range(3 * len(arms))] == 3 * arms


def test_round_robin_lets_a_site_that_wakes_stand_in_line() -> None:
    rule = RoundRobin()
    for arm in "abc":
        rule.wake(arm)
    assert pull(rule) == "a"
    rule.sleep("b")
    rule.wake("b")
    assert [pull(rule) for _ in range(3)] == ["c", "a", "b"]
