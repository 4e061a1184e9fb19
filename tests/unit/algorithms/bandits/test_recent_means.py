"""The scale, bounds and performance of the rule `auto`; test_beebot tests its choices."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.recent_means import (
    LEARNT_OPTIMISM,
    LEARNT_REWARD_CAP,
    MAX_WINDOW,
    MIN_WINDOW,
    OPTIMISM,
    REWARD_CAP,
    RecentArm,
    RecentUCB,
)
from crawlers.algorithms.bandits.site_rules import RuleOptions
from crawlers.lab.simulation.experiment import SUITES, compare, measure, tasks

histories = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), min_size=1, max_size=150)


def told(pulls, optimism=OPTIMISM):
    rule = RecentUCB(optimism)
    for arm, reward in pulls:
        rule.record_reward(arm, reward)
    return rule


def scale(rule):
    return rule._pool.jump_total / rule._pool.jumps if rule._pool.jumps else 0.0


def is_hardly_read(pulls, arm):
    sites = [site for site, _ in pulls]
    return sites.count(arm) < math.sqrt(len(sites)) - len(set(sites)) / 2


@given(histories)
def test_index_is_at_most_that_of_the_whole_history(pulls):
    rule = told(pulls)
    for arm in {arm for arm, _ in pulls}:
        own = [reward for name, reward in pulls if name == arm]
        mean = sum(own) / len(own)
        bonus = OPTIMISM * scale(rule) * math.sqrt(math.log(len(pulls)))
        most = (mean + (mean + bonus) / math.sqrt(len(own))) * (1 + 1e-9)
        assert rule.index(arm) <= most or is_hardly_read(pulls, arm)


def test_scale_uses_differences_of_successive_rewards_of_a_site():
    assert scale(told([("a", 5), ("b", 30), ("a", 7), ("b", 30), ("a", 3)])) == pytest.approx((2 + 0 + 4) / 3)
    assert scale(told([("a", 5), ("b", 30)])) == 0.0


@given(histories, st.floats(0.0, 3.0))
def test_bonus_is_proportional_to_optimism(pulls, optimism):
    least, usual, other = told(pulls, 0.0), told(pulls), told(pulls, optimism)
    for arm in {arm for arm, _ in pulls}:
        if is_hardly_read(pulls, arm):
            assert least.index(arm) == usual.index(arm) == other.index(arm) == math.inf
            continue
        bonus = (usual.index(arm) - least.index(arm)) * optimism / OPTIMISM
        assert other.index(arm) == pytest.approx(least.index(arm) + bonus)


@pytest.mark.parametrize("empty_pages", [0, 3, 6, 9])
@pytest.mark.parametrize("seed", range(4))
def test_site_whose_first_pages_have_no_links_is_not_given_up(empty_pages, seed):
    rule, rng, read = RecentUCB(LEARNT_OPTIMISM, LEARNT_REWARD_CAP), random.Random(seed), [0] * 12
    for site in range(len(read)):
        rule.wake(site)
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


def test_exhausted_site_is_judged_by_its_later_pages():
    rule = told([("a", 10)] * 20 + [("a", 0)] * MIN_WINDOW)
    mean = 200 / 36
    bonus = OPTIMISM * 10 / 35 * math.sqrt(math.log(36) / 36)
    assert rule.index("a") == pytest.approx(0 + mean / math.sqrt(MIN_WINDOW) + bonus)


def test_window_with_too_few_pages_is_ignored():
    rule = told([("a", 10)] * 20 + [("a", 0)] * (MIN_WINDOW - 1))
    assert rule.index("a") > 80 / 23, "4/9 of 35 pages are 15: the mean of 23 is the lowest"


def test_reward_of_one_page_is_capped_at_that_of_ten_good_pages():
    rule = told([("a", 2), ("a", 0), ("b", 4), ("b", 7000)])
    assert rule._pool.total == 2 + 4 + REWARD_CAP * 3
    rule.record_reward("b", 40)
    assert rule._pool.total == 36 + 40, "a good page is one with links, also one that was cut short"


@pytest.mark.parametrize(
    ("suite", "webs", "of_equal_shares", "of_oracle"),
    [("universities", 8, 1.09, 0.82), ("institutes", 16, 1.03, 0.54), ("scenarios", 48, 1.12, 0.60)],
)
def test_performance_on_simulated_webs_is_as_published(suite, webs, of_equal_shares, of_oracle):
    measured = [measure(task) for task in tasks(suite, webs, ["auto"], RuleOptions(page_budget=2000), seed=1)]
    (row,) = (row for row in compare(measured, SUITES[suite].groups) if row.rule == "auto")
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
