"""Ends the lease of an ordinary spider's request when its callback has yielded everything.

Spiders that yield a `Page` end theirs by it; this middleware leaves them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.items import Page, State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LeaseMiddleware:
    """Outermost of the spider middlewares, so that nothing yielded comes after the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        has_page = False
        for output in result:
            has_page = has_page or isinstance(output, Page)
            yield output
        self._end(response, has_page)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        has_page = False
        async for output in result:
            has_page = has_page or isinstance(output, Page)
            yield output
        self._end(response, has_page)

    def _end(self, response: Response, has_page: bool) -> None:
        lease = response.request.meta.get("lease") if response.request else None
        if lease is not None and not has_page:
            page = Page(lease.id, response.url, lease.level, State.DONE, response.status)
            self._crawler.engine.scheduler.finish(page)  # type: ignore[union-attr]
