"""The rule for orders whose scores are comparable across sites: the site with the best page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.bandits.arms import Arm
from crawlers.bandits.index_rule import IndexRule

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


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
