"""Index rules: every site has a number, and the largest one is read next.

Up to `EXACT` waking sites every choice compares the indices of this moment. With more of them an index is worked out
anew when something is learnt of its site, and for all sites together when the pulls have grown by a 32nd: between
two such moments only the logarithm of the number of pulls and the pooled scale are that old. The moments are set by the
pulls, not by the choices, so that an interrupted crawl has the same ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from crawlers.algorithms.bandits.arms import A, ArmRule
from crawlers.algorithms.bandits.indexed_heap import IndexedHeap, QueueSlot

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

EXACT = 64  # waking sites whose indices are all compared; some 100 us a choice
REFRESH = 32  # at n pulls all indices are renewed every n/32: at most 32 a pull, since every site was read once


class Pool:
    """What all arms earned together; pulls in flight count as pulls that earned nothing."""

    __slots__ = ("jump_total", "jumps", "largest", "pulls", "total", "total_sq")

    def __init__(self, pulls: int = 0) -> None:
        self.pulls = pulls
        self.total = 0.0
        self.total_sq = 0.0
        self.largest = 0.0
        self.jumps = 0  # from one reward to the next of the same arm, of rules that count them
        self.jump_total = 0.0

    @property
    def mean(self) -> float:
        """The mean reward of a pull."""
        return self.total / self.pulls

    @property
    def variance(self) -> float:
        """The variance of the rewards, pulls of all arms as one sample."""
        return max(0.0, self.total_sq / self.pulls - self.mean**2)

    def settled(self, answers: int) -> Pool:
        """The same figures without the pulls in flight; they stay as they are."""
        pool = Pool(answers)
        pool.total, pool.total_sq, pool.largest = self.total, self.total_sq, self.largest
        pool.jumps, pool.jump_total = self.jumps, self.jump_total
        return pool


class IndexRule(ArmRule[A]):
    """Reads the waking site of the largest index; the first *initial* pages of every site come before that.

    The initial pages are read page by page: page 1 of all sites, page 2 of all … Ties: the least read site, then the
    order of becoming known.

    A rule of this kind says in `_tune` what its indices share, worked out of the `Pool`, and in `_value` what the index
    of an arm is that was pulled at least once. With *pools* false the index of an arm depends on nothing else.

    Notes
    -----
    O(K) indices a choice for K <= `EXACT` waking sites, beyond that O(log K) and 32 K/n indices, amortised.
    """

    pools: ClassVar[bool] = True

    def __init__(self, make: Callable[[Hashable, int], A], initial: int = 1) -> None:
        super().__init__(make)
        self._initial = initial
        self._pool = Pool()
        self._young = IndexedHeap()  # those awake that have initial pages left
        self._answers = 0
        self._refreshed = Pool(1)  # the pool when all indices were renewed last, without pulls in flight
        self._refresh_at = 1  # answers
        self._ranked = IndexedHeap()  # those awake, by index, when they are many
        self._ranked_for: Pool | None = None  # the pool of these indices
        self._news: set[int] = set()  # arms whose place in that line is not what it should be

    def _tune(self, pool: Pool) -> None:
        """Work out what the indices share; *pool* has one pull at least."""

    def _value(self, arm: A) -> float:
        raise NotImplementedError

    def index(self, arm: Hashable) -> float:
        """What the rule maximises; infinite while *arm* has initial pages left."""
        found = self._known.get(arm)
        if found is None or found.pulls < max(1, self._initial):
            return math.inf
        self._tune(self._current())
        return self._value(found)

    def select(self, now: float) -> Hashable | None:
        """The site of the largest index, or None when all sleep."""
        young = self._young.first()
        if young is not None:
            return self._arms[young].name
        if len(self._awake) <= EXACT:
            return self._best_of_few()
        self._rank()
        first = self._ranked.first()
        return None if first is None else self._arms[first].name

    def _current(self) -> Pool:
        return self._pool if len(self._awake) <= EXACT else self._refreshed

    def _best_of_few(self) -> Hashable | None:
        if not self._awake:
            return None
        self._tune(self._pool)
        value = self._value
        best, most = None, -math.inf
        for arm in self._awake.values():
            index = value(arm)
            if index > most:
                best, most = arm, index
            elif index == most and (best is None or (arm.pulls, arm.number) < (best.pulls, best.number)):
                best = arm
        return None if best is None else best.name

    def _rank(self) -> None:
        self._tune(self._refreshed)
        if self._ranked_for is not self._refreshed:
            self._ranked_for = self._refreshed
            self._ranked.arrange({arm.number: self._place(arm) for arm in self._awake.values()})
        else:
            for number in self._news & self._awake.keys():
                self._ranked.put(number, self._place(self._arms[number]))
        self._news.clear()

    def _place(self, arm: A) -> QueueSlot:
        return (-self._value(arm), arm.pulls)

    def _woke(self, arm: A) -> None:
        self._changed(arm)

    def _slept(self, arm: A) -> None:
        self._young.leave(arm.number)
        self._ranked.leave(arm.number)

    def _started(self, arm: A) -> None:
        self._pool.pulls += 1
        self._changed(arm)

    def _rewarded(self, arm: A, reward: float) -> None:
        pool = self._pool
        pool.total += reward
        pool.total_sq += reward * reward
        pool.largest = max(pool.largest, reward)
        self._answers += 1
        if self.pools and self._answers >= self._refresh_at:
            self._refresh_at = self._answers + max(1, self._answers // REFRESH)
            self._refreshed = pool.settled(self._answers)
        self._changed(arm)

    def _cancelled(self, arm: A) -> None:
        self._pool.pulls -= 1
        self._changed(arm)

    def _changed(self, arm: A) -> None:
        self._news.add(arm.number)
        if arm.is_awake:
            if arm.pulls < self._initial:
                self._young.put(arm.number, (arm.pulls,))
            elif arm.pulls <= self._initial:
                self._young.leave(arm.number)
