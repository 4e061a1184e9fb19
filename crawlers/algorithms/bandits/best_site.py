"""The rule for orders whose pages compare across sites: the site whose best page scores highest."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm, ArmRule

if TYPE_CHECKING:
    from collections.abc import Hashable


class SiteOfBest(Arm):
    """A site with what its best page scores."""

    __slots__ = ("value",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.value = 0.0


class Best(ArmRule[SiteOfBest]):
    """The awake site with the greatest value; among equals, the one pulled least, then the one known first.

    Choosing costs the logarithm of the number of sites. The heap may hold what a site was worth before, too;
    such items are passed over when they come to the top.
    """

    weighs_pages = True

    def __init__(self) -> None:
        super().__init__(SiteOfBest)
        self._heap: list[tuple[float, int, int]] = []  # minus the value, pulls, number

    def valued(self, arm: Hashable, value: float) -> None:
        """The best page of *arm* scores *value* now."""
        found = self._arm(arm)
        if found.value != value:
            found.value = value
            self._push(found)

    def select(self, now: float) -> Hashable | None:
        """The arm to pull next, or None when all sleep."""
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
            if len(self._heap) > 8 * len(self._awake) + 64:  # mostly of values that were
                self._heap = [(-a.value, a.pulls, a.number) for a in self._awake.values()]
                heapq.heapify(self._heap)

    def _woke(self, arm: SiteOfBest) -> None:
        self._push(arm)

    def _started(self, arm: SiteOfBest) -> None:
        self._push(arm)

    def _cancelled(self, arm: SiteOfBest) -> None:
        self._push(arm)
