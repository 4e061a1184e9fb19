"""Scores of news: URLs that look like articles first, what is fresh before all others.

Volkov's plug-ins for Nutch: a new URL gets s_fit if a rule says that it is an article, else s_n, and scores
multiply, so that its priority is that factor times its OPIC. The URLs of a site wait in several queues, each
with its own order; `Shares` says which one is next.

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
FIT = 3  # a rule says: an article
FRESH = 4  # just published; ordered by the time of that
SOON = QueueSlot(FRESH, 4e9)  # home pages, and what may be a feed: before all articles

LEAST_RISE = 0.25  # of what is known of a page's OPIC: smaller gains are kept back until they matter
_UNKNOWN = -2
_A_TIME = 1e6  # seconds since 1970 that pages were published at are more, factors are less
_INJECTED = 1.0  # Nutch's db.score.injected, of the pages that a crawl begins with
# Between sites: what is due goes before what is fresh (later than 1970), and that before everything else.
_DUE = 2e12
_AFTER_ALL_ELSE = 1e12


class NewsScores:
    """The factor of a URL, times its OPIC if *weighs_links*. 21 bytes a page.

    A page passes its score on in equal parts to all pages that it links to, once; of these only those that
    wait need it. What a page gains is kept back until it matters, so that one with k links to it is written down
    log(k) times instead of k times; a process that ends loses what it kept back. A page that was fetched
    may come back when its time has come (see `revisiting`).
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
        self._gains = PageValues(array("f", [0.0]))  # that are not part of it yet

    def placed(self, page: int, place: QueueSlot) -> None:
        """*page* waits, and belongs there."""
        self._queues[page] = place.queue
        self._values[page] = place.value

    def found(self, page: int, level: int) -> None:
        """*page* waits: where it was placed, else among the others; what was fresh before it was gone is that again."""
        if self._queues[page] < 0:
            if self._queues[page] == _UNKNOWN:
                self._opic[page] = 0.0 if level else _INJECTED
            if self._values[page] > _A_TIME:
                self._queues[page] = FRESH
            else:
                self.placed_among_others(page)

    def placed_among_others(self, page: int) -> None:
        """*page* waits, and nothing is known of it."""
        self._queues[page] = OTHER
        self._values[page] = self._else_factor

    def fetched(self, page: int, links: Mapping[int, float]) -> Collection[int]:
        """The pages of *links* that wait gain the score of *page* in equal parts; returns those that rose by it."""
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
        """*page* was fetched and comes back."""
        self._queues[page] = REVISIT

    def moved(self, page: int, target: int) -> Collection[int]:
        """*target*, if it waits, takes the place of *page* if that is the better one."""
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
        """*page* will not be fetched (again)."""
        if self._queues[page] != _UNKNOWN:
            self._queues[page] = GONE

    def score(self, page: int) -> float:
        """By which *page* is held against those of its queue, and its site against others."""
        queue = self._queues[page]
        if queue == REVISIT:
            return _DUE
        if queue == FRESH:
            return _AFTER_ALL_ELSE + self._values[page]
        return self._values[page] * (self._opic[page] if self._weighs_links else 1.0)

    def queue(self, page: int) -> int:
        """`OTHER`, `REVISIT`, `ARCHIVE`, `FIT`, `FRESH` or `GONE`."""
        return max(self._queues[page], GONE)

    def offset(self, queue: int) -> float:
        """Nothing."""
        return 0.0

    def rebase(self) -> bool:
        """Never."""
        return False

    def record(self, page: int) -> tuple[float, ...]:
        """As named by `columns`."""
        return self._values[page], self._opic[page]

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Take up a page as it was."""
        self._queues[page] = queue
        self._values[page], self._opic[page] = record

    def totals(self) -> list[float]:
        """Nothing."""
        return []

    def recall_totals(self, totals: Sequence[float]) -> None:
        """There is nothing to take up."""
