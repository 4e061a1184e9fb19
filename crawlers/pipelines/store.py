"""Records every page in the crawl, which stores it and ends its lease. It follows the pipelines of users."""

from __future__ import annotations

from asyncio import wrap_future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawlers.errors import StoreError
from crawlers.extensions.crawl_owner import owner_of
from crawlers.items import Page

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.page_recording import PageRecording
    from crawlers.extensions.crawl_owner import CrawlOwner


class StorePipeline:
    """Other items pass through."""

    def __init__(self, owner: CrawlOwner) -> None:
        self._owner = owner

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(owner_of(crawler))

    def process_item(self, item: Any) -> Any:
        if not isinstance(item, Page):
            return item
        recording = self._owner.crawl.recording
        numbers = recording.numbers_for(item)
        return recording.record(item) if numbers is None else _record_after(numbers, recording, item)


async def _record_after(numbers: Future[Any], recording: PageRecording, page: Page) -> Page:
    with suppress(StoreError):  # `record` meets it again, and ends the crawl
        await wrap_future(numbers)
    return recording.record(page)
