"""The bandit rules of BeeBot as published: R2, which the paper calls "Gittins index", and R3, UCB1.

References
----------
.. [1] BeeBot: Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks (in
   Russian), rules R2 and R3.
.. [2] Auer, Cesa-Bianchi, Fischer (2002), Finite-time Analysis of the Multiarmed Bandit Problem, fig. 1 (UCB1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.bandits.arms import Arm
from crawlers.bandits.index_rule import IndexRule, Pool

if TYPE_CHECKING:
    from crawlers.bandits.arms import Priority


class UCB1(IndexRule[Arm]):
    """R3: *initial* pages of every site, then the site with the largest index, page by page.

        I_i = X_i/Xmax + sqrt(2 ln n / t_i)

    X_i is the mean reward of site i, Xmax the largest reward of any page, t_i the number of pulls of i, n that of all;
    while all rewards are 0 (Xmax = 0), the first term is 0.
    """

    pools = True

    def __init__(self, initial: int = 5) -> None:
        super().__init__(Arm, initial)
        self._scale = 0.0
        self._two_ln_n = 0.0

    def _tune(self, pool: Pool) -> None:
        self._scale = 1.0 / pool.largest if pool.largest else 0.0
        self._two_ln_n = 2.0 * math.log(pool.pulls)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls * self._scale + math.sqrt(self._two_ln_n / arm.pulls)


class BatchGreedy(IndexRule[Arm]):
    """R2: *batch* pages of every site, then batches of that size from the site with the largest mean s_i/t_i.

    A batch that was interrupted, because its site became unavailable, is continued before another one begins. Despite
    its published name, the rule uses no Gittins index but is greedy: a site whose first batch earned nothing is never
    read again while another site has earned anything. O(log K) per choice among K sites.
    """

    def __init__(self, batch: int = 10) -> None:
        super().__init__(Arm, batch)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls

    def _is_started(self, arm: Arm) -> bool:
        return arm.pulls > self._initial and arm.pulls % self._initial > 0

    def _priority(self, arm: Arm) -> Priority:
        """Return the priority of *arm*: after sites with initial pages left, batches that have begun come first."""
        return (arm.pulls >= self._initial, not self._is_started(arm), *super()._priority(arm))

    def _compare(self, arm: Arm) -> tuple[float, float] | None:
        """Return the means that are compared; None if the batch of *arm* has begun."""
        return None if self._is_started(arm) else super()._compare(arm)
