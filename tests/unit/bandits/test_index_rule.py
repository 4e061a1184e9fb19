"""Rules with an index know when it is better to wait: for sites that rest, and for the results of pulls in flight."""

import heapq
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.bandits.beebot import BatchGreedy
from crawlers.bandits.index_rule import EXACT
from crawlers.bandits.site_rules import RULES, RuleOptions
from tests.support.fragments import awake, rotting, webs

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
