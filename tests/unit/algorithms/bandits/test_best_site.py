"""The rule `best` chooses the awake site whose best page has the highest score."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.bandits.best_site import Best

ARMS = range(5)
arms = st.sampled_from(ARMS)
events = st.lists(
    st.one_of(
        st.tuples(st.just("wake"), arms),
        st.tuples(st.just("sleep"), arms),
        st.tuples(st.just("valued"), arms, st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0])),
        st.tuples(st.just("started"), arms),
        st.tuples(st.just("rewarded"), arms, st.just(1.0)),
        st.tuples(st.just("cancelled"), arms),
    ),
    max_size=200,
)


class Naive:
    """Keeps for each arm, in order of discovery, whether it is awake, its value and its pulls."""

    def __init__(self) -> None:
        self.arms: dict[int, list[float]] = {}
        self.pending: dict[int, int] = {}

    def happens(self, name: str, arm: int, value: float = 0.0) -> None:
        known = self.arms.setdefault(arm, [0, 0.0, 0])
        pending = self.pending.get(arm, 0)
        if name in ("wake", "sleep"):
            known[0] = name == "wake"
        elif name == "valued":
            known[1] = value
        elif name == "started":
            known[2] += 1
            self.pending[arm] = pending + 1
        elif pending:
            known[2] -= name == "cancelled"
            self.pending[arm] = pending - 1
        elif name == "rewarded":
            known[2] += 1

    def best(self) -> int | None:
        awake = [
            (-value, pulls, n, arm) for n, (arm, (is_awake, value, pulls)) in enumerate(self.arms.items()) if is_awake
        ]
        return min(awake)[3] if awake else None


@given(events)
def test_choice_equals_that_of_a_scan_of_all_sites(events: list[tuple]) -> None:
    rule, naive = Best(), Naive()
    for name, *arguments in events:
        getattr(rule, name)(*arguments)
        naive.happens(name, *arguments)
        assert rule.select(0.0) == naive.best()


@given(events)
def test_choice_does_not_depend_on_earlier_selections(events: list[tuple]) -> None:
    rule, naive = Best(), Naive()
    for name, *arguments in events:
        getattr(rule, name)(*arguments)
        naive.happens(name, *arguments)
    assert rule.select(0.0) == naive.best()
    assert rule.select(0.0) == naive.best(), "selecting changes nothing"


def test_memory_stays_bounded_when_values_change_often() -> None:
    rule = Best()
    for arm in range(10):
        rule.wake(arm)
    for turn in range(5_000):
        rule.valued(turn % 10, float(turn))
    assert rule.select(0.0) == 9
    assert len(rule._heap) <= 8 * 10 + 65


def test_ties_go_to_the_site_with_the_fewest_pulls_and_then_to_the_oldest() -> None:
    rule = Best()
    for arm in "abc":
        rule.wake(arm)
        rule.valued(arm, 1.0)
    chosen = []
    for _ in range(6):
        arm = rule.select(0.0)
        chosen.append(arm)
        rule.started(arm)
    assert chosen == list("abcabc")
