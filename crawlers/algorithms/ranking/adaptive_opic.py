"""Adaptive OPIC: importance by the cash of a sliding window, for a web that changes.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003, section 5.
"""

from __future__ import annotations

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
        fetched = self._waiting[1] + (self._queues[page] == 0)
        part = (self.ticks - self._visited[page]) / (self._window * fetched)  # S/T
        return cash / part if part >= 1.0 else self._histories[page] * (1.0 - part) + cash

    def importance(self, page: int) -> float:
        """Return the approximate share of *page* in the cash of the window, as if it were fetched now; 0 if unknown."""
        if self._queues[page] < 0:
            return 0.0
        return self._new_history(page, self.cash(page)) / (self._history + self._total)
