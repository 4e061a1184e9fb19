"""Rules that learn nothing, or only once: turns of pages or of seconds, one site after the other, equal shares; and for
orders whose scores are comparable across sites: the site with the best page.

References
----------
.. [1] BeeBot (see `beebot`), the rules of a planner without knowledge of its sites, and rule R1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.bandits.arms import Arm, HeapRule
from crawlers.bandits.index_rule import IndexRule

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crawlers.bandits.arms import Priority


class SiteOfBest(Arm):
    """A site, with the score of its best page."""

    __slots__ = ("value",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.value = 0.0


class Best(IndexRule[SiteOfBest]):
    """The awake site with the greatest value; ties: the least pulled site, then the order of discovery.

    Values are relative to a base that grows with all of them. O(log K) per choice among K sites, amortised.
    """

    weighs_pages = True
    has_index = False

    def __init__(self) -> None:
        super().__init__(SiteOfBest)
        self._base = 0.0

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Record that the best page of *arm* has the score *value* + *base* now."""
        found = self._arm(arm)
        self._base = base
        found.value = value
        self._changed(found)

    def index(self, arm: Hashable) -> None:
        """Return None: an index is a function of pulls."""

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the greatest value of the arms for which *is_wanted* returns True; None if it does for none."""
        best = super().best_index(is_wanted)
        return None if best is None else best + self._base

    def _compare(self, arm: SiteOfBest) -> tuple[float, float] | None:
        other = self._best_other(arm)
        return None if other is None else (arm.value + self._base, other.value + self._base)

    def _value(self, arm: SiteOfBest) -> float:
        return arm.value


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


class _ShareArm(Arm):
    """An arm that stores the total reward of its share."""

    __slots__ = ("share_total",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.share_total = 0.0


class EqualShares(IndexRule[_ShareArm]):
    """R1: q = floor(N/K) pages of every site, the rest of the N pages on the site whose q pages earned most.

    *page_budget* is N; K is the number of sites known when the first pull starts. q is at least 1: if N < K, the first
    N sites get one page each. Shares are spent breadth first (page 1 of all sites, page 2 of all, …). Pages that an
    exhausted site leaves of its share also go to the best site, or to the next best while that sleeps. Ties: order of
    discovery. O(log K) per choice.

    References
    ----------
    .. [1] BeeBot, rule R1 ("trivial"). If K divides N, it is a uniform allocation.
    """

    def __init__(self, page_budget: int) -> None:
        super().__init__(_ShareArm)
        self._page_budget = page_budget
        self._pulls = 0
        self._share = 0  # q; unknown before the first pull

    def _value(self, arm: _ShareArm) -> float:
        """Return the total reward of the share of *arm*; infinity while some of the share is unspent."""
        return arm.share_total if arm.pulls >= self._share > 0 else math.inf

    def _priority(self, arm: _ShareArm) -> Priority:
        index = self._value(arm)
        return (-index, arm.pulls if index == math.inf else 0)

    def _compare(self, arm: _ShareArm) -> None:
        """Return None: no site is waited for."""

    def _record_pull(self, arm: _ShareArm) -> None:
        self._pulls += 1
        if not self._share:
            self._share = max(1, self._page_budget // len(self._arms))

    def _record_reward(self, arm: _ShareArm, reward: float) -> None:
        if arm.pulls - arm.pending <= self._share:
            arm.share_total += reward

    def _cancel_pull(self, arm: _ShareArm) -> None:
        self._pulls -= 1
        if not self._pulls:
            self._share = 0
