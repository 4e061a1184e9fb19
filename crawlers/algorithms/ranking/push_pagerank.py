"""PageRank of links that are stored, kept up to date as links change: by forward push, without fetching anything.

The vector y = 1 + d Pᵀ y is solved for, where P has 1/m for each of a page's m links and no row for pages without
links. Divided by its sum it is PageRank with the damping d and sinks that lead everywhere; and a new page changes
nothing but itself. Of each page there is a *value* and a *residual*, what is still missing in its equation.

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

_LEAST = 1e-12  # a residual this small, where every page begins with 1, is what rounding left
_STALE = 4  # the heap is made anew when it has that many items a page


class ForwardPushPageRank:
    """PageRank by pushing the page with the largest residual first (Gauss-Southwell).

    Pages are known from `set_links` on, as the page or as a target. O(links of the page · log pages) a push.
    """

    def __init__(self, damping: float = 0.85) -> None:
        self._damping = damping
        self._links: dict[int, array[int]] = {}  # of every page, once known
        self._values = PageValues(array("d", [0.0]))
        self._residuals = PageValues(array("d", [0.0]))
        self._total = 0.0  # of all values
        self._heap: list[tuple[float, int]] = []  # (-|residual|, page) when it changed

    def set_links(self, page: int, targets: Iterable[int]) -> None:
        """*page* links to *targets* now, and to nothing else; each counts once, and itself not at all. O(targets)."""
        targets = array("q", [target for target in dict.fromkeys(targets) if target != page])
        for one in (page, *targets):
            if one not in self._links:
                self._links[one] = array("q")
                self._add(one, 1.0)
        self._pay(page, -self._values[page])
        self._links[page] = targets
        self._pay(page, self._values[page])

    def push(self, most: int) -> int:
        """Push *most* pages, or fewer if nothing is left to be gained; returns how many it were."""
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
        """The PageRank of *page*, about; all add up to 1."""
        return self._values[page] / self._total if self._total > 0.0 else 0.0

    def residual_l1(self) -> float:
        """How far all ranks are from the truth, in the L1 norm, at most: 2 before the first push. O(pages)."""
        residual = math.fsum(abs(residual) for _, residual in self._residuals.items())
        missing = residual / (1.0 - self._damping)  # of the values, at most
        return 2.0 * min(missing / self._total, 1.0) if self._total > 0.0 else 2.0

    def _pay(self, page: int, amount: float) -> None:
        """The targets of *page* gain what *amount* of its value is worth to them."""
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
        """The page with the largest residual, None when that is as good as 0."""
        if len(self._heap) > _STALE * len(self._links):
            self._heap = [(-abs(residual), page) for page, residual in self._residuals.items()]
            heapq.heapify(self._heap)
        while self._heap:
            size, page = heapq.heappop(self._heap)
            if -size == abs(self._residuals[page]):  # else it changed, and has another item
                return page if -size > _LEAST else None
        return None
