"""Watches what ordinary spiders make of the answers to their requests, so that a lease ends when all is done.

Spiders that yield a `Page` end theirs by it; those of ours have this middleware switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.items import LEASE, Page, State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class CallbackMiddleware:
    """Outermost of the spider middlewares, so that it sees all and nothing but what reaches the engine.

    Needs a scheduler with `answers`; requests without a lease are left alone.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        lease = response.request.meta.get(LEASE) if response.request else None
        if lease is None or lease.request is None:  # a mission's: its `Page` ends it
            return
        is_fine = 200 <= response.status < 300
        page = Page(
            lease.id,
            response.url,
            lease.level,
            State.DONE if is_fine else State.REFUSED,
            response.status,
            reason="" if is_fine else f"status {response.status}",
            content_type=(response.headers.get("Content-Type") or b"").decode("latin-1")[:200],
            size_bytes=len(response.body),
        )
        self._answers.begin(response, page)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if response.request is None or LEASE not in response.request.meta:
            async for output in result:
                yield output
            return
        async for output in result:
            self._answers.came(response, output)
            yield output
        self._answers.read(response)

    @property
    def _answers(self) -> Any:
        return self._crawler.engine.scheduler.answers  # type: ignore[union-attr]  # our own scheduler
