"""Ends a crawl whose store is lost, also while no page arrives whose storage would fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from crawlers.extensions.crawl_owner import owner_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

CHECK_INTERVAL_S = 1.0  # between two looks at a flag; the writer's thread checks the store


class StoreWatch:
    """Asks the crawl of *crawler* every second whether its writer has failed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._loop = create_looping_call(self._look)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        watch = cls(crawler)
        crawler.signals.connect(watch._opened, signals.spider_opened)
        crawler.signals.connect(watch._closed, signals.spider_closed)
        return watch

    def _opened(self) -> None:
        if owner_of(self._crawler).has_begun:
            self._loop.start(CHECK_INTERVAL_S, now=False)

    def _look(self) -> None:
        owner_of(self._crawler).crawl.check_store()

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
