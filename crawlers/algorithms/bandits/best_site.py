"""The rule for orders whose scores are comparable across sites: the site with the best page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm, HeapRule
from crawlers.algorithms.bandits.indexed_heap import IndexedHeap

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crawlers.algorithms.bandits.indexed_heap import Priority


class SiteOfBest(Arm):
    """A site, with the score of its best page."""

    __slots__ = ("value",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.value = 0.0


class Best(HeapRule[SiteOfBest]):
    """The awake site with the greatest value; ties: the least pulled site, then the order of discovery.

    Values are relative to a base that grows with all of them. O(log K) per choice among K sites, amortised.
    """

    weighs_pages = True

    def __init__(self) -> None:
        super().__init__(SiteOfBest)
        self._base = 0.0
        self._expected = IndexedHeap()  # arms that are awake or rest
        self._by_value = IndexedHeap()  # arms, awake or not, for `best_index`

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Record that the best page of *arm* has the score *value* + *base* now."""
        found = self._arm(arm)
        self._base = base
        found.value = value
        self._by_value.put(found.number, (-value,))
        if found.is_awake:
            self._add_awake(found)

    def _priority(self, arm: SiteOfBest) -> Priority:
        return (-arm.value, arm.pulls)

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the greatest value of the arms for which *is_wanted* returns True; None if it does for none.

        O(log K), amortised: an unwanted arm is left out from then on until it is valued again.
        """
        first = self._by_value.first_wanted(lambda number: is_wanted(self._arms[number].name))
        return None if first is None else self._arms[first].value + self._base

    def pause(self, arm: Hashable) -> None:
        """Make *arm* unavailable for a short time: it still counts in `is_close_to_best`."""
        self.sleep(arm)
        found = self._arm(arm)
        self._expected.put(found.number, (-found.value,))

    def sleep(self, arm: Hashable) -> None:
        """Make *arm* unavailable; the first call registers it."""
        super().sleep(arm)
        self._expected.remove(self._arm(arm).number)

    def _compare(self, arm: SiteOfBest) -> tuple[float, float] | None:
        best = self._expected.first_but(arm.number)
        return None if best is None else (arm.value + self._base, self._arms[best].value + self._base)

    def _add_awake(self, arm: SiteOfBest) -> None:
        self._expected.put(arm.number, (-arm.value,))
        super()._add_awake(arm)

    def _record_pull(self, arm: SiteOfBest) -> None:
        self._requeue(arm)

    def _cancel_pull(self, arm: SiteOfBest) -> None:
        self._requeue(arm)
