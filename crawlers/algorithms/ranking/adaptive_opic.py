"""Adaptive OPIC: importance by the cash of a sliding window, for a web that changes.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003, section 5.
"""

from __future__ import annotations

from crawlers.algorithms.ranking.opic import OPIC, Policy


class AdaptiveOPIC(OPIC):
    """Scores by cash as `OPIC`, and importance by the cash that passed through a page lately.

    The window is *window* times as many ticks as there are pages that were fetched: T. With S ticks since a page was
    fetched last (or found), in which C came in, its history H becomes C T/S where S >= T, else H (T - S)/T + C. That
    takes cash to come in evenly; where it doesn't, or links change, `error_bound` is an estimate. Other arguments: see
    `OPIC`.

    Not times the pages that are known, which in a crawl that finds more than it fetches are many more: its window
    would never end, and importance would be that of the beginning, when few pages shared all the cash.
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
        fetched = self._waiting[1] + (self._queues[page] == 0)
        part = (self.ticks - self._visited[page]) / (self._window * fetched)  # S/T
        return cash / part if part >= 1.0 else self._histories[page] * (1.0 - part) + cash

    def importance(self, page: int) -> float:
        """The share of *page*, nearly, in the cash of the window, as if it was fetched now; 0 of a page unknown."""
        if self._queues[page] < 0:
            return 0.0
        return self._new_history(page, self.cash(page)) / (self._history + self._total)
