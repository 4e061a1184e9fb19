"""Pages that go from libcurl straight to the crawl, several in one request of the engine, where nobody else sees them.

For each response, Scrapy's engine and scraper start three tasks, a queue and twelve asynchronous generators, in which
middlewares, pipelines and listeners of users could work on it.
"""

from __future__ import annotations

from functools import partial
from types import MethodType
from typing import TYPE_CHECKING

from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy import Spider, signals
from scrapy.pipelines import ItemPipelineManager
from twisted.python.failure import Failure

from crawlers.downloader.http import heard_signals
from crawlers.extensions.quiet_scrapy import PageLogFormatter, RunStats
from crawlers.items import Page
from crawlers.middlewares.responses import is_of_mission
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlers.crawl.leasing import PageRecording

    Recording = Callable[[], Awaitable[object] | None]  # returns what has to be awaited, if anything

STORE = "crawlers.pipelines.store.StorePipeline"


def needs_no_scrapy(crawler: Crawler) -> bool:
    """Return whether the pages of *crawler* pass nothing behind the downloader but the spider and the store's pipeline.

    A mission that makes other items of them, as news does, leaves that to Scrapy.
    """
    spider, formatter, settings = crawler.spider, crawler.logformatter, crawler.settings
    assert crawler.engine is not None
    scraper = crawler.engine.scraper
    return (
        isinstance(spider, SiteSpider)
        and (spider.parse, spider._parse) == (MethodType(SiteSpider.parse, spider), MethodType(Spider._parse, spider))
        and not scraper.spidermw.middlewares
        and type(scraper.itemproc) is ItemPipelineManager
        and len(scraper.itemproc.methods["process_item"]) == 1
        and STORE in settings.getdict("ITEM_PIPELINES")
        and type(formatter) is PageLogFormatter
        and not formatter.is_verbose
    )


class DirectPages:
    """Does with responses to requests for pages what Scrapy does through the spider and the pipeline of the store.

    *failed* is the errback of these requests; *following* returns the next one.
    """

    def __init__(
        self,
        crawler: Crawler,
        recording: PageRecording,
        failed: Callable[[Failure], None],
        following: Callable[[], Request | None],
    ) -> None:
        assert isinstance(crawler.spider, SiteSpider)
        assert crawler.engine is not None
        assert crawler.stats is not None
        self._crawler = crawler
        self._engine = crawler.engine
        self._count = crawler.stats.inc_value
        self._spider = crawler.spider
        self._recording = recording
        self._failed = failed
        self._following = following
        self._listeners = 0 if crawler.get_extension(RunStats) is None else 1  # to responses; its work is done here

    def takes(self, request: Request, outcome: Response | Failure) -> bool:
        """Return whether nobody else wants to hear of the *outcome* of *request*."""
        if not is_of_mission(request):
            return False
        if isinstance(outcome, Failure):
            return True
        listeners = dispatcher.getReceivers(self._crawler.signals.sender, signals.response_received)
        return len(listeners) == self._listeners and signals.item_scraped not in heard_signals(self._crawler)

    def read(self, request: Request, outcome: Response | Failure) -> Recording:
        """Read the outcome of *request*; return the step that records it."""
        outcome.request = request  # type: ignore[union-attr] # of failures, as in Scrapy
        if isinstance(outcome, Failure):
            return partial(self._failed, outcome)
        if self._listeners:
            self._count("response_received_count")
        try:
            page = self._spider.read(outcome)
        except Exception:
            self._spider_failed(request, outcome)
            return lambda: None
        if isinstance(page, Page):
            return partial(self._record, page)
        return partial(self._record_awaited, request, outcome, page)

    def _record(self, page: Page) -> Awaitable[object] | None:
        self._count("item_scraped_count")
        recorded = self._recording.record_numbered(page)
        return None if isinstance(recorded, Page) else recorded

    async def _record_awaited(self, request: Request, response: Response, awaited: Awaitable[Page]) -> None:
        try:
            page = await awaited
        except Exception:
            self._spider_failed(request, response)
            return
        if (recorded := self._record(page)) is not None:
            await recorded

    def fail(self, request: Request, error: Exception) -> None:
        """End the crawl, since the page of *request* could not be recorded."""
        self._recording.session.control.abort_for(f"{request.url} can't be recorded", error)

    def _spider_failed(self, request: Request, response: Response) -> None:
        self._engine.scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]

    def following(self) -> Request | None:
        """Return the next request for a page; None if there is none, or the engine begins no more of them."""
        return None if self._engine.paused or self._engine.needs_backout() else self._following()
