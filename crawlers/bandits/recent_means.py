"""The rule `auto`: the lowest of three recent means, plus an exploration bonus scaled by the usual jump.

It is RAW-UCB [1]_ with five changes, which were found on simulated webs and real sites:

- three windows instead of many, each with an allowance, because short windows are low by mere chance;
- a bonus that depends on all pulls of a site and not on the window, so that a burst of links does not restart the
  exploration of its site;
- every one of K sites first gets sqrt(n) - K/2 of n pages, because a bonus gives up sites that begin without links,
  as newsletters, whose home page is empty and whose archive is full;
- as scale, the mean absolute difference of successive rewards of a site instead of the standard deviation;
- rewards are capped at ten times that of a usual good page, or at four times with ORDER=learnt: a page with
  thousands of links would raise the scale, and keep the rule at its site, for a thousand pulls.

References
----------
.. [1] Seznec, Menard, Lazaric, Valko (2020), A single algorithm for both restless and rested rotting bandits (RAW-UCB).
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

from crawlers.bandits.arms import Arm
from crawlers.bandits.index_rule import IndexRule, Pool
from crawlers.bandits.site_rules import OPTIMISM, REWARD_CAP

if TYPE_CHECKING:
    from collections.abc import Hashable

MAX_WINDOW = 4096  # rewards of an arm that are stored; longer windows add little information
MIN_WINDOW = 16  # pulls; fewer are not significant, and any value from 8 to 24 gives the same results


class RecentArm(Arm):
    """An arm that stores its last `MAX_WINDOW` rewards as a ring of prefix sums, and its last jump.

    A jump is the absolute difference of two successive rewards. O(1) per reward, at most 33 KB.
    """

    __slots__ = ("_sums", "jump", "last_reward")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self._sums = array("d", [0.0])  # of the first 0, 1, 2 … rewards; entry i mod (MAX_WINDOW + 1)
        self.last_reward: float | None = None
        self.jump: float | None = None

    def earn(self, reward: float) -> None:
        """Record the *reward* of a pull in flight as the latest one."""
        super().earn(reward)
        if len(self._sums) <= MAX_WINDOW:
            self._sums.append(self.total)
        else:
            self._sums[(self.pulls - self.pending) % (MAX_WINDOW + 1)] = self.total
        if self.last_reward is not None:
            self.jump = abs(reward - self.last_reward)
        self.last_reward = reward

    def last(self, window: int) -> float:
        """Return the total reward of the last *window* <= `MAX_WINDOW` pulls; those in flight are the last, with 0."""
        before = self.pulls - max(window, self.pending)  # rewards older than the window
        return self.total - self._sums[before % (MAX_WINDOW + 1)]


class RecentUCB(IndexRule[RecentArm]):
    """The lowest of three means, of all pulls of a site and of the latest 2/3 and 4/9 of them, plus a bonus.

        I_i = min over h in {t_i, 2/3 t_i, 4/9 t_i} of (mean of the last h rewards of i + m_i / sqrt(h))
              + c s sqrt(ln n / t_i)

    c is *optimism*; m_i is the mean reward of site i; s is the mean of |x - x'| over all pairs of successive rewards of
    the same site, 0 while there is none; t_i is the number of pulls of site i, n that of all. A reward is capped at
    *reward_cap* times the mean of the earlier rewards that were not 0. Windows of fewer than `MIN_WINDOW` pulls are
    ignored, longer ones than 4096 are truncated. The rule needs no horizon, and is invariant to the unit of rewards.
    I_i is infinite if t_i < sqrt(n) - K/2, for K sites of which a page was read. O(1) per index.

    References
    ----------
    .. [1] Garivier, Kaufmann (2016), Optimal Best Arm Identification with Fixed Confidence: forced exploration.
    """

    pools = True

    def __init__(self, optimism: float = OPTIMISM, reward_cap: float = REWARD_CAP) -> None:
        super().__init__(RecentArm, 1)
        self._optimism = optimism
        self._reward_cap = reward_cap
        self._good_pages = 0  # pulls with a reward above 0
        self._bonus = 0.0
        self._least_pulls = 0.0

    def record_reward(self, arm: Hashable, reward: float) -> None:
        """Record the *reward* >= 0 of a pull of *arm*, capped at *reward_cap* good pages."""
        if reward:
            if self._good_pages:
                reward = min(reward, self._reward_cap * self._pool.total / self._good_pages)
            self._good_pages += 1
        super().record_reward(arm, reward)

    def _tune(self, pool: Pool) -> None:
        scale = pool.jump_total / pool.jumps if pool.jumps else 0.0
        self._bonus = self._optimism * scale * math.sqrt(math.log(pool.pulls))
        self._least_pulls = math.sqrt(pool.pulls) - pool.arms / 2

    def _value(self, arm: RecentArm) -> float:
        pulls = arm.pulls
        if pulls < self._least_pulls:
            return math.inf
        mean = arm.total / pulls
        root = math.sqrt(pulls)
        least = mean + mean / root
        later = 2 * pulls // 3
        for window in (later, 2 * later // 3):
            if window >= MIN_WINDOW:
                recent = min(window, MAX_WINDOW)
                least = min(least, arm.last(recent) / recent + mean / math.sqrt(recent))
        return least + self._bonus / root

    def _record_reward(self, arm: RecentArm, reward: float) -> None:
        if arm.jump is None:
            self._pool.arms += 1
        else:
            self._pool.jumps += 1
            self._pool.jump_total += arm.jump
        super()._record_reward(arm, reward)
