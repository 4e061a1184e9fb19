"""Shows the live display of a crawl while it runs. Without a terminal, Scrapy's log lines suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import repeat
from crawlers.inputs.setting_readers import crawl_name, shows_progress
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlers.reports.live_display import LiveDisplay

INTERVAL_S = 0.5  # between two queries of the store: a reader follows no faster


class Progress:
    """Redraws the display every `INTERVAL_S` seconds, independently of the crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._display: LiveDisplay | None = None  # None: there is nothing to display

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not shows_progress(crawler.settings) or not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self, spider: Spider) -> None:
        from crawlers.reports.live_display import LiveDisplay  # few crawls have a terminal

        settings = self._crawler.settings
        try:
            self._display = LiveDisplay(settings.get("DATABASE_URL"), crawl_name(settings, spider.name))
        except CrawlersError:
            return  # the crawl could not begin, and reports that itself
        repeat(self._crawler, self._display.refresh, INTERVAL_S)

    def _closed(self) -> None:
        if self._display is not None:
            self._display.close()
