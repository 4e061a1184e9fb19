"""Divides the downloads of a site in a news crawl among its queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH, LISTS
from crawlers.ranking.page_scores import OTHER, REVISIT

if TYPE_CHECKING:
    from collections.abc import Iterable


class QueueShares:
    """Chooses among the queues of one site.

    Pages due for a revisit come first, because their rate is planned. Of all other downloads, the share *explore* goes
    to URLs that match no rule, to find what the rules miss, and the share *archive* to pagination and calendars that
    are not known to show new articles, both in [0, 1]. The rest goes to fresh pages, then to URLs that match a rule or
    probably are articles, and when there are none to lists that probably show new ones, pagination and calendars among
    them. If only the first two queues have pages, they divide everything in the ratio of their shares.

    >>> shares = QueueShares(explore=0.05, archive=0.1)
    >>> shares.choose([OTHER, FIT])
    0
    >>> shares.record_request(OTHER)
    >>> shares.choose([OTHER, FIT, FRESH])
    4
    """

    def __init__(self, explore: float, archive: float) -> None:
        self._shares = {OTHER: explore, ARCHIVE: archive}
        self._taken = {OTHER: 0, ARCHIVE: 0}  # downloads by queue
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
        for queue in (FRESH, FIT, LISTS):
            if queue in queues:
                return queue
        return min(limited, key=lambda queue: self._taken[queue] / max(self._shares[queue], 1e-9))

    def record_request(self, queue: int) -> None:
        """Record that a page of *queue* is requested."""
        if queue != REVISIT:
            self._all += 1
            if queue in self._taken:
                self._taken[queue] += 1

    def cancel_request(self, queue: int) -> None:
        """Record that the page was not requested after all."""
        if queue != REVISIT:
            self._all -= 1
            if queue in self._taken:
                self._taken[queue] -= 1
