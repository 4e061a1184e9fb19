"""Scores as Nutch's OPIC plug-in makes them, to be compared with `crawlers.algorithms.ranking.opic`; its faults are
kept.

A page passes its score on without losing it, and has no history, and no virtual page: so the sum of all scores
grows with every page fetched, and old pages are worth more than new ones for being old.

References
----------
.. [1] Apache Nutch, plug-in scoring-opic, with its default settings (all link factors 1).
.. [2] Nutch wiki, FixingOpicScoring (2006): what is wrong with it.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.page_scores import GONE
from crawlers.algorithms.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_UNKNOWN = -2
_INJECTED = 1.0  # db.score.injected, of the pages that a crawl begins with


class NutchOPIC:
    """Scores that only grow: each link of a fetched page adds that page's score, divided by its number of links.

    Pages are fetched once. Links to pages that were fetched, or are gone, count as all others do. 9 bytes a page.
    """

    table = "importance"
    columns: tuple[str, ...] = ("cash", "history", "visited", "alias")

    def __init__(self) -> None:
        self._queues = PageValues(array("b", [_UNKNOWN]))
        self._scores = PageValues(array("d", [0.0]))

    def found(self, page: int, level: int) -> None:
        """*page* begins with 1 if the crawl begins with it, else with nothing."""
        if self._queues[page] == _UNKNOWN:
            self._scores[page] = 0.0 if level else _INJECTED
        self._queues[page] = 0

    def fetched(self, page: int, links: Mapping[int, float]) -> Collection[int]:
        """The pages of *links* gain the score of *page* in equal parts; returns them. *page* keeps its own."""
        self._queues[page] = GONE
        targets = [target for target in links if self._queues[target] != _UNKNOWN and target != page]
        for target in targets:
            self._scores[target] += self._scores[page] / len(targets)
        return targets

    def moved(self, page: int, target: int) -> Collection[int]:
        """*target* gains what *page* had until now."""
        if self._queues[target] == _UNKNOWN or target == page:
            self.gone(page)
            return ()
        self._scores[target] += self._scores[page]
        self.gone(page)
        return (target,)

    def gone(self, page: int) -> None:
        """*page* will not be fetched."""
        if self._queues[page] != _UNKNOWN:
            self._queues[page] = GONE

    def score(self, page: int) -> float:
        """The score of *page*."""
        return self._scores[page]

    def total_score(self) -> float:
        """All scores, added up: more with every page fetched. O(pages)."""
        return math.fsum(score for _, score in self._scores.items())

    def queue(self, page: int) -> int:
        """0 until *page* is fetched or gone, then `GONE`."""
        return max(self._queues[page], GONE)

    def offset(self, queue: int) -> float:
        """Nothing."""
        return 0.0

    def rebase(self) -> bool:
        """Never: scores are kept as they are."""
        return False

    def record(self, page: int) -> tuple[float, ...]:
        """The score, in the place of OPIC's cash, and nothing in the others."""
        return self._scores[page], 0.0, 0.0, 0.0

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Take up a page as it was."""
        self._queues[page] = queue
        self._scores[page] = record[0]

    def totals(self) -> list[float]:
        """Nothing."""
        return []

    def recall_totals(self, totals: Sequence[float]) -> None:
        """There is nothing to take up."""
