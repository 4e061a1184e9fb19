"""The rule `auto`: UCB of two windows, all pages of a site and the later half of them, scaled by the usual jump.

It is RAW-UCB (see `crawlers.algorithms.rotting`) with two changes, found on simulated webs and real sites. Two windows
in place of many: short ones are pessimistic by mere chance. And the scale is the mean absolute difference of
successive rewards of a site in place of the standard deviation: one page with thousands of links lifts that one for
the next thousand pulls, and this one hardly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.algorithms.index_rule import IndexRule, Pool
from crawlers.algorithms.windows import LONGEST, WindowArm

if TYPE_CHECKING:
    from collections.abc import Hashable

SMALLEST_HALF = 24  # pulls; fewer say too little against all


class _JumpArm(WindowArm):
    """An arm that knows how far its last reward was from the one before."""

    __slots__ = ("jump", "last_reward")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.last_reward: float | None = None
        self.jump: float | None = None

    def earn(self, reward: float) -> None:
        super().earn(reward)
        if self.last_reward is not None:
            self.jump = abs(reward - self.last_reward)
        self.last_reward = reward


class TwoWindowUCB(IndexRule[_JumpArm]):
    """The smaller of two upper bounds, of all pulls of a site and of the later half of them.

        I_i = min over h in {t_i, t_i/2} of  (mean of the last h rewards of i) + s sqrt(ln n / h)

    s is the mean of |x - x'| over all pairs of successive rewards of the same site, 0 while there is none; t_i are the
    pulls of site i, n those of all. The later half is looked at when it has `SMALLEST_HALF` pulls, and 4096 of it at
    most. No horizon is asked for, and the unit of the rewards doesn't matter. O(1) an index.
    """

    def __init__(self) -> None:
        super().__init__(_JumpArm)
        self._bonus = 0.0

    def _tune(self, pool: Pool) -> None:
        self._bonus = pool.jump_total / pool.jumps * math.sqrt(math.log(pool.pulls)) if pool.jumps else 0.0

    def _value(self, arm: _JumpArm) -> float:
        index = arm.total / arm.pulls + self._bonus / math.sqrt(arm.pulls)
        half = min(arm.pulls // 2, LONGEST)
        if half < SMALLEST_HALF:
            return index
        return min(index, arm.last(half) / half + self._bonus / math.sqrt(half))

    def _rewarded(self, arm: _JumpArm, reward: float) -> None:
        if arm.jump is not None:
            self._pool.jumps += 1
            self._pool.jump_total += arm.jump
        super()._rewarded(arm, reward)
