"""Records every page in the crawl, which stores it and ends its lease. It follows the pipelines of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.extensions.crawl_owner import owner_of
from crawlers.items import Page
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class StorePipeline:
    """Other items pass through."""

    def __init__(self, crawler: Crawler) -> None:
        self._owner = owner_of(crawler)
        self._counts = isinstance(crawler.spider, SiteSpider)  # in place of `CoreStats`
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if self._counts:
            self._stats.inc_value("item_scraped_count")
        return self._owner.crawl.recording.record_numbered(item) if isinstance(item, Page) else item
