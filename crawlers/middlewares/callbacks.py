"""Reports the callbacks of plain Scrapy spiders, so that a lease ends when everything that they yield is handled.

Missions yield a `Page`, which ends the lease; they have this middleware switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CloseSpider

from crawlers.extensions.crawl_owner import required_extension
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.items import LEASE, Page, State
from crawlers.reasons import Reason
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class CallbackMiddleware:
    """The outermost spider middleware, so that it sees exactly what reaches the engine.

    Requests without a lease are ignored.
    """

    def __init__(self, callbacks: PendingCallbacks) -> None:
        self._callbacks = callbacks

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(required_extension(crawler, PendingCallbacks))

    def process_spider_input(self, response: Response) -> None:
        lease = response.request.meta.get(LEASE) if response.request else None
        if lease is None or lease.request is None:  # a mission's, whose `Page` ends it
            return
        is_fine = 200 <= response.status < 300
        page = Page(
            lease.id,
            response.url,
            lease.level,
            State.DONE if is_fine else State.REFUSED,
            response.status,
            reason="" if is_fine else Reason.STATUS.of(response.status),
            content_type=(header(response, "Content-Type") or "")[:200],
            size_bytes=len(response.body),
        )
        self._callbacks.begin(response, page)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if response.request is None or LEASE not in response.request.meta:
            async for output in result:
                yield output
            return
        try:
            async for output in result:
                self._callbacks.record_output(response, output)
                yield output
        except CloseSpider:  # the callback has done its work, and Scrapy reports no error
            self._callbacks.record_end(response)
            raise
        self._callbacks.record_end(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if isinstance(exception, CloseSpider):  # of a callback that is not a generator
            self._callbacks.record_end(response)
