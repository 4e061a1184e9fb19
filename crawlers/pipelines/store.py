"""Records every page in the crawl, which stores it and ends its lease. It follows the pipelines of users.

A page with many links is recorded in slices, between which downloads go on; other pages are recorded after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.algorithms.slices import SLICE_LINKS
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
        if not isinstance(item, Page):
            return item
        recording = self._owner.crawl.recording
        if recording.is_in_slices or len(item.links) + len(item.cross_site_links) > SLICE_LINKS:
            return recording.record_in_slices(item)
        return recording.record(item)
