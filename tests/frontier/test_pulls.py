"""What the downloads of a crawl cost and earn."""

from __future__ import annotations

from crawlers.frontier.pulls import NOTHING, Earned, Pulls
from crawlers.storage.unit import Unit


class Heard:
    """A rule that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def wake(self, arm: object) -> None: ...
    def sleep(self, arm: object) -> None: ...
    def select(self, now: float) -> object: ...

    def started(self, arm: object) -> None:
        self.told.append(("started", arm))

    def rewarded(self, arm: object, reward: float) -> None:
        self.told.append(("rewarded", arm, reward))

    def cancelled(self, arm: object) -> None:
        self.told.append(("cancelled", arm))


def test_pulls_in_flight_count_against_the_budget_until_they_turn_out_to_be_none():
    pulls = Pulls(Heard(), 2, records=False)
    pulls.started(1)
    pulls.started(2)
    assert not pulls.has_room
    assert not pulls.is_spent
    pulls.cancelled(2)
    assert pulls.has_room
    pulls.started(1)
    pulls.ended(1, 10, NOTHING, 0.0, Unit())
    pulls.ended(1, 11, NOTHING, 0.0, Unit())
    assert pulls.is_spent
    assert not pulls.has_room


def test_without_a_budget_there_is_always_room():
    pulls = Pulls(Heard(), 0, records=False)
    for _ in range(1000):
        pulls.started(1)
        pulls.ended(1, 1, NOTHING, 0.0, Unit())
    assert pulls.has_room
    assert not pulls.is_spent


def test_ended_pull_is_written_with_what_was_paid_for():
    unit = Unit()
    pulls = Pulls(Heard(), 0, records=True)
    pulls.started(7)
    pulls.ended(7, 42, Earned(2.0, {9, 3}), 5.5, unit)
    assert unit.pulls == [[7, 42, 2.0, 5.5]]
    assert unit.counted_keys == [[7, 3], [7, 9]]


def test_pulls_that_nobody_counts_are_not_written():
    unit = Unit()
    pulls = Pulls(Heard(), 0, records=False)
    pulls.started(7)
    pulls.ended(7, 42, Earned(2.0, {9}), 5.5, unit)
    assert unit == Unit()


def test_rule_is_told_earlier_pulls_as_it_was_told_them_then():
    before, after = Heard(), Heard()
    pulls = Pulls(before, 0, records=False)
    for site, reward in ((1, 3.0), (2, 0.0), (1, 1.0)):
        pulls.started(site)
        pulls.ended(site, 1, Earned(reward), 0.0, Unit())
    again = Pulls(after, 3, records=False)
    again.recall([(1, 3.0), (2, 0.0), (1, 1.0)])
    assert after.told == before.told
    assert again.is_spent
