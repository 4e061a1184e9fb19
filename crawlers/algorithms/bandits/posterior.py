"""Rules that model the rewards of a site as overdispersed Poisson counts: Thompson sampling and KL-UCB.

Links come in bursts: the variance of the rewards is many times their mean. A reward therefore counts as reward/phi
events (quasi-Poisson), where phi is the variance of all rewards divided by their mean. Plain Poisson counts would make
the rules far too confident.

References
----------
.. [1] Chapelle, Li (2011), An Empirical Evaluation of Thompson Sampling.
.. [2] Garivier, Cappe (2011), The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond, sect. 3.
.. [3] McCullagh, Nelder (1989), Generalized Linear Models, sect. 6.2 (dispersion).
.. [4] Wilson, Hilferty (1931), The Distribution of Chi-Square.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.arms import Arm
from crawlers.algorithms.bandits.index_rule import IndexRule, Pool

if TYPE_CHECKING:
    from collections.abc import Hashable

DISCOUNT = 0.95  # per pull, of the earlier rewards of the site: the longer it is read, the less is new
_MASK = 2**64 - 1
_normal = NormalDist().inv_cdf


def dispersion(pool: Pool) -> float:
    """Return the variance of the rewards divided by their mean; at least 1, the value of a Poisson count."""
    return max(1.0, pool.variance / pool.mean) if pool.total else 1.0


def uniform(*key: int) -> float:
    """Return a pseudorandom number in (0, 1), uniformly distributed, that is a function of *key*.

    >>> uniform(1, 2) == uniform(1, 2) != uniform(2, 1)
    True

    References
    ----------
    .. [1] Steele, Lea, Flood (2014), Fast Splittable Pseudorandom Number Generators (the mixing function of
       SplitMix64).
    """
    mixed = 0
    for part in key:
        mixed = (mixed + part + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        mixed ^= mixed >> 31
    return ((mixed >> 12) + 0.5) / 2**52


def gamma_quantile(shape: float, p: float) -> float:
    """Return the quantile *p* in (0, 1) of the gamma distribution with *shape* >= 1 and rate 1.

    The approximation of Wilson and Hilferty; above the median its error is at most 2 %.

    >>> round(gamma_quantile(1.0, 0.99), 2)  # -ln(1 - p) = 4.61
    4.61
    """
    return float(shape * max(0.0, 1.0 - 1.0 / (9.0 * shape) + _normal(p) / (3.0 * math.sqrt(shape))) ** 3)


class _DiscountedArm(Arm):
    """An arm with discounted sums of rewards and of pulls: each pull weighs more than the one before."""

    __slots__ = ("discounted_pulls", "discounted_total")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.discounted_total = 0.0
        self.discounted_pulls = 0.0

    def earn(self, reward: float) -> None:
        super().earn(reward)
        self.discounted_total = DISCOUNT * self.discounted_total + reward
        self.discounted_pulls = DISCOUNT * self.discounted_pulls + 1.0


class Thompson(IndexRule[_DiscountedArm]):
    """Thompson sampling: the rate of each site is drawn from its posterior, and the site with the largest is chosen.

        I_i = phi Gamma(1 + S_i/phi) / (1 + T_i)

    S_i and T_i are the discounted sums of the rewards and pulls of site i. The sample is a quantile (approximation of
    Wilson and Hilferty) at a probability that is a function of *seed*, the numbers of pulls and the site, so there is
    no generator whose state would have to be restored after a crash. O(1) per index.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(_DiscountedArm)
        self._seed = seed
        self._pulls = 0
        self._phi = 1.0

    def _tune(self, pool: Pool) -> None:
        self._pulls = pool.pulls
        self._phi = dispersion(pool)

    def _value(self, arm: _DiscountedArm) -> float:
        discount = DISCOUNT**arm.pending
        shape = 1.0 + arm.discounted_total * discount / self._phi
        pulls = arm.discounted_pulls * discount + (1.0 - discount) / (1.0 - DISCOUNT)
        p = uniform(self._seed, self._pulls, arm.number + (arm.pulls << 32))
        return self._phi * gamma_quantile(shape, p) / (1.0 + pulls)


class KLUCB(IndexRule[Arm]):
    """KL-UCB: the largest rate consistent with the rewards of a site, as Poisson counts with dispersion phi.

        I_i = the largest q with t_i/phi (q - m + m ln(m/q)) <= ln n,  m = mean reward of site i

    t_i is the number of pulls of site i, n that of all. O(1) per index.
    """

    def __init__(self) -> None:
        super().__init__(Arm)
        self._allowed = 0.0  # phi ln n

    def _tune(self, pool: Pool) -> None:
        self._allowed = dispersion(pool) * math.log(pool.pulls)

    def _value(self, arm: Arm) -> float:
        return poisson_bound(arm.total / arm.pulls, self._allowed / arm.pulls)


def poisson_bound(mean: float, distance: float) -> float:
    """Return the largest rate q with q - *mean* + *mean* ln(*mean*/q) <= *distance*.

    The left side is the Kullback-Leibler divergence of the Poisson distributions with rates *mean* >= 0 and q; at the
    result it equals *distance* with a relative error of at most 1e-4.

    >>> poisson_bound(0.0, 2.0)
    2.0

    Notes
    -----
    With q = r mean and y = distance/mean, solves r - 1 - ln r = y by two steps of Newton's method. The initial value
    r = 1 + sqrt(2y) + 2y/3 is asymptotically exact as y tends to 0, and close enough for large y.
    """
    if mean <= 0.0:
        return distance
    y = distance / mean
    ratio = 1.0 + math.sqrt(2.0 * y) + 2.0 * y / 3.0
    if y < 1e-8:
        return mean * ratio  # a Newton step would divide rounding errors by each other
    for _ in range(2):
        ratio -= (ratio - 1.0 - math.log(ratio) - y) * ratio / (ratio - 1.0)
    return mean * ratio
