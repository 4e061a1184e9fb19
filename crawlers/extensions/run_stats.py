"""Scrapy's basic stats of a mission (`finish_reason`, `elapsed_time_seconds` …), without a task for each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.extensions.corestats import CoreStats
from scrapy.statscollectors import MemoryStatsCollector

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class PageStats(MemoryStatsCollector):
    """Scrapy's default, without a warning of an outdated argument, for which it looks each attribute up three times."""

    __getattribute__ = object.__getattribute__


class RunStats(CoreStats):
    """In place of `CoreStats`. Scrapy starts a task for each listener to `item_scraped`: the store pipeline counts."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # plain Scrapy spiders have Scrapy's own
        stats = super().from_crawler(crawler)
        crawler.signals.disconnect(stats.item_scraped, signals.item_scraped)
        return stats
