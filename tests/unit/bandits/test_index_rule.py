"""Rules with an index know when it is better to wait: for sites that rest, and for the results of pulls in flight."""

from __future__ import annotations

import heapq
import math
import random
from functools import reduce
from itertools import pairwise
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.bandits.index_rule import EXACT, MAX_WINDOW, UCB1, BatchGreedy, RecentArm, RecentUCB
from crawlers.bandits.site_rules import LEARNT_OPTIMISM, LEARNT_REWARD_CAP, OPTIMISM, RULES, RuleOptions
from crawlers.lab.experiment import compare, measure, tasks
from tests.support.fragments import Crawl, awake, pulls, rotting, webs

OPTIONS = RuleOptions(page_budget=200, gittins_batch=1, ucb1_initial=1)
INDEX_RULES = ["auto", "gittins", "ucb1"]  # whose indices say whether to wait for other sites
every_index_rule = pytest.mark.parametrize("name", INDEX_RULES)
few = settings(max_examples=20)


def greedy(**rewards):
    """Return a rule whose sites are awake, each with one pull of that reward."""
    rule = awake(BatchGreedy(1), rewards)
    for arm, reward in rewards.items():
        rule.record_reward(arm, reward)
    return rule


def told(name, yields):
    """Return a rule to which the rewards of all sites were told, which are awake."""
    rule = awake(RULES[name](OPTIONS), range(len(yields)))
    for site, rewards in enumerate(yields):
        for reward in rewards:
            rule.record_reward(site, reward)
    return rule


# Sites that rest


def test_site_near_the_best_is_chosen_while_the_best_rests():
    rule = greedy(a=10.0, b=9.0, c=8.0)
    rule.pause("a")
    assert rule.select(0.0) == "b"
    assert rule.is_close_to_best("b", 0.9)
    assert not rule.is_close_to_best("c", 0.9)
    assert rule.is_close_to_best("c", 0.8)


@pytest.mark.parametrize("event", ["sleep", "wake and sleep", "never rested"])
def test_sites_that_sleep_do_not_count(event):
    rule = greedy(a=10.0, b=1.0)
    if event != "never rested":
        rule.pause("a")
    if event == "wake and sleep":
        rule.wake("a")
    rule.sleep("a")
    assert rule.is_close_to_best("b", 1.0)


@pytest.mark.parametrize("name", sorted(set(RULES) - set(INDEX_RULES)))
def test_other_rules_never_wait(name):
    rule = told(name, [[10.0], [0.0]])
    rule.pause(0)
    assert rule.select(0.0) == 1
    assert rule.is_close_to_best(1, 1.0)


# Pulls in flight


def test_site_is_chosen_as_long_as_pulls_in_flight_could_not_change_the_choice():
    rule = greedy(a=13.0, b=3.0)
    chosen = 0
    while rule.select(0.0) == "a":
        assert rule.is_close_to_best("a", 1.0)
        rule.record_pull("a")
        chosen += 1
    assert chosen == 4, "the mean 13/5 may be less than 3"
    assert not rule.is_close_to_best("b", 1.0), "but the results of a are expected to be better"
    for _ in range(chosen):
        rule.record_reward("a", 0.0)
    assert rule.select(0.0) == "b"
    assert rule.is_close_to_best("b", 1.0)


def test_first_results_of_a_site_are_waited_for():
    rule = greedy(a=12.0, b=3.0)
    rule.wake("new")
    rule.record_pull("new")
    assert rule.select(0.0) == "a"
    assert not rule.is_close_to_best("a", 0.9)
    rule.record_reward("new", 0.0)
    assert rule.is_close_to_best("a", 0.9)


@every_index_rule
@few
@given(webs, st.randoms(use_true_random=False))
def test_lower_share_waits_less(name, yields, rng):
    rule = told(name, yields)
    for site in range(len(yields)):
        for _ in range(rng.randrange(3)):
            rule.record_pull(site)
        if rng.random() < 0.3:
            rule.pause(site)
    chosen = rule.select(0.0)
    if chosen is not None:
        near = [rule.is_close_to_best(chosen, share) for share in (0.1, 0.5, 0.9, 1.0)]
        assert near == sorted(near, reverse=True)


@every_index_rule
@few
@given(webs)
def test_best_site_is_near_if_nothing_rests_or_is_in_flight(name, yields):
    rule = told(name, yields)
    assert rule.is_close_to_best(rule.select(0.0), 1.0), "else a crawl would wait for nothing"


# A crawl with delays and pulls in flight


def harvest(name, yields, budget, delay, parallel, share):
    """Return the links found with *budget* pages, when a page takes 3 ticks and a site rests for *delay* ticks."""
    rule = RULES[name](RuleOptions(page_budget=budget))
    read = [0] * len(yields)
    events = []  # time, site, what happens
    in_flight = [0] * len(yields)
    due = [0] * len(yields)
    found = pulls = now = 0

    def settle(site):
        if read[site] == len(yields[site]):
            rule.sleep(site)
        elif in_flight[site] >= parallel or due[site] > now:
            rule.pause(site)
        else:
            rule.wake(site)

    for site in range(len(yields)):
        settle(site)
    while True:
        while (
            pulls < budget
            and (site := rule.select(0.0)) is not None
            and (not share or rule.is_close_to_best(site, share))
        ):
            rule.record_pull(site)
            pulls += 1
            in_flight[site] += 1
            due[site] = now + delay
            heapq.heappush(events, (now + 3, site, str(yields[site][read[site]])))
            heapq.heappush(events, (due[site], site, "due"))
            read[site] += 1
            settle(site)
        if not events:
            return found
        now, site, what = heapq.heappop(events)
        if what != "due":
            in_flight[site] -= 1
            found += int(what)
            rule.record_reward(site, float(what))
        settle(site)


@every_index_rule
@pytest.mark.parametrize(("delay", "parallel"), [(5, 1), (0, 16)])
def test_waiting_crawl_finds_what_one_without_delays_does(name, delay, parallel):
    sets = [rotting(seed, 8, 400) for seed in range(6)]
    alone = sum(harvest(name, yields, 400, 0, 1, 1.0) for yields in sets)
    waiting = sum(harvest(name, yields, 400, delay, parallel, 0.9) for yields in sets)
    assert waiting == pytest.approx(alone, rel=0.05)


# The best index


@every_index_rule
@pytest.mark.parametrize("arms", [10, EXACT + 40])
def test_best_index_is_the_largest_of_the_wanted_arms(name, arms):
    rng = random.Random(arms)
    rule = awake(RULES[name](OPTIONS), range(arms))
    for _ in range(4 * arms):
        arm = rng.randrange(arms)
        rule.record_pull(arm)
        if rng.random() < 0.9:
            rule.record_reward(arm, rng.choice([0.0, 1.0, 20.0]))
        else:
            rule.cancel_pull(arm)
        wanted = set(rng.sample(range(arms), rng.choice([1, 5, arms])))
        for other in rng.sample(range(arms), 3):  # the others are asleep, which makes no difference
            rule.sleep(other)
            rule.wake(other)
        for other in wanted:  # as sites do when something waits there again
            rule.sleep(other)
            rule.wake(other)
        assert rule.best_index(wanted.__contains__) == max(rule.index(one) for one in wanted)
    assert rule.best_index(lambda arm: False) is None


def test_equal_shares_prefer_unspent_ones():
    rule = awake(RULES["trivial"](RuleOptions(page_budget=2)), "ab")
    assert rule.best_index(lambda arm: True) == float("inf")
    rule.record_reward("a", 3.0)
    rule.sleep("a")
    assert rule.best_index(lambda arm: True) == float("inf")
    rule.record_reward("b", 5.0)
    assert rule.best_index(lambda arm: True) == 5.0
    assert rule.best_index(lambda arm: arm == "a") == 3.0
    assert rule.best_index(lambda arm: False) is None
    rule.wake("a")
    rule.sleep("b")
    rule.wake("b")
    assert rule.best_index(lambda arm: True) == 5.0, "they are wanted again"


def learnt(pulls, optimism=OPTIMISM):
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
    rule = learnt([("a", 4), ("a", 6)])
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


def naive(
    yields,
    budget,
    index,
    initial=1,
    batch=1,
    most=math.inf,
):
    """Return the sites chosen by an index of (rewards of a site, of all, of each), without shortcuts.

    A reward counts as *most* times the mean of the earlier ones that are not 0 at most.
    """
    found = [[] for _ in yields]
    everything = []
    chosen = []

    def pull(site):
        reward = yields[site][len(found[site])]
        good = [earlier for earlier in everything if earlier]
        if reward and good:
            reward = min(reward, most * total(good) / len(good))
        found[site].append(reward)
        everything.append(reward)
        chosen.append(site)

    for page in range(initial):
        for site, rewards in enumerate(yields):
            if page < len(rewards) and len(chosen) < budget:
                pull(site)
    while len(chosen) < budget:
        left = [site for site, rewards in enumerate(yields) if len(found[site]) < len(rewards)]
        if not left:
            break
        indices = {site: index(found[site], everything, found) for site in left}
        best = max(left, key=lambda site: (indices[site], -len(found[site]), -site))
        for _ in range(batch):
            if len(chosen) < budget and len(found[best]) < len(yields[best]):
                pull(best)
    return chosen


def mean(rewards, everything, found):
    return sum(rewards) / len(rewards)


def ucb1(rewards, everything, found):
    largest = max(everything)
    exploitation = sum(rewards) / len(rewards) * (1.0 / largest) if largest else 0.0
    return exploitation + math.sqrt(2.0 * math.log(len(everything)) / len(rewards))


def total(rewards):
    return reduce(add, rewards, 0.0)  # sum() rounds differently


def jump(found):
    pairs = [abs(later - earlier) for rewards in found for earlier, later in pairwise(rewards)]
    return sum(pairs) / len(pairs) if pairs else 0.0


def recent(rewards, everything, found):
    pulls = len(rewards)
    if pulls < math.sqrt(len(everything)) - sum(map(bool, found)) / 2:
        return math.inf
    later = 2 * pulls // 3
    windows = [pulls, *(window for window in (later, 2 * later // 3) if window >= 16)]
    mean = total(rewards) / pulls
    least = min(
        (total(rewards) - total(rewards[: pulls - window])) / window + mean / math.sqrt(window) for window in windows
    )
    return least + 1.6 * jump(found) * math.sqrt(math.log(len(everything))) / math.sqrt(pulls)


some = settings(max_examples=60)


@some
@given(webs, st.integers(1, 12), st.integers(1, 300))
def test_r2_reads_batches_from_the_site_with_the_best_mean(yields, batch, budget):
    expected = naive(yields, budget, mean, initial=batch, batch=batch)
    assert Crawl(BatchGreedy(batch), yields).run(budget) == expected


@some
@given(webs, st.integers(0, 8), st.integers(1, 300))
def test_r3_chooses_by_ucb1(yields, initial, budget):
    assert Crawl(UCB1(max(1, initial)), yields).run(budget) == naive(yields, budget, ucb1, initial=max(1, initial))


@some
@given(webs, st.integers(1, 300))
def test_auto_chooses_by_its_formula(yields, budget):
    assert Crawl(RecentUCB(), yields).run(budget) == naive(yields, budget, recent, most=10)


@pytest.mark.parametrize("seed", range(4))
def test_auto_chooses_by_its_formula_on_long_sites(seed):
    yields = rotting(seed, 4, 500)
    assert Crawl(RecentUCB(), yields).run(900) == naive(yields, 900, recent, most=10)


def test_batch_is_continued_when_its_site_is_available_again():
    rule = awake(BatchGreedy(3), "abc")
    for arm, reward in zip("aaabbbccc", (3, 3, 3, 2, 2, 2, 1, 1, 1), strict=True):
        rule.record_reward(arm, reward)
    assert pulls(rule, [0.0]) == ["a"]
    rule.sleep("a")
    assert pulls(rule, [0.0]) == ["b"]
    rule.wake("a")
    assert pulls(rule, [0.0] * 5) == [*"aabba"], "both batches are completed, then the best site is chosen"
