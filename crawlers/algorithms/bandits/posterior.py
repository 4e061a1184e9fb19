"""Rules that believe the rewards of a site to be Poisson counts, more or less dispersed: Thompson sampling and KL-UCB.

Links come in bursts: the variance of what a page brings is many times its mean. So a reward counts as reward/phi
events (quasi-Poisson), phi being the variance of all rewards over their mean; as Poisson counts they would be taken
for much surer than they are.

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

KEPT = 0.95  # of what was learnt of a site, at each further pull of it: it has less and less that is new
_MASK = 2**64 - 1
_normal = NormalDist().inv_cdf


def dispersion(pool: Pool) -> float:
    """The variance of the rewards over their mean; 1, that of a Poisson count, at least."""
    return max(1.0, pool.variance / pool.mean) if pool.total else 1.0


def uniform(*key: int) -> float:
    """A number in (0, 1) that looks drawn by lot and is a function of *key*.

    >>> uniform(1, 2) == uniform(1, 2) != uniform(2, 1)
    True

    References
    ----------
    .. [1] Steele, Lea, Flood (2014), Fast Splittable Pseudorandom Number Generators (the mixing of SplitMix64).
    """
    mixed = 0
    for part in key:
        mixed = (mixed + part + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        mixed ^= mixed >> 31
    return ((mixed >> 12) + 0.5) / 2**52


def gamma_quantile(shape: float, p: float) -> float:
    """The quantile *p* of the gamma distribution of this *shape* >= 1 and rate 1, above the median within 2 %.

    >>> round(gamma_quantile(1.0, 0.99), 2)  # -ln(1 - p) = 4.61
    4.61
    """
    return float(shape * max(0.0, 1.0 - 1.0 / (9.0 * shape) + _normal(p) / (3.0 * math.sqrt(shape))) ** 3)


class _FadingArm(Arm):
    """An arm that forgets: sums of rewards and of pulls, each pull weighing a bit more than the one before."""

    __slots__ = ("faded_pulls", "faded_total")

    def __init__(self, name: Hashable, number: int) -> None:
        super().__init__(name, number)
        self.faded_total = 0.0
        self.faded_pulls = 0.0

    def earn(self, reward: float) -> None:
        super().earn(reward)
        self.faded_total = KEPT * self.faded_total + reward
        self.faded_pulls = KEPT * self.faded_pulls + 1.0


class Thompson(IndexRule[_FadingArm]):
    """Thompson sampling: each site's rate is drawn from what is believed of it, and the largest one is read.

        I_i = phi Gamma(1 + S_i/phi) / (1 + T_i)

    S_i and T_i are the discounted sums of the rewards and pulls of site i. The draw is a quantile (Wilson's and
    Hilferty's approximation) at a probability that is a function of *seed*, the numbers of pulls and the site: no
    generator has to be brought back after a crash. O(1) an index.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(_FadingArm)
        self._seed = seed
        self._pulls = 0
        self._phi = 1.0

    def _tune(self, pool: Pool) -> None:
        self._pulls = pool.pulls
        self._phi = dispersion(pool)

    def _value(self, arm: _FadingArm) -> float:
        faded = KEPT**arm.pending
        shape = 1.0 + arm.faded_total * faded / self._phi
        pulls = arm.faded_pulls * faded + (1.0 - faded) / (1.0 - KEPT)
        p = uniform(self._seed, self._pulls, arm.number + (arm.pulls << 32))
        return self._phi * gamma_quantile(shape, p) / (1.0 + pulls)


class KLUCB(IndexRule[Arm]):
    """KL-UCB: the largest rate that the rewards of a site don't rule out, as Poisson counts of dispersion phi.

        I_i = the largest q with t_i/phi (q - m + m ln(m/q)) <= ln n,  m = mean reward of site i

    O(1) an index.
    """

    def __init__(self) -> None:
        super().__init__(Arm)
        self._allowed = 0.0

    def _tune(self, pool: Pool) -> None:
        self._allowed = dispersion(pool) * math.log(pool.pulls)

    def _value(self, arm: Arm) -> float:
        return poisson_bound(arm.total / arm.pulls, self._allowed / arm.pulls)


def poisson_bound(mean: float, distance: float) -> float:
    """The largest rate whose Kullback-Leibler distance from a Poisson count of this *mean* is *distance*; to 1e-4.

    >>> poisson_bound(0.0, 2.0)
    2.0

    Notes
    -----
    With q = r mean, r - 1 - ln r = distance/mean = y: two steps of Newton's method from a start of the right shape at 0
    (r = 1 + sqrt(2y) + 2y/3), which is good enough at infinity.
    """
    if mean <= 0.0:
        return distance
    y = distance / mean
    ratio = 1.0 + math.sqrt(2.0 * y) + 2.0 * y / 3.0
    if y < 1e-8:
        return mean * ratio  # what Newton's method would divide is all rounding here
    for _ in range(2):
        ratio -= (ratio - 1.0 - math.log(ratio) - y) * ratio / (ratio - 1.0)
    return mean * ratio
