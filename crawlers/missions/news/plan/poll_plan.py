"""Learns how often feeds and section pages have something new, and distributes a budget of polls among them.

Rates are per second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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


UNKNOWN = ArrivalRate()
USUAL_WINDOW = 10  # items assumed for a feed before its first poll: few feeds show less
BURST = 2.0  # the busiest hours of a day may have this many times the items of those that the rate was learnt from
Z_BOUND = 3.0  # standard deviations: the probability of an overflowing window, and that of a rate above its bound


def safe_s(rate: ArrivalRate, window: int) -> float:
    """Return the longest interval, in seconds, between polls of a feed with *window* items in which none is lost.

    >>> round(safe_s(ArrivalRate(30, 3600), 10))  # 24 items per hour, the last 10 are shown
    181
    """
    root = (math.sqrt(Z_BOUND**2 + 4.0 * max(1, window)) - Z_BOUND) / 2  # mean + 3 standard deviations = window
    return root * root / (BURST * rate.upper_per_s(Z_BOUND))


@dataclass(frozen=True, slots=True)
class PollLimits:
    """The bounds of the interval between two polls of a feed."""

    shortest_s: float = 60.0
    longest_s: float = 6 * 3600.0
    deadline_s: float = 12 * 3600.0  # from an item's publication until it is stored

    @property
    def slowest_s(self) -> float:
        """The longest interval that meets the deadline: half of it, which leaves the rest for items and retries."""
        return max(self.shortest_s, min(self.longest_s, self.deadline_s / 2))


class Demand(NamedTuple):
    """What feeds ask of a budget, in polls per second: for the deadline, then for windows, then a part of the rest.

    The rest of the budget is divided in the ratio of *weight*, the square root of the items per second: an item waits
    for half an interval on the average, and this makes the mean of all items least.
    """

    in_time: float = 0.0
    for_windows: float = 0.0
    weight: float = 0.0

    def plus(self, other: Demand, sign: int = 1) -> Demand:
        """Return the sum with *other*, or the difference."""
        return Demand(*(one + sign * further for one, further in zip(self, other, strict=True)))

    def visits(self, total: Demand, budget: float) -> float:
        """Return the polls per second of a feed, if all feeds together ask for *total* of a *budget*.

        >>> feeds = Demand(1.0, 2.0), Demand(1.0), Demand(weight=2.0)
        >>> [[one.visits(Demand(2.0, 2.0, 4.0), budget) for one in feeds] for budget in (8.0, 3.0, 1.0)]
        [[3.0, 1.0, 2.0], [2.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
        """
        after_deadline = max(0.0, budget - total.in_time)
        after_windows = max(0.0, after_deadline - total.for_windows)
        return (
            self.in_time * min(1.0, budget / max(total.in_time, self.in_time, TINY))
            + self.for_windows * min(1.0, after_deadline / max(total.for_windows, self.for_windows, TINY))
            + self.weight * after_windows / max(total.weight, self.weight, TINY)
        )


TINY = 1e-12  # polls per second: one in 30,000 years


def demand(in_time: float, least: float, most: float, weight: float, others: Demand, budget: float) -> Demand:
    """Return what a feed asks for that needs *least* polls per second, *in_time* of them for the deadline.

    It may have *most*. *others* is what all other feeds ask for.
    """
    free = Demand(weight=weight)
    part = free.visits(others.plus(free), budget)
    if least < part < most:
        return free
    fixed = min(most, max(least, part))
    in_time = min(in_time, fixed)
    return Demand(in_time, fixed - in_time)
