"""Learns how often feeds and section pages have something new, and distributes a budget of polls among them.

Rates are per second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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


Floats: TypeAlias = NDArray[np.float64]
HALVINGS = 60  # of the interval in which the level of a plan is looked for


@dataclass(frozen=True, slots=True)
class PollPlan:
    """The distribution of a budget of polls: all feeds are polled *in_time*, in polls per second, for the deadline.

    Polls for the deadline come first; those that keep windows from overflowing share what is left of the budget, and
    the rest goes where it shortens the delays of items most.
    """

    in_time: float
    level: float = math.inf  # polls per second of a feed with one item per second
    share: float = 1.0  # of the polls for the deadline that the budget allows
    window_share: float = 1.0  # of those for windows

    def visits(self, rate: Floats, lowest: Floats, highest: Floats) -> Floats:
        """Return the polls per second of feeds with *rate* items, between their *lowest* and their *highest*."""
        in_time = np.minimum(self.in_time, lowest)
        least = self.share * (in_time + self.window_share * (lowest - in_time))
        return np.clip(self.level * np.sqrt(rate), least, highest)


def distribution(rate: Floats, lowest: Floats, highest: Floats, budget_per_s: float, in_time: float) -> PollPlan:
    """Return the optimal distribution of *budget_per_s* polls per second among feeds with *rate* > 0 items per second.

    Each is polled between its *lowest* and its *highest* rate; if the budget is too small for the lowest ones, each
    gets the same share of its own.

    >>> none, most = np.zeros(2), np.full(2, 10.0)
    >>> rates = np.array([1.0, 9.0])
    >>> distribution(rates, none, most, 1.0, 0.0).visits(rates, none, most).round(6).tolist()
    [0.25, 0.75]

    Notes
    -----
    An item waits for half an interval on the average. The sum of rate / visits is least if visits are in the ratio of
    the square roots of the rates, where bounds allow that. A bisection finds this level: O(n) per step.
    """
    for_deadline = float(np.minimum(in_time, lowest).sum())
    for_windows = float(lowest.sum()) - for_deadline
    plan = PollPlan(
        in_time,
        share=min(1.0, budget_per_s / for_deadline) if for_deadline else 1.0,
        window_share=min(1.0, max(0.0, budget_per_s - for_deadline) / for_windows) if for_windows else 1.0,
    )
    if highest.sum() <= budget_per_s:
        return plan
    below, above = 0.0, float((highest / np.sqrt(rate)).max())
    for _ in range(HALVINGS):
        plan = replace(plan, level=(below + above) / 2)
        if plan.visits(rate, lowest, highest).sum() > budget_per_s:
            above = plan.level
        else:
            below = plan.level
    return replace(plan, level=below)
