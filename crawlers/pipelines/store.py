"""Records every page in the crawl, which stores it and ends its lease. It follows the pipelines of users."""

from __future__ import annotations

from asyncio import wrap_future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawlers.errors import StoreError
from crawlers.extensions.crawl_owner import owner_of
from crawlers.items import Page
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.page_recording import PageRecording


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
        if not isinstance(item, Page):
            return item
        recording = self._owner.crawl.recording
        numbers = recording.numbers_for(item)
        return recording.record(item) if numbers is None else _record_after(numbers, recording, item)


async def _record_after(numbers: Future[Any], recording: PageRecording, page: Page) -> Page:
    with suppress(StoreError):  # `record` meets it again, and ends the crawl
        await wrap_future(numbers)
    return recording.record(page)
