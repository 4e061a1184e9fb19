"""PageRank of stored links, updated as links change by forward push, without fetching anything.

It solves y = 1 + d Pᵀ y, where P has 1/m for each of a page's m links and no row for pages without links. Divided by
its sum, y is PageRank with damping d and sinks that link to all pages; and a new page changes nothing but itself. Each
page has a *value* and a *residual*, the error of its equation.

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

_LEAST = 1e-12  # if every page begins with 1, such a small residual is a rounding error
_STALE = 4  # the heap is rebuilt when it has that many items per page


class ForwardPushPageRank:
    """PageRank by pushing the page with the largest residual first (Gauss-Southwell).

    `set_links` adds pages, as the page or as targets. O(links of the page · log pages) per push.
    """

    def __init__(self, damping: float = 0.85) -> None:
        self._damping = damping
        self._links: dict[int, array[int]] = {}  # of every page, once known
        self._values = PageValues(array("d", [0.0]))
        self._residuals = PageValues(array("d", [0.0]))
        self._total = 0.0  # of all values
        self._heap: list[tuple[float, int]] = []  # (-|residual|, page) at the time of change

    def set_links(self, page: int, targets: Iterable[int]) -> None:
        """Set the links of *page* to *targets*, without duplicates and self-links. O(targets)."""
        targets = array("q", [target for target in dict.fromkeys(targets) if target != page])
        for one in (page, *targets):
            if one not in self._links:
                self._links[one] = array("q")
                self._add(one, 1.0)
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
        """Return an upper bound of the L1 error of all ranks: 2 before the first push. O(pages)."""
        residual = math.fsum(abs(residual) for _, residual in self._residuals.items())
        missing = residual / (1.0 - self._damping)  # of the values, at most
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
        """Return the page with the largest residual, or None if that is practically 0."""
        if len(self._heap) > _STALE * len(self._links):
            self._heap = [(-abs(residual), page) for page, residual in self._residuals.items()]
            heapq.heapify(self._heap)
        while self._heap:
            size, page = heapq.heappop(self._heap)
            if -size == abs(self._residuals[page]):  # otherwise it changed, and has another item
                return page if -size > _LEAST else None
        return None
