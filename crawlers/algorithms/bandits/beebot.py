"""The bandit rules of BeeBot as published: R2, which the paper calls "Gittins index", and R3, UCB1.

References
----------
.. [1] BeeBot: Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks (in
   Russian), rules R2 and R3.
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

STARTS_KEPT = 1024  # more than can be in flight at a time: any pull in flight may be cancelled


class UCB1(IndexRule[Arm]):
    """R3: *initial* pages of every site, then the site with the largest index, page by page.

        I_i = X_i/Xmax + sqrt(2 ln n / t_i)

    X_i is the mean reward of site i, Xmax the largest reward of any page, t_i the number of pulls of i, n that of all;
    while all rewards are 0 (Xmax = 0), the first term is 0. O(K) per choice among K sites; see `IndexRule` for many.
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
    """R2: *batch* pages of every site, then batches of that size from the site with the largest mean s_i/t_i.

    A batch ends early if its site becomes unavailable; the next choice begins a new one. Despite its published name,
    the rule uses no Gittins index but is greedy: a site whose first batch earned nothing is never read again while
    another site has earned anything. O(K) per choice for few sites, O(log K) for many, exact for any number.
    """

    pools: ClassVar[bool] = False

    def __init__(self, batch: int = 10) -> None:
        super().__init__(Arm, batch)
        self._batches = _Batches(batch)

    def _value(self, arm: Arm) -> float:
        return arm.total / arm.pulls

    def select(self, now: float) -> Hashable | None:
        """Return the arm of the current batch, else the one with the largest mean; None if all sleep."""
        number = self._batches.current
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
    """Consecutive pulls of one arm."""

    number: int  # of the arm
    pulls: int


class _Batches:
    """The current batch, as a function of the pulls alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._last: _Batch | None = None
        # Pulls: number of the arm, whether the pull is initial, and the batch before it.
        self._starts: deque[tuple[int, bool, _Batch | None]] = deque(maxlen=STARTS_KEPT)

    @property
    def current(self) -> int | None:
        """The number of the arm whose batch is not complete; None if there is none."""
        return self._last.number if self._last is not None and self._last.pulls < self._size else None

    def started(self, number: int, *, is_initial: bool) -> None:
        """Record a pull of arm *number*; initial pulls belong to no batch."""
        last = self._last
        self._starts.append((number, is_initial, last))
        if is_initial:
            self._last = None
        elif last is not None and last.number == number and last.pulls < self._size:
            self._last = _Batch(number, last.pulls + 1)
        else:
            self._last = _Batch(number, 1)

    def cancelled(self, number: int) -> None:
        """Undo the last pull of arm *number*: later pulls are recorded again without it."""
        later: list[tuple[int, bool]] = []
        while self._starts:
            other, is_initial, self._last = self._starts.pop()
            if other == number:
                break
            later.append((other, is_initial))
        for other, is_initial in reversed(later):
            self.started(other, is_initial=is_initial)
