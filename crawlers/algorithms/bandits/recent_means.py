"""The rule `auto`: the lowest of three recent means, and a bonus for what is little read, scaled by the usual jump.

It is RAW-UCB (see `crawlers.algorithms.bandits.rotting`) with four changes, found on simulated webs and real sites.
Three windows in place of many, each with an allowance: short ones are low by mere chance. The bonus is that of all
pulls of a site and not of the window, so that a burst of links doesn't begin its exploration anew. The scale is the
mean absolute difference of successive rewards of a site in place of the standard deviation. And one page counts as
ten good ones at most: one with thousands of links would lift the scale, and keep the rule with its site, for a
thousand pulls.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.index_rule import IndexRule, Pool
from crawlers.algorithms.bandits.windows import LONGEST, WindowArm

if TYPE_CHECKING:
    from collections.abc import Hashable

SMALLEST_WINDOW = 16  # pulls; fewer say too little against all, and with 8 to 24 the rule finds the same
OPTIMISM = 1.6  # of the bonus: less is better where sites stay as they are, more where they change
MOST = 10  # good pages that one page counts as: with 20, one giant page is followed for too long


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


class RecentUCB(IndexRule[_JumpArm]):
    """The lowest of the means of all pulls of a site and of the later 2/3 and 4/9 of them, and a bonus.

        I_i = min over h in {t_i, 2/3 t_i, 4/9 t_i} of (mean of the last h rewards of i + m_i / sqrt(h))
              + 1.6 s sqrt(ln n / t_i)

    m_i is the mean reward of site i; s the mean of |x - x'| over all pairs of successive rewards of the same site, 0
    while there is none; t_i are the pulls of site i, n those of all. A reward counts as `MOST` times the mean of
    the earlier rewards that were not 0 at most. A window of fewer than `SMALLEST_WINDOW` pulls is not looked at, and
    one has 4096 at most. No horizon is asked for, and the unit of the rewards doesn't matter. O(1) an index.
    """

    def __init__(self) -> None:
        super().__init__(_JumpArm)
        self._good_pages = 0  # pulls that earned anything
        self._bonus = 0.0

    def rewarded(self, arm: Hashable, reward: float) -> None:
        """A pull of *arm* earned *reward* >= 0, which counts as `MOST` good pages at most."""
        if reward:
            if self._good_pages:
                reward = min(reward, MOST * self._pool.total / self._good_pages)
            self._good_pages += 1
        super().rewarded(arm, reward)

    def _tune(self, pool: Pool) -> None:
        scale = pool.jump_total / pool.jumps if pool.jumps else 0.0
        self._bonus = OPTIMISM * scale * math.sqrt(math.log(pool.pulls))

    def _value(self, arm: _JumpArm) -> float:
        pulls = arm.pulls
        mean = arm.total / pulls
        root = math.sqrt(pulls)
        least = mean + mean / root
        later = 2 * pulls // 3
        for window in (later, 2 * later // 3):
            if window >= SMALLEST_WINDOW:
                recent = min(window, LONGEST)
                least = min(least, arm.last(recent) / recent + mean / math.sqrt(recent))
        return least + self._bonus / root

    def _rewarded(self, arm: _JumpArm, reward: float) -> None:
        if arm.jump is not None:
            self._pool.jumps += 1
            self._pool.jump_total += arm.jump
        super()._rewarded(arm, reward)
