"""Scrapy's `SCHEDULER`, which all spiders share: it hands out the URLs that the crawl leases.

The frontier decides which site, which page, and when. A `SiteSpider` names its sites (`crawl_spec`) and yields one
`Page` per response, which the store pipeline records. The requests of plain Scrapy spiders wait in the frontier as text
(see `foreign`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler

from crawlers.extensions.crawl_owner import owner_of, required_extension
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.schedulers.request_flow import RequestFlow, Wakeup

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

    from crawlers.extensions.crawl_owner import CrawlOwner


class AdaptiveScheduler(BaseScheduler):
    """Site rule x page order. *owner* opens and closes the crawl."""

    def __init__(self, crawler: Crawler, owner: CrawlOwner, callbacks: PendingCallbacks) -> None:
        self._crawler = crawler
        self._owner = owner
        self._callbacks = callbacks
        self._wakeup = Wakeup(crawler)
        self._flow: RequestFlow | None = None  # None: not open yet, or the crawl could not begin

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, owner_of(crawler), required_extension(crawler, PendingCallbacks))

    def open(self, spider: Spider) -> None:
        crawl = self._owner.open(spider, self._wake)
        if crawl is not None:
            self._flow = RequestFlow(self._crawler, spider, crawl, self._callbacks, self._wakeup)
            self._flow.follow(self._crawler.engine.downloader)

    def _wake(self) -> None:
        self._wakeup.at(0.0, 0.0)

    def close(self, reason: str) -> None:
        self._wakeup.cancel()
        self._owner.close(reason)

    def has_pending_requests(self) -> bool:
        return self._flow is not None and self._owner.crawl.has_pending

    def next_request(self) -> Request | None:
        return None if self._flow is None else self._flow.next()

    def enqueue_request(self, request: Request) -> bool:
        return self._flow is not None and self._flow.add(request)
