"""The bandit rules of BeeBot as published: R2, called "Gittins index" there, and R3, UCB1.

References
----------
.. [1] BeeBot: how to find as many external links of a set of sites as a budget of pages allows, rules R2 and R3.
.. [2] Auer, Cesa-Bianchi, Fischer (2002), Finite-time Analysis of the Multiarmed Bandit Problem, fig. 1 (UCB1).
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from crawlers.algorithms.bandits.arms import Arm
from crawlers.algorithms.bandits.index_rule import IndexRule, Pool

if TYPE_CHECKING:
    from collections.abc import Hashable

REMEMBERED = 1024  # starts, more than are in flight at a time: any of these pulls may turn out to be none


class UCB1(IndexRule[Arm]):
    """R3: *initial* pages of every site, then one page of the site of the largest index.

        I_i = X_i/Xmax + sqrt(2 ln n / t_i)

    X_i is the mean reward of site i, Xmax the largest reward of all, t_i the pages read of i, n those of all; while
    nothing was found (Xmax = 0) the first term is 0. O(K) a choice, see `IndexRule` for many sites.
    """

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
    """R2: *batch* pages of every site, then batch after batch on the site of the largest mean s_i/t_i.

    A batch ends when its site sleeps; the next choice begins a new one. In spite of its published name it is no Gittins
    index but greedy: a site whose first batch earned nothing is never read again while another has earned anything.
    O(K) a choice for few sites, O(log K) for many, exact for any number.
    """

    pools: ClassVar[bool] = False

    def __init__(self, batch: int = 10) -> None:
        super().__init__(Arm, batch)
        self._batches = _Batches(batch)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls

    def select(self, now: float) -> Hashable | None:
        """The site whose batch is not over, else the one of the largest mean; None when all sleep."""
        number = self._batches.at_hand
        if number in self._awake and not self._young:
            return self._arms[number].name
        return super().select(now)

    def _started(self, arm: Arm) -> None:
        super()._started(arm)
        self._batches.started(arm.number, is_initial=arm.pulls <= self._initial)

    def _cancelled(self, arm: Arm) -> None:
        super()._cancelled(arm)
        self._batches.cancelled(arm.number)


class _Batch(NamedTuple):
    """Pulls in a row of one arm."""

    number: int
    pulls: int


class _Batches:
    """Which arm has a batch at hand, told by the pulls alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._last: _Batch | None = None
        self._starts: deque[tuple[int, bool, _Batch | None]] = deque(maxlen=REMEMBERED)  # with the batch before each

    @property
    def at_hand(self) -> int | None:
        """The number of the arm whose batch began and is not full."""
        return self._last.number if self._last is not None and self._last.pulls < self._size else None

    def started(self, number: int, *, is_initial: bool) -> None:
        """Arm *number* was pulled; its *initial* pulls belong to no batch."""
        last = self._last
        self._starts.append((number, is_initial, last))
        if is_initial:
            self._last = None
        elif last is not None and last.number == number and last.pulls < self._size:
            self._last = _Batch(number, last.pulls + 1)
        else:
            self._last = _Batch(number, 1)

    def cancelled(self, number: int) -> None:
        """All is as if the last pull of arm *number* had not been."""
        later: list[tuple[int, bool]] = []
        while self._starts:
            other, is_initial, self._last = self._starts.pop()
            if other == number:
                break
            later.append((other, is_initial))
        for other, is_initial in reversed(later):
            self.started(other, is_initial=is_initial)
