"""Adaptive OPIC: importance by the cash of a sliding window, for a web that changes.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003, section 5.
"""

from __future__ import annotations

import math

from crawlers.algorithms.ranking.opic import OPIC, Policy


class AdaptiveOPIC(OPIC):
    """Scores by cash like `OPIC`, and importance by the cash that recently passed through a page.

    The window T is *window* ticks for each fetched page. If a page received cash C during the S ticks since it was last
    fetched (or found), its history H becomes C T/S if S >= T, else H (T - S)/T + C. This assumes that cash arrives
    evenly; where it does not, or if links change, `error_bound` is only an estimate. For the other arguments see
    `OPIC`.

    The window is not proportional to the number of known pages, because a crawl finds many more than it fetches: the
    window would never end, and importance would remain that of the beginning, when few pages shared all the cash.
    """

    def __init__(
        self,
        policy: Policy = "greedy",
        *,
        virtual_share: float = 0.15,
        window: float = 2.0,
        uncrawled_weight: float = 1.0,
        total: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(policy, virtual_share=virtual_share, uncrawled_weight=uncrawled_weight, total=total, seed=seed)
        self._window = window

    def _new_history(self, page: int, cash: float) -> float:
        fetched = self._waiting[1] + (self._queues[page] == 0) + (self._others.read if self._others else 0)
        part = (self.ticks - self._visited[page]) / (self._window * fetched)  # S/T
        return cash / part if part >= 1.0 else self._histories[page] * (1.0 - part) + cash

    def weight(self, page: int) -> float:
        """Return the cash of the window of *page*, as if it were fetched now; 0 if it may not be fetched."""
        return self._new_history(page, self.cash(page)) if self._queues[page] >= 0 else 0.0

    def importance(self, page: int) -> float:
        """Return the share of *page* in the weights of all pages. O(pages): to compare pages, `weight` suffices."""
        whole = math.fsum(self.weight(other) for other, queue in self._queues.items() if queue >= 0)
        return self.weight(page) / whole if whole > 0.0 else 0.0
