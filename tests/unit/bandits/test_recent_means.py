"""The scale, bounds and performance of the rule `auto`; test_beebot tests its choices."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.recent_means import MAX_WINDOW, RecentArm, RecentUCB
from crawlers.bandits.site_rules import LEARNT_OPTIMISM, LEARNT_REWARD_CAP, OPTIMISM, RuleOptions
from crawlers.lab.simulation.experiment import compare, measure, tasks
from tests.support.fragments import awake


def told(pulls, optimism=OPTIMISM):
    rule = RecentUCB(optimism)
    for arm, reward in pulls:
        rule.record_reward(arm, reward)
    return rule


def scale(rule):
    return rule._pool.jump_total / rule._pool.jumps if rule._pool.jumps else 0.0


@pytest.mark.parametrize("empty_pages", [0, 3, 6, 9])
@pytest.mark.parametrize("seed", range(4))
def test_site_whose_first_pages_have_no_links_is_not_given_up(empty_pages, seed):
    rng, read = random.Random(seed), [0] * 12
    rule = awake(RecentUCB(LEARNT_OPTIMISM, LEARNT_REWARD_CAP), range(12))
    for _ in range(600):
        site = rule.select(0.0)
        assert isinstance(site, int)
        read[site] += 1
        rule.record_pull(site)
        # The last one is a newsletter, with an empty home page and a full archive.
        rule.record_reward(site, rng.randrange(1 + site) if site < 11 else 30 * (read[site] > empty_pages))
    assert read[-1] > 30, read
    assert min(read) >= math.sqrt(600) - 12 / 2 - 1, read


def test_pulls_in_flight_lower_the_index_without_changing_the_scale():
    rule = told([("a", 4), ("a", 6)])
    before = rule.index("a")
    rule.record_pull("a")
    assert scale(rule) == 2.0
    mean, root = 10 / 3, math.sqrt(3)
    assert rule.index("a") == pytest.approx(mean + mean / root + OPTIMISM * 2.0 * math.sqrt(math.log(2)) / root)
    assert rule.index("a") < before


@pytest.mark.parametrize(
    ("profile", "webs", "of_equal_shares", "of_oracle"),
    [("universities", 8, 1.09, 0.82), ("institutes", 16, 1.03, 0.54)],
)
def test_performance_on_simulated_webs_is_as_published(profile, webs, of_equal_shares, of_oracle):
    measured = [measure(task) for task in tasks(profile, webs, ["auto"], RuleOptions(page_budget=2000), seed=1)]
    (row,) = (row for row in compare(measured) if row.rule == "auto")
    assert row.of_baseline >= of_equal_shares
    assert row.of_oracle >= of_oracle


# The last rewards of an arm


def started(arm):
    arm.pulls += 1
    arm.pending += 1


@given(st.lists(st.integers(0, 100), max_size=50), st.integers(0, 5))
def test_window_sums_the_last_rewards_and_counts_pulls_in_flight_as_zero(rewards, in_flight):
    arm = RecentArm("a", 3)
    assert (arm.name, arm.number) == ("a", 3)
    for reward in rewards:
        started(arm)
        arm.earn(reward)
    for _ in range(in_flight):
        started(arm)
    pulls = [*rewards, *[0] * in_flight]
    for window in range(1, len(pulls) + 1):
        assert arm.last(window) == sum(pulls[-window:])


def test_ring_keeps_the_last_of_many_rewards():
    rng = random.Random(0)
    rewards = [rng.randrange(100) for _ in range(3 * MAX_WINDOW)]
    arm = RecentArm("a", 0)
    for count, reward in enumerate(rewards, 1):
        started(arm)
        arm.earn(reward)
        if count % 997 == 0 or MAX_WINDOW - 2 <= count <= MAX_WINDOW + 2:
            for window in (1, 2, 1000, min(count, MAX_WINDOW)):
                assert arm.last(min(count, window)) == sum(rewards[max(0, count - window) : count])
    assert len(arm._sums) == MAX_WINDOW + 1
