"""The sites of a crawl over time, reconstructed from its pulls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.pull_trace import trace
from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.bandits.turns import RoundRobin
from tests.support.fragments import awake

histories = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9).map(float)), max_size=25)


@given(histories, st.integers(1, 30))
def test_every_snapshot_has_every_arm(history, every):
    moments = list(trace(RoundRobin(), "abc", history, every, "abc"))
    looks = [n for n in range(1, len(history) + 1) if n % every == 0 or n == len(history)]
    assert [(m.pulls, m.arm) for m in moments] == [(n, arm) for n in looks for arm in "abc"]
    assert {moment.index for moment in moments} <= {None}, "round robin has no index"


@pytest.mark.parametrize("name", RULES)
def test_next_arm_has_the_largest_index(name):
    """Pulls are chosen by the rule, and no batch is incomplete."""
    options = RuleOptions(page_budget=90)
    rule = awake(RULES[name](options), "abc")
    history = []
    for number in range(60):
        arm = rule.select(float(number))
        rule.record_pull(arm)
        history.append((arm, float(number * 7 % 5 * "abc".index(arm))))
        rule.record_reward(*history[-1])
    fresh = RULES[name](options)
    last = list(trace(fresh, "abc", history, 7, "abc"))[-3:]
    if not fresh.has_index:
        assert {moment.index for moment in last} == {None}
        return
    best = max(moment.index for moment in last if moment.index is not None)
    chosen = rule.select(60.0)
    assert [moment.index for moment in last if moment.arm == chosen] == [pytest.approx(best)]
