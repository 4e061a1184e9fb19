"""Recent rewards of an arm: sums over windows of any length, in bounded memory."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm

if TYPE_CHECKING:
    from collections.abc import Hashable

MAX_WINDOW = 4096  # rewards stored; longer windows add little information


class WindowArm(Arm):
    """An arm that stores its last `MAX_WINDOW` rewards as a ring of prefix sums: O(1) per reward, at most 33 KB."""

    __slots__ = ("_sums",)

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self._sums = array("d", [0.0])  # of the first 0, 1, 2 … rewards; entry i mod (MAX_WINDOW + 1)

    def earn(self, reward: float) -> None:
        """Record the *reward* of a pull in flight as the latest one."""
        super().earn(reward)
        if len(self._sums) <= MAX_WINDOW:
            self._sums.append(self.total)
        else:
            self._sums[(self.pulls - self.pending) % (MAX_WINDOW + 1)] = self.total

    def last(self, window: int) -> float:
        """Return the total reward of the last *window* <= `MAX_WINDOW` pulls; those in flight are the last, with 0."""
        before = self.pulls - max(window, self.pending)  # rewards older than the window
        return self.total - self._sums[before % (MAX_WINDOW + 1)]
