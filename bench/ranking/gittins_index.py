"""The Gittins index by calibration, of arms that earn 0 or 1 (Bernoulli) and of arms that earn counts (Poisson).

The index of a state is the charge for a pull at which going on and giving up are worth the same. What going on is worth
comes of a backward recursion over the states of so many further pulls that what is learnt later changes nothing. What
is recursed is W, the gain of being allowed to give up over going on for ever, since it vanishes for good arms:

    W = max(-L, discount E W'),  L = (mean - charge)/(1 - discount)

References
----------
.. [1] Gittins (1979), Bandit Processes and Dynamic Allocation Indices.
.. [2] Gittins, Glazebrook, Weber (2011), Multi-armed Bandit Allocation Indices, 2nd ed., ch. 8 (calibration).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PRECISION = 1e-6  # of an index, relative to the uncertainty of its mean
TAIL = 6.0  # standard deviations of the posterior mean beyond which continuing, or stopping, is certain


def gittins_bernoulli(a: float, b: float, discount: float) -> float:
    """Return the Gittins index of an arm that earns 1 with unknown probability, believed to be Beta(*a*, *b*).

    *discount* in (0, 1) is what a reward of the next pull is worth when one of this pull is worth 1.

    >>> round(gittins_bernoulli(1, 1, 0.9), 3)
    0.703

    Notes
    -----
    With H = 4/(1 - discount) + 100 pulls looked ahead, O(H^2) operations a charge, and some ten charges.
    """

    def advantage(charge: float) -> float:
        pulls = _spill_limit(discount)
        mean = (a + np.arange(pulls + 1)) / (a + b + pulls)
        worth = np.maximum(-_for_ever(mean, charge, discount), 0.0)
        while pulls:
            pulls -= 1
            mean = (a + np.arange(pulls + 1)) / (a + b + pulls)
            expected = discount * (mean * worth[1:] + (1.0 - mean) * worth[:-1])
            for_ever = _for_ever(mean, charge, discount)
            worth = np.maximum(-for_ever, expected)
        return float(expected[0] + for_ever[0])

    return _root(advantage, a / (a + b), 1.0)


def gittins_poisson(a: float, b: float, discount: float) -> float:
    """Return the Gittins index of an arm that earns Poisson counts, their rate believed to be Gamma(*a*, rate *b*).

    *discount* as of `gittins_bernoulli`. The next count is negative binomial, NB(a, b/(b + 1)).

    >>> round(gittins_poisson(1, 1, 0.9), 2)
    1.9

    Notes
    -----
    Only the states are recursed that `TAIL` leaves undecided: O((mH)^1.5) operations a charge for a mean m = a/b, which
    must stay below 500 since e^-m is calculated with. Some ten charges; half a second for m = 1, discount .99.
    """

    def advantage(charge: float) -> float:
        later: _Band | None = None
        for pulls in range(_spill_limit(discount), -1, -1):
            band = _Band(a, b + pulls, charge, discount, only_first=pulls == 0)
            expected = band.expected(later) if later is not None else np.zeros(len(band.shapes))
            band.worth = np.maximum(-band.for_ever, expected)
            later = band
        return float(expected[0] + band.for_ever[0])

    mean, deviation = a / b, math.sqrt(a) / b
    return _root(advantage, mean, mean + TAIL * deviation)


class _Band:
    """The states after so many pulls, by the counts they earned: those between surely giving up and surely going on."""

    def __init__(self, a: float, b: float, charge: float, discount: float, *, only_first: bool) -> None:
        self._a, self._b, self._charge, self._discount = a, b, charge, discount
        middle = math.sqrt(TAIL**2 / 4 + charge * b)
        self.first = 0 if only_first else max(0, int((middle - TAIL / 2) ** 2 - a))
        self.last = 0 if only_first else max(self.first, int((middle + TAIL / 2) ** 2 - a) + 1)
        self.shapes = a + np.arange(self.first, self.last + 1)
        self.for_ever = _for_ever(self.shapes / b, charge, discount)
        self.worth = self.for_ever  # made by the caller, who knows what comes later

    def expected(self, later: _Band) -> NDArray[np.floating[Any]]:
        """The discounted expectation of W one pull later, for each state."""
        ratio = 1.0 / self._b
        spread = 1.0 + ratio
        mean = self.shapes[-1] * ratio
        largest = min(later.last - self.first, int(mean + 10 * math.sqrt(mean * spread) + 25 * spread))
        worth = later.extended(self.first, self.last + largest)
        probability = np.exp(-self.shapes * math.log(spread))  # of the count 0, then 1, 2 …
        expected = np.zeros(len(self.shapes))
        for count in range(largest + 1):
            expected += probability * worth[count : count + len(expected)]
            probability *= (self.shapes + count) / ((self._b + 1.0) * (count + 1))
        return self._discount * expected

    def extended(self, first: int, last: int) -> NDArray[np.floating[Any]]:
        """W from count *first* to *last*: below the band one gives up, above it W is 0."""
        below = (self._a + np.arange(first, self.first)) / self._b
        above = np.zeros(max(0, last - self.last))
        inside = self.worth[max(0, first - self.first) :]
        return np.concatenate([-_for_ever(below, self._charge, self._discount), inside, above])


def _spill_limit(discount: float) -> int:
    return 100 + math.ceil(4.0 / (1.0 - discount))


def _for_ever(mean: NDArray[np.floating[Any]], charge: float, discount: float) -> NDArray[np.floating[Any]]:
    return (mean - charge) / (1.0 - discount)


def _root(advantage: Callable[[float], float], low: float, high: float) -> float:
    """The charge between *low* and *high* where a falling *advantage* is 0: regula falsi, the Illinois way.

    A charge more costs at least that much, as the next pull pays it: so the advantage bounds the error of the charge.
    """
    tolerance = PRECISION * (high - low)
    at_low, at_high = advantage(low), advantage(high)
    kept_low = kept_high = False
    while True:
        charge = high - at_high * (high - low) / (at_high - at_low)
        found = advantage(charge)
        if abs(found) <= tolerance:
            return charge
        if found > 0.0:
            low, at_low = charge, found
            at_high /= 2 if kept_high else 1  # an end that stays twice would hold the other one back
            kept_low, kept_high = False, True
        else:
            high, at_high = charge, found
            at_low /= 2 if kept_low else 1
            kept_low, kept_high = True, False
