"""How often a feed, or a page, has something new, learnt from what its polls found. Rates are per s."""

from __future__ import annotations

import math
from typing import NamedTuple

PRIOR_ITEMS, PRIOR_SECONDS = 0.5, 900.0  # two items an hour, and so unsure that 20 an hour would not surprise
MEMORY_ITEMS = 30.0  # so many are enough for a rate; of fast feeds that is an hour or two: they follow the day
MEMORY_SECONDS = (7200.0, 3 * 86_400.0)  # what is older is forgotten: a feed that died is known after days
SURPRISE = 3.0  # standard deviations, and an item, above what was expected: what was learnt is no longer true


class ArrivalRate(NamedTuple):
    """How often a feed has a new item: a Gamma-Poisson estimate whose evidence fades."""

    items: float = 0.0
    seconds: float = 0.0

    @property
    def per_s(self) -> float:
        """Items per s, the mean of what they may be.

        >>> round(ArrivalRate(items=30, seconds=5400).per_s * 3600, 1)
        17.4
        """
        return (self.items + PRIOR_ITEMS) / (self.seconds + PRIOR_SECONDS)

    def upper_per_s(self, deviations: float) -> float:
        """Items per s that are not exceeded but with the probability that a normal value is so many *deviations* high.

        The cube of a normal value approximates the Gamma distribution (Wilson and Hilferty, 1931).
        """
        shape = self.items + PRIOR_ITEMS
        root = 1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * math.sqrt(shape))
        return shape * max(root, 1.0) ** 3 / (self.seconds + PRIOR_SECONDS)

    def after(self, new_items: int, elapsed_s: float, *, is_full: bool = False) -> ArrivalRate:
        """The state after a poll that found so many *new_items*, the last one having been *elapsed_s* ago.

        *is_full*: all that the feed showed was new, so there may have been more: twice as many are assumed, which
        brings the next poll near enough to count them.

        >>> ArrivalRate().after(3, 3600.0)
        ArrivalRate(items=3.0, seconds=3600.0)
        >>> ArrivalRate(0.0, 86400.0).after(20, 3600.0)  # it slept, and woke up
        ArrivalRate(items=20.0, seconds=3600.0)
        """
        if elapsed_s <= 0.0:
            return self
        found = 2.0 * new_items if is_full else float(new_items)
        expected = self.per_s * elapsed_s
        if found > expected + SURPRISE * math.sqrt(expected) + 1.0:
            return ArrivalRate(found, elapsed_s)._remembered()
        return ArrivalRate(self.items + found, self.seconds + elapsed_s)._remembered()

    def _remembered(self) -> ArrivalRate:
        """The same rate with no more evidence than is to be kept."""
        shortest, longest = MEMORY_SECONDS
        kept = min(self.seconds, max(shortest, min(longest, MEMORY_ITEMS / self.per_s)))
        return ArrivalRate(self.items * kept / self.seconds, kept)
