"""Patience: how much time a crawl with a page budget gives for better pages."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """A patient crawl chooses a site only if its index is near the best; otherwise it waits for better sites.

    *index_share*, in [0, 1], is the share of the best index that a site needs to be chosen; 0: any site is chosen.
    *longest_s* is the number of seconds after its last request during which a sleeping site is waited for. *timeout_s*
    is the time limit of the run, 0 if it has none.
    """

    index_share: float = 0.0
    longest_s: float = 0.0
    timeout_s: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a crawl ever waits."""
        return self.index_share > 0.0 and self.longest_s > 0.0

    def ends_at(self, began_at: float, spent: float) -> float:
        """Return the time at which the crawl stops waiting if the *spent* share of its budget, in [0, 1], stays that.

        With a time limit it waits only while it is ahead of the pace at which the budget will be spent when the time is
        over. *began_at* is the start of the run.

        >>> Patience(0.9, 60.0, timeout_s=3600.0).ends_at(1000.0, 0.5)
        2800.0
        """
        return began_at + self.timeout_s * spent if self.timeout_s else math.inf


def is_near_best(value: float, best: float, share: float) -> bool:
    """Return whether *value* is at least the *share*, in [0, 1], of the *best* one; of a negative one, as far below it.

    >>> is_near_best(0.9, 1.0, 0.9), is_near_best(0.8, 1.0, 0.9), is_near_best(-1.0, -1.0, 0.9)
    (True, False, True)
    """
    return value >= best * (share if best > 0.0 else 2.0 - share)


NO_PATIENCE = Patience()
