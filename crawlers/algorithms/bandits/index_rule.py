"""Index rules: every site has a number, its index, and the site with the largest index is chosen.

With up to `EXACT` sites that are awake or rest, each choice computes and compares all indices. With more, an index is
computed again only when its site changes, and all indices together whenever the number of pulls has grown by a 32nd. In
between, only the logarithm of the number of pulls and the pooled scale are out of date. The times of these refreshes
depend on the pulls, not on the choices, so that a resumed crawl has the same ones.

With several pulls in flight a site has two indices. Its *index* counts pulls in flight with reward 0: no results can
make it lower. Its *prospect* is the index without them. A site whose index is near the prospects of all others would
be chosen with one pull in flight as well, whatever the results in flight turn out to be: see `is_close_to_best`.

References
----------
.. [1] Joulani, Gyorgy, Szepesvari (2013), Online Learning under Delayed Feedback: the cost of a delay grows with the
   pulls in flight.
.. [2] Ginsbourger, Le Riche, Carraro (2010), Kriging Is Well-Suited to Parallelize Optimization, sect. 4.2 (the
   constant liar, whose lie here is the lowest reward).
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from crawlers.algorithms.bandits.arms import A, ArmRule
from crawlers.algorithms.bandits.indexed_heap import IndexedHeap

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from crawlers.algorithms.bandits.indexed_heap import Priority

EXACT = 64  # sites at most whose indices are computed for every choice, which takes some 100 us
REFRESH = 32  # after n pulls, all indices are computed every n/32 pulls: at most 32 per pull, as every site has one


class Pool:
    """Statistics of the rewards of all arms together; pulls in flight count with reward 0."""

    __slots__ = ("arms", "jump_total", "jumps", "largest", "pulls", "total")

    def __init__(self, pulls: int = 0) -> None:
        self.pulls = pulls
        self.total = 0.0
        self.largest = 0.0
        self.arms = 0  # with a known reward; only `RecentUCB` counts them, and
        self.jumps = 0  # pairs of successive rewards of the same arm
        self.jump_total = 0.0  # sum of their absolute differences

    def snapshot(self, pulls: int) -> Pool:
        """Return a copy with this number of *pulls*, to leave out those in flight."""
        pool = Pool(pulls)
        pool.total, pool.largest = self.total, self.largest
        pool.arms, pool.jumps, pool.jump_total = self.arms, self.jumps, self.jump_total
        return pool


class _Ranking:
    """Arms by index, computed again when they change or when all indices are refreshed."""

    def __init__(self) -> None:
        self.heap = IndexedHeap()
        self._pool: Pool | None = None  # the one for which the indices were computed
        self._outdated: set[int] = set()  # numbers of arms that changed since then

    def changed(self, number: int) -> None:
        """Note that the index of arm *number* has changed, or that it is to be ranked now."""
        self._outdated.add(number)

    def update(self, pool: Pool, arms: Iterable[int], priority: Callable[[int], Priority | None]) -> None:
        """Rank *arms* by *priority*, which is None for those that are not to be ranked."""
        if self._pool is not pool:
            self._pool = pool
            found = ((number, priority(number)) for number in arms)
            self.heap.replace({number: one for number, one in found if one is not None})
        else:
            for number in self._outdated:
                one = priority(number)
                if one is not None:
                    self.heap.put(number, one)
        self._outdated.clear()


class IndexRule(ArmRule[A]):
    """The awake site with the largest index, after the first *initial* >= 1 pages of every site.

    The initial pages are read breadth first: page 1 of all sites, page 2 of all, … Ties: the least pulled site, then
    the order of discovery.

    A subclass computes in `_tune` what all indices have in common, from the `Pool`, and in `_value` the index of an
    arm with at least one pull. If *pools* is false, the index of an arm depends on that arm only.

    Notes
    -----
    O(K) indices per choice among K <= `EXACT` sites; with more, O(log K) and 32 K/n indices, amortised.
    """

    has_index = True
    pools: ClassVar[bool] = True

    def __init__(self, make: Callable[[Hashable, int], A], initial: int = 1) -> None:
        super().__init__(make)
        self._initial = initial
        self._pool = Pool()
        self._young = IndexedHeap()  # awake arms with initial pages left
        self._ended = 0  # pulls with a known reward
        self._refreshed = Pool(1)  # the pool at the last refresh of all indices, without pulls in flight
        self._refresh_at = 1  # ended pulls
        self._resting: dict[int, A] = {}
        self._by_index = _Ranking()  # awake arms, if they are many
        self._by_prospect = _Ranking()  # arms that are awake or rest, if they are many
        # For `best_index`, all arms, awake or not: those with initial pages left, the others, and these by index.
        self._unread = IndexedHeap()
        self._read: set[int] = set()
        self._by_worth = _Ranking()

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

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the largest index of the arms for which *is_wanted* returns True; None if it does for none.

        Of many arms, an unwanted one is left out from then on until it changes or wakes. O(log K), amortised, and at
        most 32 indices for each pull since the last call.
        """
        if len(self._arms) <= EXACT:
            return max((self.index(name) for name in self._known if is_wanted(name)), default=None)

        def wanted(number: int) -> bool:
            return is_wanted(self._arms[number].name)

        if self._unread.first_wanted(wanted) is not None:
            return math.inf
        self._tune(self._refreshed)
        self._by_worth.update(self._refreshed, self._read, self._worth_priority)
        first = self._by_worth.heap.first_wanted(wanted)
        return None if first is None else self._value(self._arms[first])

    def select(self, now: float) -> Hashable | None:
        """Return the arm with the largest index, or None if all sleep."""
        young = self._young.first()
        if young is not None:
            return self._arms[young].name
        if self._is_few:
            return self._best_of_few()
        self._tune(self._refreshed)
        self._by_index.update(self._refreshed, self._awake, self._index_priority)
        first = self._by_index.heap.first()
        return None if first is None else self._arms[first].name

    def _compare(self, arm: A) -> tuple[float, float] | None:
        """Return the index of *arm*, and the best prospect of other sites.

        None until a site has earned anything, and while *arm* has initial pages left.
        """
        if arm.pulls < self._initial or not self._pool.total:
            return None
        self._tune(self._current())
        return self._value(arm), self._best_prospect(arm)

    def pause(self, arm: Hashable) -> None:
        """Make *arm* unavailable for a short time: it still counts in `is_close_to_best`."""
        self.sleep(arm)
        found = self._arm(arm)
        self._resting[found.number] = found
        self._by_prospect.changed(found.number)

    def sleep(self, arm: Hashable) -> None:
        """Make *arm* unavailable; the first call registers it."""
        super().sleep(arm)
        number = self._arm(arm).number
        if self._resting.pop(number, None) is not None:
            self._by_prospect.heap.remove(number)

    def wake(self, arm: Hashable) -> None:
        """Make *arm* available; the first call registers it."""
        self._resting.pop(self._arm(arm).number, None)
        super().wake(arm)

    @property
    def _is_few(self) -> bool:
        return len(self._awake) + len(self._resting) <= EXACT

    def _current(self) -> Pool:
        return self._pool if self._is_few else self._refreshed

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

    def _best_prospect(self, but: A) -> float:
        """Return the largest prospect of an arm other than *but* that is awake or rests; 0 if there is none."""
        if self._is_few:
            arms = (*self._awake.values(), *self._resting.values())
            return max((self._prospect(arm) for arm in arms if arm is not but), default=0.0)
        self._by_prospect.update(self._refreshed, chain(self._awake, self._resting), self._prospect_priority)
        first = self._by_prospect.heap.first_but(but.number)
        return 0.0 if first is None else self._prospect(self._arms[first])

    def _prospect(self, arm: A) -> float:
        """Return the index of *arm* without its pulls in flight; infinity while fewer than the initial ones ended."""
        in_flight = arm.pending
        if arm.pulls - in_flight < self._initial:
            return math.inf
        if not in_flight:
            return self._value(arm)
        arm.pulls -= in_flight
        arm.pending = 0
        try:
            return self._value(arm)
        finally:
            arm.pulls += in_flight
            arm.pending = in_flight

    def _index_priority(self, number: int) -> Priority | None:
        arm = self._awake.get(number)
        return None if arm is None else (-self._value(arm), arm.pulls)

    def _worth_priority(self, number: int) -> Priority | None:
        return (-self._value(self._arms[number]),) if number in self._read else None

    def _prospect_priority(self, number: int) -> Priority | None:
        arm = self._awake.get(number) or self._resting.get(number)
        return None if arm is None else (-self._prospect(arm),)

    def _add_awake(self, arm: A) -> None:
        self._changed(arm)

    def _remove_awake(self, arm: A) -> None:
        self._young.remove(arm.number)
        self._by_index.heap.remove(arm.number)
        self._by_prospect.heap.remove(arm.number)

    def _record_pull(self, arm: A) -> None:
        self._pool.pulls += 1
        self._changed(arm)

    def _record_reward(self, arm: A, reward: float) -> None:
        pool = self._pool
        pool.total += reward
        pool.largest = max(pool.largest, reward)
        self._ended += 1
        if self.pools and self._ended >= self._refresh_at:
            self._refresh_at = self._ended + max(1, self._ended // REFRESH)
            self._refreshed = pool.snapshot(self._ended)
        self._changed(arm)

    def _cancel_pull(self, arm: A) -> None:
        self._pool.pulls -= 1
        self._changed(arm)

    def _changed(self, arm: A) -> None:
        if arm.pulls < max(1, self._initial):
            self._unread.put(arm.number, (arm.pulls,))
            self._read.discard(arm.number)
            self._by_worth.heap.remove(arm.number)
        else:
            self._unread.remove(arm.number)
            self._read.add(arm.number)
            self._by_worth.changed(arm.number)
        self._by_index.changed(arm.number)
        self._by_prospect.changed(arm.number)
        if arm.is_awake:
            if arm.pulls < self._initial:
                self._young.put(arm.number, (arm.pulls,))
            elif arm.pulls <= self._initial:
                self._young.remove(arm.number)
