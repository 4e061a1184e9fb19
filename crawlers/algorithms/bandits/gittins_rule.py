"""The rule of the true Gittins index, of Poisson counts, read from a table that was made once.

`python -m bench.ranking.gittins_table` makes gittins_poisson.json from `bench.ranking.gittins_index`, and measures
the error of reading it. What it holds is how optimistic the index is, (index - mean)/deviation of the posterior
mean: it changes slowly, and for large a tends to that of normal rewards as 1/sqrt(a).
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
PRIOR_SHAPE, PRIOR_RATE = 1.0, 1.0  # before its first page a site is believed to bring a link a page, give or take one
_HALF = math.sqrt(0.5)  # what 1/sqrt(a) of the next column is to that of a column


class OptimismTable:
    """Optimism of the index by shape a and rate b of the posterior, at powers of two of both, at one discount.

    *rows* has a row for b = 1, 2, 4 …, with an entry for a = 1, 2, 4 …
    """

    def __init__(self, rows: list[list[float]]) -> None:
        # One row and one entry more, of a limit that was extrapolated: cells at the edge are cells like others.
        entries = [[*row, _limit(row[-2], row[-1])] for row in rows]
        self._rows = [*entries, entries[-1]]
        self._last_row = len(rows) - 1
        self._last = len(rows[0]) - 1

    def optimism(self, a: float, b: float) -> float:
        """(index - mean)/deviation at *a* >= 1 and *b* >= 1: linear in 1/sqrt(a) and ln b between the entries.

        For larger a than the table has the limit is what its last two entries tend to; for larger b, where little is
        left to learn, it falls as 1/sqrt(b). The error is at most 0.02 (`python -m bench.ranking.gittins_table
        --check`). O(1).
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
        """The Gittins index of Poisson counts whose rate is believed to be Gamma(*a*, rate *b*)."""
        return (a + math.sqrt(a) * self.optimism(a, b)) / b


def _limit(last_but_one: float, last: float) -> float:
    return last + (last - last_but_one) * _HALF / (1.0 - _HALF)


@cache
def optimism_table() -> OptimismTable:
    """The table that comes with the package, of discount .99."""
    text = resources.files(__package__).joinpath(TABLE).read_text("utf-8")
    return OptimismTable(json.loads(text)["optimism"])


class GittinsIndex(IndexRule[Arm]):
    """What R2 was meant to be: a page of the site of the largest Gittins index, discount .99.

        I_i = G(1 + s_i, 1 + t_i),  G of Poisson counts with a Gamma posterior

    s_i and t_i are the links and pages of site i. The best that can be done if pages bring independent Poisson counts
    and the future is worth 1 % less a page; on the web, where links come in bursts and run out, it believes too early.
    O(1) an index, read from a table.
    """

    pools: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__(Arm)
        self._table = optimism_table()

    def _value(self, arm: Arm) -> float:
        return self._table.index(PRIOR_SHAPE + arm.total, PRIOR_RATE + arm.pulls)
