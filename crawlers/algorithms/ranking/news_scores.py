"""Scores for news: URLs that look like articles come first, fresh ones before all others.

As in Volkov's plug-ins for Nutch, a new URL gets the factor s_fit if a rule classifies it as an article, else s_n; its
priority is the factor times its OPIC. The URLs of a site wait in several queues, each with its own order;
`QueueShares` chooses between them.

References
----------
.. [1] Volkov (2011), Development of algorithms for a distributed web crawler, section 4.1.
.. [2] Apache Nutch, plug-in scoring-opic.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.page_scores import GONE, OTHER, REVISIT
from crawlers.algorithms.ranking.page_values import PageValues
from crawlers.items import QueueSlot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


ARCHIVE = 2  # pagination and calendars
FIT = 3  # classified as an article by a rule
FRESH = 4  # recently published; ordered by that time
SOON = QueueSlot(FRESH, 4e9)  # home pages, and possible feeds: before all articles

LEAST_RISE = 0.25  # relative to the known OPIC of a page: smaller gains are held back until they add up
_UNKNOWN = -2
_A_TIME = 1e6  # times of publication in seconds since 1970 are larger, factors smaller
_INJECTED = 1.0  # Nutch's db.score.injected, the score of start pages
# Between sites: due pages come before fresh ones (later than 1970), and those before all others.
_DUE = 2e12
_AFTER_ALL_ELSE = 1e12


class NewsScores:
    """Scores URLs by their factor, times OPIC if *weighs_links*. Uses 21 bytes per page.

    A page passes its score on once, in equal parts to all pages that it links to; only waiting ones use it. Gains
    are held back until they add up, so that a page with k links to it is written log(k) times instead of k times; a
    process that ends loses the gains held back. A fetched page may be revisited when it is due (see
    `revisiting`).
    """

    returns = False
    table = "news_score"
    columns: tuple[str, ...] = ("value", "opic")

    def __init__(self, *, weighs_links: bool, else_factor: float) -> None:
        self._weighs_links = weighs_links
        self._else_factor = else_factor
        self._queues = PageValues(array("b", [_UNKNOWN]))
        self._values = PageValues(array("d", [0.0]))
        self._opic = PageValues(array("d", [0.0]))
        self._gains = PageValues(array("f", [0.0]))  # not yet included in the score

    def placed(self, page: int, place: QueueSlot) -> None:
        """Record that *page* waits at *place*."""
        self._queues[page] = place.queue
        self._values[page] = place.value

    def found(self, page: int, level: int) -> None:
        """Record that *page* waits: at its former place, else among the others; fresh pages become fresh again."""
        if self._queues[page] < 0:
            if self._queues[page] == _UNKNOWN:
                self._opic[page] = 0.0 if level else _INJECTED
            if self._values[page] > _A_TIME:
                self._queues[page] = FRESH
            else:
                self.placed_among_others(page)

    def placed_among_others(self, page: int) -> None:
        """Record that *page* waits, without further knowledge."""
        self._queues[page] = OTHER
        self._values[page] = self._else_factor

    def fetched(self, page: int, links: Mapping[int, float]) -> Collection[int]:
        """Distribute the score of *page* equally over *links*; return those waiting pages whose score rose."""
        was_new = self._queues[page] != REVISIT
        self._queues[page] = GONE
        if not self._weighs_links or not was_new or not links:
            return ()
        gain = (self._opic[page] + self._gains[page]) / len(links)
        risen = []
        for target in links:
            if self._queues[target] < 0 or target == page:
                continue
            gains = self._gains[target] + gain
            rises = gains > LEAST_RISE * self._opic[target]
            self._gains[target] = 0.0 if rises else gains
            if rises:
                self._opic[target] += gains
                risen.append(target)
        return risen

    def revisiting(self, page: int) -> None:
        """Record that *page* was fetched and will be revisited."""
        self._queues[page] = REVISIT

    def moved(self, page: int, target: int) -> Collection[int]:
        """Move *target*, if it waits, to the place of *page* if that is better."""
        queue = self._queues[page]
        self.gone(page)
        if self._queues[target] < 0 or target == page:
            return ()
        self._opic[target] += self._opic[page] + self._gains[page]
        if queue > self._queues[target] and queue != REVISIT:
            self._queues[target] = queue
            self._values[target] = self._values[page]
        return (target,)

    def gone(self, page: int) -> None:
        """Record that *page* will not be fetched (again)."""
        if self._queues[page] != _UNKNOWN:
            self._queues[page] = GONE

    def score(self, page: int) -> float:
        """Return the score that orders *page* within its queue, and its site among others."""
        queue = self._queues[page]
        if queue == REVISIT:
            return _DUE
        if queue == FRESH:
            return _AFTER_ALL_ELSE + self._values[page]
        return self._values[page] * (self._opic[page] if self._weighs_links else 1.0)

    def queue(self, page: int) -> int:
        """Return `OTHER`, `REVISIT`, `ARCHIVE`, `FIT`, `FRESH` or `GONE`."""
        return max(self._queues[page], GONE)

    def offset(self, queue: int) -> float:
        """Nothing."""
        return 0.0

    def rebase(self) -> bool:
        """Never."""
        return False

    def record(self, page: int) -> tuple[float, ...]:
        """Return the values named by `columns`."""
        return self._values[page], self._opic[page]

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Restore a page."""
        self._queues[page] = queue
        self._values[page], self._opic[page] = record

    def totals(self) -> list[float]:
        """Nothing."""
        return []

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Do nothing: there are no totals."""
