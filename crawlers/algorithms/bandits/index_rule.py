"""Index rules: every site has a number, its index, and the site with the largest index is chosen.

With up to `EXACT` awake sites, each choice computes and compares all indices. With more, an index is computed again
only when its site changes, and all indices together whenever the number of pulls has grown by a 32nd. In between, only
the logarithm of the number of pulls and the pooled scale are out of date. The times of these refreshes depend on the
pulls, not on the choices, so that a resumed crawl has the same ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from crawlers.algorithms.bandits.arms import A, ArmRule
from crawlers.algorithms.bandits.indexed_heap import IndexedHeap

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crawlers.algorithms.bandits.indexed_heap import Priority

EXACT = 64  # awake sites at most whose indices are computed for every choice, which takes some 100 us
REFRESH = 32  # after n pulls, all indices are computed every n/32 pulls: at most 32 per pull, as every site has one


class Pool:
    """Statistics of the rewards of all arms together; pulls in flight count with reward 0."""

    __slots__ = ("jump_total", "jumps", "largest", "pulls", "total", "total_sq")

    def __init__(self, pulls: int = 0) -> None:
        self.pulls = pulls
        self.total = 0.0
        self.total_sq = 0.0
        self.largest = 0.0
        self.jumps = 0  # pairs of successive rewards of the same arm; only `RecentUCB` counts them
        self.jump_total = 0.0  # sum of their absolute differences

    @property
    def mean(self) -> float:
        """The mean reward of a pull; there must be at least one."""
        return self.total / self.pulls

    @property
    def variance(self) -> float:
        """The variance of the rewards, with the pulls of all arms as one sample; there must be at least one."""
        return max(0.0, self.total_sq / self.pulls - self.mean**2)

    def snapshot(self, pulls: int) -> Pool:
        """Return a copy with this number of *pulls*, to leave out those in flight."""
        pool = Pool(pulls)
        pool.total, pool.total_sq, pool.largest = self.total, self.total_sq, self.largest
        pool.jumps, pool.jump_total = self.jumps, self.jump_total
        return pool


class IndexRule(ArmRule[A]):
    """The awake site with the largest index, after the first *initial* >= 1 pages of every site.

    The initial pages are read breadth first: page 1 of all sites, page 2 of all, … Ties: the least pulled site, then
    the order of discovery.

    A subclass computes in `_tune` what all indices have in common, from the `Pool`, and in `_value` the index of an
    arm with at least one pull. If *pools* is false, the index of an arm depends on that arm only.

    Notes
    -----
    O(K) indices per choice among K <= `EXACT` awake sites; with more, O(log K) and 32 K/n indices, amortised.
    """

    pools: ClassVar[bool] = True

    def __init__(self, make: Callable[[Hashable, int], A], initial: int = 1) -> None:
        super().__init__(make)
        self._initial = initial
        self._pool = Pool()
        self._young = IndexedHeap()  # awake arms with initial pages left
        self._ended = 0  # pulls with a known reward
        self._refreshed = Pool(1)  # the pool at the last refresh of all indices, without pulls in flight
        self._refresh_at = 1  # ended pulls
        self._ranked = IndexedHeap()  # awake arms by index, if they are many
        self._ranked_for: Pool | None = None  # the pool of these indices
        self._outdated: set[int] = set()  # numbers of arms that changed since they were ranked

    def _tune(self, pool: Pool) -> None:
        """Compute what the indices have in common; *pool* has at least one pull."""

    def _value(self, arm: A) -> float:
        """Return the index of *arm*, which has at least one pull."""
        raise NotImplementedError

    def index(self, arm: Hashable) -> float:
        """Return the index of *arm*, which the rule maximises; infinity while it has initial pages left."""
        found = self._known.get(arm)
        if found is None or found.pulls < max(1, self._initial):
            return math.inf
        self._tune(self._current())
        return self._value(found)

    def select(self, now: float) -> Hashable | None:
        """Return the arm with the largest index, or None if all sleep."""
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
            self._ranked.replace({arm.number: self._priority(arm) for arm in self._awake.values()})
        else:
            for number in self._outdated & self._awake.keys():
                self._ranked.put(number, self._priority(self._arms[number]))
        self._outdated.clear()

    def _priority(self, arm: A) -> Priority:
        return (-self._value(arm), arm.pulls)

    def _woke(self, arm: A) -> None:
        self._changed(arm)

    def _slept(self, arm: A) -> None:
        self._young.remove(arm.number)
        self._ranked.remove(arm.number)

    def _started(self, arm: A) -> None:
        self._pool.pulls += 1
        self._changed(arm)

    def _rewarded(self, arm: A, reward: float) -> None:
        pool = self._pool
        pool.total += reward
        pool.total_sq += reward * reward
        pool.largest = max(pool.largest, reward)
        self._ended += 1
        if self.pools and self._ended >= self._refresh_at:
            self._refresh_at = self._ended + max(1, self._ended // REFRESH)
            self._refreshed = pool.snapshot(self._ended)
        self._changed(arm)

    def _cancelled(self, arm: A) -> None:
        self._pool.pulls -= 1
        self._changed(arm)

    def _changed(self, arm: A) -> None:
        self._outdated.add(arm.number)
        if arm.is_awake:
            if arm.pulls < self._initial:
                self._young.put(arm.number, (arm.pulls,))
            elif arm.pulls <= self._initial:
                self._young.remove(arm.number)
