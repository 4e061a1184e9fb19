"""Lets the crawl exchange with its other workers by the store, about every second, until it is closed.

A crawl whose store is lost notices it here, also while no page arrives whose storage would fail.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_from_coro

from crawlers.extensions.crawl_owner import CRAWL_OPENED, repeat

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.running_crawl import Crawl


TICK_S = 0.1  # between two questions whether a round is due


class Rounds:
    """Begins the rounds of the crawl of *crawler*; one that takes longer is not repeated meanwhile."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._has_run = False  # the engine

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        rounds = cls(crawler)
        crawler.signals.connect(rounds._opened, CRAWL_OPENED)
        return rounds

    def _opened(self, crawl: Crawl) -> None:
        repeat(self._crawler, partial(self._begin, crawl), TICK_S, now=crawl.has_joined)

    def _begin(self, crawl: Crawl) -> None:
        is_running = self._crawler.engine.running
        self._has_run = self._has_run or is_running
        if crawl.is_round_due:
            # A crawl that stops waits for its downloads, and is one of the workers until then.
            deferred_from_coro(crawl.round(is_stopping=self._has_run and not is_running))
