"""Lets the crawl exchange with its other workers by the store, about every second, until it is closed.

A crawl whose store is lost notices it here, also while no page arrives whose storage would fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from crawlers.extensions.crawl_owner import owner_of, repeat

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


TICK_S = 0.1  # between two questions whether a round is due


class Rounds:
    """Begins the rounds of the crawl of *crawler*; one that takes longer is not repeated meanwhile."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._has_run = False  # the engine

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        rounds = cls(crawler)
        crawler.signals.connect(rounds._opened, signals.spider_opened)
        return rounds

    def _opened(self) -> None:
        owner = owner_of(self._crawler)
        if owner.is_started:
            repeat(self._crawler, self._begin, TICK_S, now=owner.crawl.has_joined)

    def _begin(self) -> None:
        is_running = self._crawler.engine.running
        self._has_run = self._has_run or is_running
        crawl = owner_of(self._crawler).crawl
        if crawl.is_round_due:
            # A crawl that stops waits for its downloads, and is one of the workers until then.
            deferred_from_coro(crawl.round(is_stopping=self._has_run and not is_running))
