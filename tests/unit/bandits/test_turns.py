"""The site whose last turn ended first is next; equal shares are equal, and the best site gets the rest."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.index_rule import EqualShares
from crawlers.bandits.turns import RoundRobin, Sequential, TimedRoundRobin
from tests.support.fragments import Crawl, awake, pulls, webs


@given(st.lists(st.sampled_from("abcde"), unique=True, min_size=1), st.integers(1, 4))
def test_round_robin_reads_every_site_in_turn(arms, quantum):
    rule = awake(awake(RoundRobin(quantum), arms), arms)
    turns = [arm for arm in arms for _ in range(quantum)]
    assert pulls(rule, [0.0] * 3 * len(turns)) == 3 * turns


def test_waking_site_that_was_not_read_for_longest_comes_first():
    rule = awake(RoundRobin(), "abc")
    assert pulls(rule, [0.0] * 3) == ["a", "b", "c"]
    rule.sleep("a")
    assert pulls(rule, [0.0] * 3) == ["b", "c", "b"]
    rule.wake("a")
    assert pulls(rule, [0.0] * 3) == ["a", "c", "b"]


def test_waking_site_continues_its_turn():
    rule = awake(RoundRobin(3), "ab")
    assert pulls(rule, [0.0] * 2) == ["a", "a"]
    rule.sleep("a")
    assert pulls(rule, [0.0]) == ["b"]
    rule.wake("a")
    assert pulls(rule, [0.0] * 4) == ["a", "b", "b", "a"]


def test_cancelled_pull_returns_the_turn():
    rule = awake(RoundRobin(2), "ab")
    for _ in range(5):
        rule.record_pull("a")
    for _ in range(5):
        rule.cancel_pull("a")
    assert pulls(rule, [0.0] * 4) == ["a", "a", "b", "b"]


def test_history_of_turns_is_bounded():
    for rule in (TimedRoundRobin(1e9), RoundRobin()):
        pulls(awake(rule, "ab"), [0.0] * 1000)
        assert all(len(arm.ends) + len(arm.in_turn) <= 2 for arm in rule._arms)


def test_timed_turn_continues_after_a_short_sleep_only():
    rule = awake(TimedRoundRobin(10.0), "ab")
    assert pulls(rule, [0.0]) == ["a"]
    rule.sleep("a")
    assert pulls(rule, [1.0]) == ["b"]
    rule.wake("a")
    assert pulls(rule, [2.0]) == ["a"]
    rule.sleep("a")
    assert pulls(rule, [3.0]) == ["b"]
    rule.wake("a")
    assert pulls(rule, [10.5]) == ["b"], "a's seconds are over, b's are not"


def test_pulls_of_an_interrupted_crawl_are_separate_turns():
    rule = awake(TimedRoundRobin(10.0), "abc")
    for arm in "abcac":
        rule.record_pull(arm)
        rule.record_reward(arm, 0.0)
    assert pulls(rule, [0.0, 9.0, 10.0, 20.0]) == ["b", "b", "a", "c"]


@given(webs)
def test_sequential_finishes_one_site_before_the_next(yields):
    chosen = Crawl(Sequential(), yields).run(10_000)
    assert chosen == [site for site, rewards in enumerate(yields) for _ in rewards]


def _published(yields, budget):
    """Return the number of pages that R1 reads of each site, by its formula."""
    share = max(1, budget // len(yields))
    read, left = [], budget
    for rewards in yields:
        read.append(min(share, len(rewards), left))
        left -= read[-1]
    for site in sorted(range(len(yields)), key=lambda site: -sum(yields[site][: min(share, read[site])])):
        more = min(left, len(yields[site]) - read[site])
        read[site] += more
        left -= more
    return read


@given(webs, st.integers(1, 500))
def test_equal_shares_are_those_of_the_published_rule(yields, budget):
    crawl = Crawl(EqualShares(budget), yields)
    crawl.run(budget)
    assert crawl.read == _published(yields, budget)


def test_shares_are_fixed_when_the_first_pull_starts():
    rule = EqualShares(8)
    for arm in "ab":
        rule.sleep(arm)
    rule.record_pull("a")
    rule.cancel_pull("a")
    assert pulls(awake(rule, "abcd"), [0.0] * 8) == [*"abcdabcd"]
