"""The rule for orders whose scores are comparable across sites: the site with the best page."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm, ArmRule

if TYPE_CHECKING:
    from collections.abc import Hashable


class SiteOfBest(Arm):
    """A site, with the score of its best page."""

    __slots__ = ("value",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.value = 0.0


class Best(ArmRule[SiteOfBest]):
    """The awake site with the greatest value; ties: the least pulled site, then the order of discovery.

    O(log K) per choice among K sites, amortised. The heap may contain outdated values of a site, which are dropped when
    they reach the top.
    """

    weighs_pages = True

    def __init__(self) -> None:
        super().__init__(SiteOfBest)
        self._heap: list[tuple[float, int, int]] = []  # minus the value, pulls, number

    def valued(self, arm: Hashable, value: float) -> None:
        """Record that the best page of *arm* has the score *value* now."""
        found = self._arm(arm)
        if found.value != value:
            found.value = value
            self._push(found)

    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep."""
        heap = self._heap
        while heap:
            arm = self._arms[heap[0][2]]
            if arm.is_awake and heap[0] == (-arm.value, arm.pulls, arm.number):
                return arm.name
            heapq.heappop(heap)
        return None

    def _push(self, arm: SiteOfBest) -> None:
        if arm.is_awake:
            heapq.heappush(self._heap, (-arm.value, arm.pulls, arm.number))
            if len(self._heap) > 8 * len(self._awake) + 64:  # most entries are outdated
                self._heap = [(-a.value, a.pulls, a.number) for a in self._awake.values()]
                heapq.heapify(self._heap)

    def _woke(self, arm: SiteOfBest) -> None:
        self._push(arm)

    def _started(self, arm: SiteOfBest) -> None:
        self._push(arm)

    def _cancelled(self, arm: SiteOfBest) -> None:
        self._push(arm)
