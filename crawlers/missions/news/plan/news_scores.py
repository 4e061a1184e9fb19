"""The order of a news crawl: URLs that look like articles come first, freshly announced ones before all others.

As in Volkov's plug-ins for Nutch, the score of a new URL is how probably it is an article; that it is multiplied there
by the OPIC of the URL gained nothing. The URLs of a site wait in several queues, each with its own order; `QueueShares`
chooses between the queues.

References
----------
.. [1] Volkov (2011), Development of algorithms for a distributed web crawler, section 4.1.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import GONE, OTHER, REVISIT
from crawlers.ranking.page_orders import PageOrder
from crawlers.ranking.page_scores import PageScores
from crawlers.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Hint

ARCHIVE = 2  # pagination and calendars
FIT = 3  # probably an article
FRESH = 4  # recently published; ordered by the time of publication


class QueueSlot(NamedTuple):
    """The place of a waiting URL, as `NewsScores` takes it for a hint."""

    queue: int
    value: float  # orders the URLs of the queue


BEFORE_ARTICLES = QueueSlot(FRESH, 4e9)  # home pages, and possible feeds

_MIN_TIME = 1e6  # times of publication, in seconds since 1970, are larger; probabilities are smaller
# The order of pages of different sites: due pages first, then fresh ones, the latest first, then all others.
_DUE = 2e12
_FRESH_BASE = 1e12


class NewsScores(PageScores):
    """The order `fit`: URLs by the values of their slots. 9 bytes per page.

    Links don't matter. A fetched page may be revisited when it is due, see `schedule_visit`.
    """

    table = "news_score"
    columns = ("value",)
    takes_hints = True

    def __init__(self) -> None:
        super().__init__()
        self._values = PageValues(array("d", [0.0]))

    def take_hint(self, page: int, hint: Hint) -> bool:
        """Record that *page* waits in the queue of *hint*, unless it will be revisited, or was fetched."""
        if self._queues[page] < 0 or self._queues[page] == REVISIT:
            return False
        self._queues[page], self._values[page] = QueueSlot(*hint)
        return True

    def hint(self, page: int) -> QueueSlot:
        """Return the current or last queue of *page*, and its value there."""
        return QueueSlot(self.queue(page), self._values[page])

    def passed_on(self, page: int) -> QueueSlot | None:
        """Return the hint of a fresh page: if it was announced, so is the target."""
        return self.hint(page) if self._queues[page] == FRESH else None

    def add_waiting(self, page: int, level: int) -> None:
        """Record that *page* waits. A waiting page keeps its slot; a page that was fresh before is fresh again."""
        if self._queues[page] < 0:
            is_fresh = self._values[page] > _MIN_TIME
            self._queues[page], self._values[page] = (FRESH, self._values[page]) if is_fresh else (OTHER, 0.0)

    def fetched(self, page: int, links: Mapping[int, float], elsewhere: int = 0) -> Collection[int]:
        """Record that *page* was read."""
        self._queues[page] = GONE
        return ()

    def schedule_visit(self, page: int) -> bool:
        """Record that *page* was fetched and will be revisited."""
        self._queues[page] = REVISIT
        return True

    def record_alias(self, page: int, target: int) -> Collection[int]:
        """Record that *page* is an alias of *target*, which gets its slot if that is better.

        A *target* that was fetched before keeps the time of its revisit.
        """
        queue = self._queues[page]
        self.remove_page(page)
        if target == page or REVISIT in (queue, self._queues[target]) or not 0 <= self._queues[target] < queue:
            return ()
        self._queues[target], self._values[target] = queue, self._values[page]
        return (target,)

    def score(self, page: int) -> float:
        """Return the score of *page*, which orders pages within a queue, and sites by their best pages."""
        queue = self._queues[page]
        if queue == REVISIT:
            return _DUE
        if queue == FRESH:
            return _FRESH_BASE + self._values[page]
        return self._values[page]

    def record(self, page: int) -> tuple[float, ...]:
        """Return the value in the slot of *page*."""
        return (self._values[page],)

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Restore a page."""
        self._queues[page] = queue
        (self._values[page],) = record

    def remove_pages(self, pages: Collection[int]) -> None:
        """Forget *pages*."""
        super().remove_pages(pages)
        for page in pages:
            self._values[page] = 0.0


class QueueShares:
    """Chooses among the queues of one site.

    Pages due for a revisit come first, because their rate is planned. Of all other downloads, the share *explore* goes
    to URLs that are probably no articles, to find what rules and model miss, and the share *archive* to pagination and
    calendars, both in [0, 1]. The rest goes to fresh pages, then to URLs that probably are articles. If only the first
    two queues have pages, they divide everything in the ratio of their shares.

    >>> shares = QueueShares(explore=0.05, archive=0.1)
    >>> shares.choose([OTHER, FIT])
    0
    >>> shares.record_request(OTHER)
    >>> shares.choose([OTHER, FIT, FRESH])
    4
    """

    def __init__(self, explore: float, archive: float) -> None:
        self._shares = {OTHER: explore, ARCHIVE: archive}
        self._taken = Counter[int]()  # downloads by queue
        self._all = 0  # downloads except revisits

    def choose(self, waiting: Iterable[int]) -> int:
        """Return one of the queues that are *waiting*."""
        queues = set(waiting)
        if REVISIT in queues:
            return REVISIT
        limited = [queue for queue in (OTHER, ARCHIVE) if queue in queues]
        for queue in limited:
            if self._taken[queue] < self._shares[queue] * (self._all + 1):
                return queue
        for queue in (FRESH, FIT):
            if queue in queues:
                return queue
        return min(limited, key=lambda queue: self._taken[queue] / max(self._shares[queue], 1e-9))

    def record_request(self, queue: int) -> None:
        """Record that a page of *queue* is requested."""
        self._count(queue, 1)

    def cancel_request(self, queue: int) -> None:
        """Record that the page was not requested after all."""
        self._count(queue, -1)

    def _count(self, queue: int, requests: int) -> None:
        self._taken[queue] += requests
        if queue != REVISIT:
            self._all += requests


def by_fit(*, explore: float = 0.05, archive: float = 0.03) -> PageOrder:
    """Return the order by `NewsScores`, with the shares of other URLs and of archives in the downloads of a site."""
    return PageOrder(NewsScores(), make_shares=lambda: QueueShares(explore, archive))


def fit(settings: SettingValues, given: object) -> PageOrder:
    """Return the order of the settings."""
    return by_fit(explore=settings.getfloat("EXPLORE_SHARE"))
