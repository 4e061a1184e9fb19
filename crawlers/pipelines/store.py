"""Gives every page to the scheduler, which stores it and ends its lease: the last pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.items import Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class StorePipeline:
    """Needs a scheduler with `finish(page)`; other items pass through."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            return self._crawler.engine.scheduler.finish(item)  # type: ignore[union-attr]  # our own scheduler
        return item
