"""The rule `best` chooses the awake site whose best page has the highest score."""

from hypothesis import given
from hypothesis import strategies as st

from crawlers.bandits.index_rule import Best

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
