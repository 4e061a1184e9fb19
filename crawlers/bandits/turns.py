"""Rules that learn nothing: turns of pages or of seconds, one site after the other.

References
----------
.. [1] BeeBot (see `index_rule`), the rules of a planner without knowledge of its sites, and rule R1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.bandits.arms import Arm, HeapRule

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawlers.bandits.arms import Priority


class _TurnArm(Arm):
    """An arm with its turns."""

    __slots__ = ("began", "ends", "in_turn")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.ends: list[int] = []  # numbers of the pulls that ended its latest turns
        self.began: float | None = None  # when the current turn began, if turns are measured in seconds
        self.in_turn: list[int] = []  # numbers of the pulls of the current turn

    def forget(self) -> None:
        """Drop all numbers but those that cancelled pulls could make current again."""
        del self.ends[: -1 - self.pending]
        del self.in_turn[: -1 - self.pending]


class RoundRobin(HeapRule[_TurnArm]):
    """The awake site whose last turn ended longest ago; a turn is *quantum* >= 1 pages.

    A site that becomes unavailable during its turn continues it when it is available again: sites sleep between two
    pages out of politeness, so a turn would otherwise never be longer than one page. O(log K) per choice among K sites.

    >>> rule = RoundRobin()
    >>> rule.wake("a"), rule.wake("b")
    (None, None)
    >>> [(arm := rule.select(0.0), rule.record_pull(arm))[0] for _ in range(3)]
    ['a', 'b', 'a']
    """

    def __init__(self, quantum: int = 1) -> None:
        super().__init__(_TurnArm)
        self._quantum = quantum
        self._starts = 0

    def _priority(self, arm: _TurnArm) -> Priority:
        """Return the number of the pull that ended its last turn; 0 without a turn."""
        return (arm.ends[-1] if arm.ends else 0,)

    def _record_pull(self, arm: _TurnArm) -> None:
        self._starts += 1
        if arm.pulls % self._quantum == 0:
            arm.ends.append(self._starts)

    def _record_reward(self, arm: _TurnArm, reward: float) -> None:
        arm.forget()

    def _cancel_pull(self, arm: _TurnArm) -> None:
        if (arm.pulls + 1) % self._quantum == 0:
            arm.ends.pop()


class TimedRoundRobin(RoundRobin):
    """The awake site whose last turn ended longest ago; a turn lasts *quantum_s* seconds.

    A turn begins with the choice that led to its first pull. It ends when its time is over and its site is at the top
    of the heap. Pulls without a preceding choice (those replayed from an interrupted crawl) are one turn each, because
    their times are unknown. O(log K) per choice among K sites, amortised.
    """

    def __init__(self, quantum_s: float) -> None:
        super().__init__()
        self._quantum_s = quantum_s
        self._now: float | None = None

    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, after ending the turns that are over at *now*; None if all sleep."""
        self._now = now
        while (first := self._heap.first()) is not None:
            arm = self._arms[first]
            if arm.began is None or now - arm.began < self._quantum_s:
                return arm.name
            self._end_turn(arm)
        return None

    def _end_turn(self, arm: _TurnArm) -> None:
        arm.ends.extend(arm.in_turn)
        arm.in_turn.clear()
        arm.began = None
        arm.forget()
        self._changed(arm)

    def _record_pull(self, arm: _TurnArm) -> None:
        self._starts += 1
        arm.in_turn.append(self._starts)
        if arm.began is None:
            arm.began = self._now
        if arm.began is None:
            self._end_turn(arm)

    def _cancel_pull(self, arm: _TurnArm) -> None:
        (arm.in_turn or arm.ends).pop()
        if not arm.in_turn:
            arm.began = None


class Sequential(HeapRule[Arm]):
    """One site after the other, in the order of discovery; the first awake one is chosen. O(log K) per choice."""

    def __init__(self) -> None:
        super().__init__(Arm)

    def _priority(self, arm: Arm) -> Priority:
        return (arm.number,)
