"""Rules that learn nothing, or only once: turns of pages or of seconds, one site after the other, and equal shares.

References
----------
.. [1] BeeBot, the rules of a planner that knows nothing of its sites, and its rule R1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm, ArmRule
from crawlers.algorithms.bandits.indexed_heap import IndexedHeap

if TYPE_CHECKING:
    from collections.abc import Hashable


class _TurnArm(Arm):
    """An arm that stands in line."""

    __slots__ = ("began", "ends", "in_turn")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.ends: list[int] = []  # the numbers of the pulls that ended its last turns; earlier ones are forgotten
        self.began: float | None = None  # when the turn at hand began, of turns that last for seconds
        self.in_turn: list[int] = []  # the numbers of the pulls of that turn

    @property
    def place(self) -> tuple[float, ...]:
        """How long ago its last turn ended; those that never had one stand first, in the order they came."""
        return (self.ends[-1] if self.ends else 0,)

    def forget(self) -> None:
        """Keep of the numbers what a cancelled pull could bring back, and no more."""
        del self.ends[: -1 - self.pending]
        del self.in_turn[: -1 - self.pending]


class RoundRobin(ArmRule[_TurnArm]):
    """Every waking site in turn, the one whose last turn ended longest ago first; a turn is *quantum* pages.

    A site that falls asleep in its turn goes on with it when it wakes: with politeness between two pages of a site
    a turn could not be longer than a page otherwise. O(log K) a choice.

    >>> rule = RoundRobin()
    >>> rule.wake("a"), rule.wake("b")
    (None, None)
    >>> [(arm := rule.select(0.0), rule.started(arm))[0] for _ in range(3)]
    ['a', 'b', 'a']
    """

    def __init__(self, quantum: int = 1) -> None:
        super().__init__(_TurnArm)
        self._quantum = quantum
        self._line = IndexedHeap()
        self._starts = 0

    def select(self, now: float) -> Hashable | None:
        """The first in line, or None when all sleep."""
        first = self._line.first()
        return None if first is None else self._arms[first].name

    def _woke(self, arm: _TurnArm) -> None:
        self._line.put(arm.number, arm.place)

    def _slept(self, arm: _TurnArm) -> None:
        self._line.leave(arm.number)

    def _started(self, arm: _TurnArm) -> None:
        self._starts += 1
        if arm.pulls % self._quantum == 0:
            arm.ends.append(self._starts)
            self._moved(arm)

    def _rewarded(self, arm: _TurnArm, reward: float) -> None:
        arm.forget()

    def _cancelled(self, arm: _TurnArm) -> None:
        if (arm.pulls + 1) % self._quantum == 0:
            arm.ends.pop()
            self._moved(arm)

    def _moved(self, arm: _TurnArm) -> None:
        if arm.is_awake:
            self._line.put(arm.number, arm.place)


class TimedRoundRobin(RoundRobin):
    """Every waking site in turn for *quantum_s* seconds, the one whose last turn ended longest ago first.

    A turn begins with the choice that its first pull followed, and is over when the site is first in line and the
    seconds have passed. Pulls that are told with no choice before (those of an interrupted crawl) are a turn each:
    how long ago they were is not known. O(log K) a choice, amortised.
    """

    def __init__(self, quantum_s: float) -> None:
        super().__init__()
        self._quantum_s = quantum_s
        self._now: float | None = None

    def select(self, now: float) -> Hashable | None:
        """The first in line whose turn is not over at *now*, or None when all sleep."""
        self._now = now
        while (first := self._line.first()) is not None:
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
        self._moved(arm)

    def _started(self, arm: _TurnArm) -> None:
        self._starts += 1
        arm.in_turn.append(self._starts)
        if arm.began is None:
            arm.began = self._now
        if arm.began is None:
            self._end_turn(arm)

    def _cancelled(self, arm: _TurnArm) -> None:
        (arm.in_turn or arm.ends).pop()
        if not arm.in_turn:
            arm.began = None
        self._moved(arm)


class Sequential(ArmRule[Arm]):
    """One site after the other, in the order they became known; while one sleeps the next is read. O(log K)."""

    def __init__(self) -> None:
        super().__init__(Arm)
        self._line = IndexedHeap()

    def select(self, now: float) -> Hashable | None:
        """The first site of those awake, or None when all sleep."""
        first = self._line.first()
        return None if first is None else self._arms[first].name

    def _woke(self, arm: Arm) -> None:
        self._line.put(arm.number, (arm.number,))

    def _slept(self, arm: Arm) -> None:
        self._line.leave(arm.number)


class _ShareArm(Arm):
    """An arm that remembers what its share earned."""

    __slots__ = ("share_total",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.share_total = 0.0


class EqualShares(ArmRule[_ShareArm]):
    """R1: q = floor(N/K) pages of every site, the rest of the N pages on the site whose q pages earned most.

    *page_budget* is N, K the sites known when the first pull starts; q is 1 at least, so that a budget of less than a
    page a site is spent on the first N of them. The shares are read page by page (page 1 of all sites, page 2 of all
    …). What a site that ends leaves of its share is spent on the best one, too; when that sleeps, on the next best.
    Ties: the order of becoming known. O(log K) a choice.

    References
    ----------
    .. [1] BeeBot, rule R1 ("trivial"). When K divides N it is a uniform allocation and nothing else.
    """

    def __init__(self, page_budget: int) -> None:
        super().__init__(_ShareArm)
        self._page_budget = page_budget
        self._pulls = 0
        self._share = 0  # q; not known before the first pull
        self._shares = IndexedHeap()  # those awake whose share is not spent
        self._best = IndexedHeap()  # those awake, by what their shares earned

    def select(self, now: float) -> Hashable | None:
        """The least read site that has some of its share left, else the best one; None when all sleep."""
        first = self._shares.first()
        if first is None:
            first = self._best.first()
        return None if first is None else self._arms[first].name

    def index(self, arm: Hashable) -> float:
        """What the share of *arm* has earned; infinite while some of it is left."""
        found = self._known.get(arm)
        return found.share_total if found is not None and self._is_spent(found) else float("inf")

    def _is_spent(self, arm: _ShareArm) -> bool:
        return arm.pulls >= self._share > 0

    def _woke(self, arm: _ShareArm) -> None:
        self._stand(arm)

    def _slept(self, arm: _ShareArm) -> None:
        self._shares.leave(arm.number)
        self._best.leave(arm.number)

    def _started(self, arm: _ShareArm) -> None:
        self._pulls += 1
        if not self._share:
            self._share = max(1, self._page_budget // len(self._arms))
        self._stand(arm)

    def _rewarded(self, arm: _ShareArm, reward: float) -> None:
        if arm.pulls - arm.pending <= self._share:
            arm.share_total += reward
            self._stand(arm)

    def _cancelled(self, arm: _ShareArm) -> None:
        self._pulls -= 1
        if not self._pulls:
            self._share = 0
        self._stand(arm)

    def _stand(self, arm: _ShareArm) -> None:
        if arm.is_awake:
            self._best.put(arm.number, (-arm.share_total,))
            if self._is_spent(arm):
                self._shares.leave(arm.number)
            else:
                self._shares.put(arm.number, (arm.pulls,))
