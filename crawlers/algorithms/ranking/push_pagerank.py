"""PageRank of stored links by forward push, updated as links change, without fetching anything.

It solves y = 1 + d Pᵀ y, where P has the entry 1/m for each of the m links of a page, and zero rows for pages without
links. Divided by its sum, y is PageRank with damping d in which sinks link to all pages. A new page only changes its
own entry. Each page has a *value* and a *residual*, the error of its equation.

References
----------
.. [1] Zhang, Lofgren, Goel (2016), Approximate Personalized PageRank on Dynamic Graphs, KDD 2016.
"""

from __future__ import annotations

import heapq
import math
from array import array
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_RESIDUAL = 1e-12  # smaller residuals are rounding errors, because every page begins with 1
_STALE = 4  # the heap is rebuilt when it has more entries per page


class ForwardPushPageRank:
    """PageRank by pushing the page with the largest residual first (Gauss-Southwell).

    `set_links` adds pages and their targets. A push takes O(links of the page · log pages). *damping* is in (0, 1).
    """

    def __init__(self, damping: float = 0.85) -> None:
        self._damping = damping
        self._links: dict[int, array[int]] = {}  # by page: its targets
        self._values = PageValues(array("d", [0.0]))
        self._residuals = PageValues(array("d", [0.0]))
        self._total = 0.0  # of all values
        self._heap: list[tuple[float, int]] = []  # (-|residual|, page) when the residual changed

    def set_links(self, page: int, targets: Iterable[int]) -> None:
        """Set the links of *page* to *targets*, without duplicates and self-links. O(targets)."""
        targets = array("q", [target for target in dict.fromkeys(targets) if target != page])
        for known in (page, *targets):
            if known not in self._links:
                self._links[known] = array("q")
                self._add(known, 1.0)
        self._pay(page, -self._values[page])
        self._links[page] = targets
        self._pay(page, self._values[page])

    def push(self, most: int) -> int:
        """Push *most* pages, or fewer if all residuals are 0; return the number of pushes."""
        for done in range(most):
            page = self._largest()
            if page is None:
                return done
            residual = self._residuals[page]
            self._residuals[page] = 0.0
            self._values[page] += residual
            self._total += residual
            self._pay(page, residual)
        return most

    def rank(self, page: int) -> float:
        """Return the approximate PageRank of *page*; all ranks sum to 1."""
        return self._values[page] / self._total if self._total > 0.0 else 0.0

    def residual_l1(self) -> float:
        """Return an upper bound of the error of all ranks in the L1 norm; 2 before the first push. O(pages)."""
        residual = math.fsum(abs(residual) for _, residual in self._residuals.items())
        missing = residual / (1.0 - self._damping)  # upper bound of the error of the values
        return 2.0 * min(missing / self._total, 1.0) if self._total > 0.0 else 2.0

    def _pay(self, page: int, amount: float) -> None:
        """Pass *amount* of the value of *page* on to its targets."""
        targets = self._links[page]
        if amount and targets:
            share = self._damping * amount / len(targets)
            for target in targets:
                self._add(target, share)

    def _add(self, page: int, amount: float) -> None:
        residual = self._residuals[page] + amount
        self._residuals[page] = residual
        heapq.heappush(self._heap, (-abs(residual), page))

    def _largest(self) -> int | None:
        """Remove the page with the largest residual from the heap and return it; None if all residuals are 0."""
        if len(self._heap) > _STALE * len(self._links):
            self._heap = [(-abs(residual), page) for page, residual in self._residuals.items()]
            heapq.heapify(self._heap)
        while self._heap:
            size, page = heapq.heappop(self._heap)
            if -size == abs(
                self._residuals[page]
            ):  # otherwise the residual has changed, and the page has another entry
                return page if -size > _MIN_RESIDUAL else None
        return None
