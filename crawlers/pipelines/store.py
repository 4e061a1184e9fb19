"""Records every page in the crawl, which stores it and ends its lease. It follows the pipelines of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.extensions.crawl_owner import owner_of
from crawlers.items import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.extensions.crawl_owner import CrawlOwner


class StorePipeline:
    """Other items pass through."""

    def __init__(self, owner: CrawlOwner) -> None:
        self._owner = owner

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(owner_of(crawler))

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            return self._owner.crawl.record(item)
        return item
