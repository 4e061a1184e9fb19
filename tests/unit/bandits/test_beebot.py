"""R2, R3 and the window rules choose the same pages as a direct implementation of their formulas."""

import math
from functools import reduce
from itertools import pairwise
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.bandits.beebot import UCB1, BatchGreedy
from crawlers.bandits.recent_means import RecentUCB
from tests.support.fragments import Crawl, awake, pulls, rotting, webs


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
