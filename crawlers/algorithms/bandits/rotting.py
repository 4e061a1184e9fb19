"""Rules for sites with diminishing returns: RAW-UCB, and UCB over a sliding window, both scaled by sigma.

References
----------
.. [1] Seznec, Menard, Lazaric, Valko (2020), A single algorithm for both restless and rested rotting bandits (RAW-UCB).
.. [2] Garivier, Moulines (2011), On Upper-Confidence Bound Policies for Switching Bandit Problems (SW-UCB).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.index_rule import IndexRule, Pool
from crawlers.algorithms.bandits.windows import MAX_WINDOW, WindowArm

if TYPE_CHECKING:
    from collections.abc import Hashable

MIN_VARIANCE = 1e-9  # if all rewards are equal, the bonus only breaks ties
WINDOW = 100  # pulls of a sliding window: roughly the pages between two sections of a site


class _RottingArm(WindowArm):
    """An arm that stores which of its windows can have the minimum."""

    __slots__ = ("computed_at", "envelope")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.envelope: list[tuple[float, float]] = []  # see `_envelope`
        self.computed_at = (0, 0)  # pulls and pulls in flight when the envelope was computed


class RAWUCB(IndexRule[_RottingArm]):
    """RAW-UCB: the minimum over windows of all lengths of upper confidence bounds.

        I_i = min over h in {1, 2, 4 … < t_i} u {t_i} of  (mean of the last h rewards of i) + c s sqrt(ln n / h)

    s is the pooled standard deviation of all rewards, n the number of all pulls, t_i that of site i (the rewards of at
    most 4096 are stored); c weighs the confidence term. The rule needs no horizon, and is invariant to the unit of
    rewards. O(log t_i) per index.
    """

    def __init__(self, c: float = 1.0) -> None:
        super().__init__(_RottingArm)
        self._c = c
        self._bonus = 0.0

    def _tune(self, pool: Pool) -> None:
        self._bonus = self._c * math.sqrt(max(pool.variance, MIN_VARIANCE) * math.log(pool.pulls))

    def _value(self, arm: _RottingArm) -> float:
        if arm.computed_at != (arm.pulls, arm.pending):
            arm.computed_at = (arm.pulls, arm.pending)
            arm.envelope = _envelope(arm)
        bonus = self._bonus
        return min([mean + bonus * width for mean, width in arm.envelope])


def _envelope(arm: WindowArm) -> list[tuple[float, float]]:
    """Return mean and 1/sqrt(h) of the windows that can have the minimum: no longer one has an equal or lower mean."""
    window = min(arm.pulls, MAX_WINDOW)
    found = []
    least = math.inf
    while window:
        mean = arm.last(window) / window
        if mean < least:
            least = mean
            found.append((mean, 1.0 / math.sqrt(window)))
        window = 1 << ((window - 1).bit_length() - 1) if window > 1 else 0  # the next smaller power of two
    return found


class SlidingWindowUCB(IndexRule[WindowArm]):
    """UCB1 over the last `WINDOW` pulls of each site: the mean plus s sqrt(ln n / h), h = min(t_i, `WINDOW`).

    s is the pooled standard deviation of all rewards, n the number of all pulls, t_i that of site i. The window
    consists of the site's own pulls, because sites change only by being read. O(1) per index.
    """

    def __init__(self) -> None:
        super().__init__(WindowArm)
        self._bonus = 0.0

    def _tune(self, pool: Pool) -> None:
        self._bonus = math.sqrt(max(pool.variance, MIN_VARIANCE) * math.log(pool.pulls))

    def _value(self, arm: WindowArm) -> float:
        window = min(arm.pulls, WINDOW)
        return arm.last(window) / window + self._bonus / math.sqrt(window)
