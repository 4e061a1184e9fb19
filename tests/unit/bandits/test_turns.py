"""The site whose last turn ended first is next; equal shares are equal, and the best site gets the rest.

The rule `best` chooses the awake site whose best page has the highest score.
"""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.index_rule import Best, EqualShares
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


ARMS = range(5)
arms = st.sampled_from(ARMS)
events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["wake", "sleep", "pause", "record_pull", "cancel_pull"]), arms),
        st.tuples(st.just("set_arm_value"), arms, st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0])),
        st.tuples(st.just("record_reward"), arms, st.just(1.0)),
    ),
    max_size=200,
)


class Naive:
    """Keeps for each arm, in order of discovery, whether it is awake, its value and its pulls."""

    def __init__(self):
        self.arms = {}
        self.pending = {}
        self.resting = set()

    def happens(self, name, arm, value=0.0):
        known = self.arms.setdefault(arm, [0, 0.0, 0])
        pending = self.pending.get(arm, 0)
        if name in ("wake", "sleep", "pause"):
            known[0] = name == "wake"
            (self.resting.add if name == "pause" else self.resting.discard)(arm)
        elif name == "set_arm_value":
            known[1] = value
        elif name == "record_pull":
            known[2] += 1
            self.pending[arm] = pending + 1
        elif pending:
            known[2] -= name == "cancel_pull"
            self.pending[arm] = pending - 1
        elif name == "record_reward":
            known[2] += 1

    def is_close_to_best(self, arm, share):
        rivals = [
            value for n, (is_awake, value, _) in self.arms.items() if n != arm and (is_awake or n in self.resting)
        ]
        value, best = self.arms[arm][1], max(rivals, default=0.0)
        return not rivals or value >= best * share or (best < 0.0 and value >= best - (1.0 - share) * -best)

    def best(self):
        awake = [
            (-value, pulls, n, arm) for n, (arm, (is_awake, value, pulls)) in enumerate(self.arms.items()) if is_awake
        ]
        return min(awake)[3] if awake else None


def happened(events):
    """Return the rule and the naive one after each of the events."""
    rule, naive = Best(), Naive()
    for name, *arguments in events:
        getattr(rule, name)(*arguments)
        naive.happens(name, *arguments)
        yield rule, naive


@given(events)
def test_choice_equals_that_of_a_scan_of_all_sites(events):
    for rule, naive in happened(events):
        assert rule.select(0.0) == naive.best()


def test_memory_stays_bounded_when_values_change_often():
    rule = Best()
    for arm in range(10):
        rule.wake(arm)
    for turn in range(5_000):
        rule.set_arm_value(turn % 10, float(turn))
    assert rule.select(0.0) == 9
    assert len(rule._by_index._heap._heap) <= 8 * 10 + 65


@given(events, arms)
def test_value_is_compared_with_those_of_all_sites_that_are_awake_or_rest(events, arm):
    *_, (rule, naive) = happened([*events, ("wake", arm)])
    for share in (0.1, 0.9, 1.0):
        assert rule.is_close_to_best(arm, share) == naive.is_close_to_best(arm, share)


def test_values_are_compared_with_what_all_have_in_common():
    rule = Best()
    rule.wake("a")
    rule.set_arm_value("b", -1.0, 10.0)
    rule.pause("b")
    rule.set_arm_value("a", -2.0, 10.0)
    assert not rule.is_close_to_best("a", 0.9), "8 is less than 0.9 times 9"
    rule.set_arm_value("a", -2.0, 20.0)
    assert rule.is_close_to_best("a", 0.9), "18 is more than 0.9 times 19"
    assert rule.best_index(lambda arm: True) == 19.0


def test_greatest_value_of_the_wanted_sites_is_the_index():
    rule = Best()
    assert rule.best_index(lambda arm: True) is None
    for arm, value in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        rule.set_arm_value(arm, value)
        rule.sleep(arm)
    assert rule.best_index(lambda arm: arm != "b") == 2.0
    assert rule.best_index(lambda arm: True) == 3.0
