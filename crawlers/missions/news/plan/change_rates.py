"""Learns from polls how often a feed or page has something new. Rates are per second."""

from __future__ import annotations

import math
from typing import NamedTuple

PRIOR_ITEMS, PRIOR_SECONDS = 0.5, 900.0  # two items per hour, and uncertain enough that 20 are plausible
MEMORY_ITEMS = 30.0  # evidence kept: an hour or two of a fast feed, so that rates follow the time of day
MEMORY_SECONDS = (7200.0, 3 * 86_400.0)  # bounds of the time kept: dead feeds are recognised after days
SURPRISE = 3.0  # standard deviations (plus one item) above the expectation: the learnt rate is obsolete


class ArrivalRate(NamedTuple):
    """The rate of new items of a feed: a Gamma-Poisson estimate with fading evidence."""

    items: float = 0.0
    seconds: float = 0.0

    @property
    def per_s(self) -> float:
        """Items per second, the posterior mean.

        >>> round(ArrivalRate(items=30, seconds=5400).per_s * 3600, 1)
        17.4
        """
        return (self.items + PRIOR_ITEMS) / (self.seconds + PRIOR_SECONDS)

    def upper_per_s(self, deviations: float) -> float:
        """Return an upper bound of items per second.

        The true rate exceeds it with the probability that a normal variable exceeds its mean by this number of standard
        *deviations*. The cube of a normal variable approximates the Gamma distribution (Wilson and Hilferty, 1931).
        """
        shape = self.items + PRIOR_ITEMS
        root = 1.0 - 1.0 / (9.0 * shape) + deviations / (3.0 * math.sqrt(shape))
        return shape * max(root, 1.0) ** 3 / (self.seconds + PRIOR_SECONDS)

    def after(self, new_items: int, elapsed_s: float, *, is_full: bool = False) -> ArrivalRate:
        """Return the state after a poll that found *new_items*, *elapsed_s* after the previous one.

        *is_full*: all items of the feed were new, so others may have been missed. Twice as many are then assumed, so
        that the next poll is early enough to count them.

        >>> ArrivalRate().after(3, 3600.0)
        ArrivalRate(items=3.0, seconds=3600.0)
        >>> ArrivalRate(0.0, 86400.0).after(20, 3600.0)  # it became active again
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
        """Return the same rate with no more evidence than is kept."""
        shortest, longest = MEMORY_SECONDS
        kept = min(self.seconds, max(shortest, min(longest, MEMORY_ITEMS / self.per_s)))
        return ArrivalRate(self.items * kept / self.seconds, kept)
