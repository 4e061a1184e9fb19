"""Adaptive OPIC: importance by the cash of a sliding window, for a web that changes.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003, section 5.
"""

from __future__ import annotations

from crawlers.algorithms.opic import OPIC, Policy


class AdaptiveOPIC(OPIC):
    """Scores by cash as `OPIC`, and importance by the cash that passed through a page lately.

    The window is *window* times as many ticks as there are pages: T. With S ticks since a page was fetched last (or
    found), in which C came in, its history H becomes C T/S where S >= T, else H (T - S)/T + C. That takes cash to
    come in evenly; where it doesn't, or links change, `error_bound` is an estimate. Other arguments: see `OPIC`.
    """

    def __init__(
        self,
        policy: Policy = "greedy",
        *,
        virtual_share: float = 0.15,
        window: float = 4.0,
        uncrawled_weight: float = 1.0,
        total: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__(policy, virtual_share=virtual_share, uncrawled_weight=uncrawled_weight, total=total, seed=seed)
        self._window = window

    def _new_history(self, page: int, cash: float) -> float:
        part = (self.ticks - self._visited[page]) / (self._window * self.pages)  # S/T
        return cash / part if part >= 1.0 else self._histories[page] * (1.0 - part) + cash

    def importance(self, page: int) -> float:
        """The share of *page* in the cash of the window, in [0, 1]; 0 until it was fetched."""
        return self._histories[page] / self._history if self._history > 0.0 else 0.0
