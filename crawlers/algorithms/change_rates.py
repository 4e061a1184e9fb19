"""How often a page changes, learnt from what its visits found. Rates are per s; states are two or three floats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PRIOR_ITEMS, PRIOR_SECONDS = 0.5, 900.0  # two items an hour, and so unsure that 20 an hour would not surprise
MEMORY_ITEMS = 30.0  # so many are enough for a rate; of fast feeds that is an hour or two: they follow the day
MEMORY_SECONDS = (7200.0, 3 * 86_400.0)  # what is older is forgotten: a feed that died is known after days
CHANGE_MEMORY_S = 30 * 86_400.0  # one bit a visit says little, so more of them are kept
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


class ChangeRate(NamedTuple):
    """How often a page changes of which a visit only tells whether it did: sums that a store can keep.

    Exact where visits are equally spaced: Cho and Garcia-Molina's estimate, which is finite and hardly biased even
    after one visit. Otherwise as if all visits that found a change had come after their mean interval.
    """

    changed: float = 0.0  # visits that found a change
    changed_s: float = 0.0  # the time before them
    unchanged_s: float = 0.0  # the time before the others

    @property
    def per_s(self) -> float:
        """Changes per s; 0 while no visit found any.

        >>> round(ChangeRate().after(True, 10.0).per_s, 4)  # -ln((1 - 1 + .5) / (1 + .5)) / 10
        0.1099
        """
        if self.changed <= 0.0:
            return 0.0
        usual = self.changed_s / self.changed
        half = usual / 2
        return math.log((self.unchanged_s + self.changed_s + half) / (self.unchanged_s + half)) / usual

    def after(self, has_changed: bool, elapsed_s: float) -> ChangeRate:
        """The state after one more visit, *elapsed_s* after the last one."""
        if elapsed_s <= 0.0:
            return self
        kept = min(1.0, CHANGE_MEMORY_S / (self.changed_s + self.unchanged_s + elapsed_s))
        changed, changed_s, unchanged_s = (kept * value for value in self)
        if has_changed:
            return ChangeRate(changed + 1.0, changed_s + elapsed_s, unchanged_s)
        return ChangeRate(changed, changed_s, unchanged_s + elapsed_s)


def most_likely_rate(changed_s: Sequence[float], unchanged_s: float) -> float:
    """Changes per s under which visits are most likely that found a change after *changed_s* each, and none in
    *unchanged_s* altogether; infinite if all found one.

    >>> round(most_likely_rate([10.0, 10.0, 10.0], 10.0), 4)  # -ln(1 / 4) / 10
    0.1386

    Notes
    -----
    Bisection for the root of sum tau / (exp(rate tau) - 1) = *unchanged_s*; its left side falls as the rate grows.

    References
    ----------
    .. [1] Cho, Garcia-Molina (2003), Estimating frequency of change, ACM TOIT 3 (3), section 4 (also the start).
    .. [2] Upadhyay, Busa-Fekete, Kotlowski, Pal, Szorenyi (2020), Learning to Crawl, AAAI.
    """
    if not changed_s:
        return 0.0
    if unchanged_s <= 0.0:
        return math.inf
    low, high = 0.0, 1.0 / min(changed_s)

    def is_low(rate: float) -> bool:
        return sum(s / math.expm1(min(rate * s, 700.0)) for s in changed_s) > unchanged_s

    while is_low(high):
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return high
