"""The rule with the true Gittins index, of Poisson counts, interpolated from a precomputed table.

`python -m bench.ranking.gittins_table` computes gittins_poisson.json with `bench.ranking.gittins_index`, and measures
the interpolation error. The table contains the *optimism* of the index, (index - mean)/deviation, with mean and
standard deviation of the posterior Gamma(a, rate b). The optimism changes slowly, and for large a it converges to that
of normal rewards as 1/sqrt(a).

References
----------
.. [1] Gittins (1979), Bandit Processes and Dynamic Allocation Indices, Journal of the Royal Statistical Society B 41.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import ClassVar

from crawlers.algorithms.bandits.arms import Arm
from crawlers.algorithms.bandits.index_rule import IndexRule

TABLE = "gittins_poisson.json"
PRIOR_SHAPE, PRIOR_RATE = 1.0, 1.0  # before the first page of a site: one link per page, with standard deviation 1
_HALF = math.sqrt(0.5)  # the ratio of 1/sqrt(a) in adjacent columns


class OptimismTable:
    """The optimism of the index by shape a and rate b of the posterior, for one discount factor.

    *rows* has a row for each b = 1, 2, 4, …, with an entry for each a = 1, 2, 4, …; at least two entries.
    """

    def __init__(self, rows: list[list[float]]) -> None:
        # An additional row, and an entry for the extrapolated limit, so that cells at the edges need no special case.
        entries = [[*row, _limit(row[-2], row[-1])] for row in rows]
        self._rows = [*entries, entries[-1]]
        self._last_row = len(rows) - 1
        self._last = len(rows[0]) - 1

    def optimism(self, a: float, b: float) -> float:
        """Return the optimism at *a* >= 1 and *b* >= 1, by linear interpolation in 1/sqrt(a) and ln b.

        Beyond the largest a of the table, it tends to the limit extrapolated from the last two entries; beyond the
        largest b, where little is left to learn, it falls as 1/sqrt(b). The error is at most 0.02 (`python -m
        bench.ranking.gittins_table --check`). O(1).
        """
        row = min(math.frexp(b)[1] - 1, self._last_row)
        column = min(math.frexp(a)[1] - 1, self._last)
        near = math.sqrt((1 << column) / a)  # 1 at the left edge of the cell
        if column < self._last:
            near = (near - _HALF) / (1.0 - _HALF)
        upper, lower = self._rows[row], self._rows[row + 1]
        here = upper[column + 1] + near * (upper[column] - upper[column + 1])
        over = b / (1 << row)
        if row == self._last_row:
            return here / math.sqrt(over)
        there = lower[column + 1] + near * (lower[column] - lower[column + 1])
        return here + math.log2(over) * (there - here)

    def index(self, a: float, b: float) -> float:
        """Return the Gittins index of Poisson counts whose rate has the posterior Gamma(*a*, rate *b*)."""
        return (a + math.sqrt(a) * self.optimism(a, b)) / b


def _limit(last_but_one: float, last: float) -> float:
    return last + (last - last_but_one) * _HALF / (1.0 - _HALF)


@cache
def optimism_table() -> OptimismTable:
    """Return the table of the package, for discount factor 0.99."""
    text = resources.files(__package__).joinpath(TABLE).read_text("utf-8")
    return OptimismTable(json.loads(text)["optimism"])


class GittinsIndex(IndexRule[Arm]):
    """The site with the largest Gittins index, discount factor 0.99: R2 as its name promises.

        I_i = G(1 + s_i, 1 + t_i),  G for Poisson counts with a Gamma posterior

    s_i is the total reward of site i, t_i the number of its pulls. This is optimal if rewards are independent Poisson
    counts and lose 1 % of their value with each page. On the web, where links come in bursts and run out, it is too
    confident too soon. O(1) per index.
    """

    pools: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__(Arm)
        self._table = optimism_table()

    def _value(self, arm: Arm) -> float:
        return self._table.index(PRIOR_SHAPE + arm.total, PRIOR_RATE + arm.pulls)
