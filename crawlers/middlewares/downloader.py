"""Scrapy's DOWNLOADER: pages go straight to libcurl where no middleware of a user has to see them on their way.

Scrapy leads each request through a slot of its host and twelve middlewares. Those of a mission wait in the frontier,
which knows delays and limits, and most of these middlewares do the same to all of them, or nothing.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrapy import Request, signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.http import Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawlers.downloader.http import CLIENTS, Callbacks, HTTPHandler, heard_signals, http_client
from crawlers.inputs.setting_readers import are_any_rendered
from crawlers.items import RECORDED, RENDER
from crawlers.middlewares.responses import (
    ContentTypeMiddleware,
    RedirectMiddleware,
    is_of_mission,
    is_read_as_bytes,
)
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlers.middlewares.direct_pages import DirectPages
    from crawlers.middlewares.rendering import RenderingMiddleware

T = TypeVar("T")

# What these do to a request, they do to all.
_SAME = (DefaultHeadersMiddleware, DownloadTimeoutMiddleware, HttpCompressionMiddleware, UserAgentMiddleware)
# `ShortWay` calls these itself, and `RenderingMiddleware`; see `_count` for the stats.
_CALLED = (ContentTypeMiddleware, RedirectMiddleware, DownloaderStats)
_IDLE = (HttpAuthMiddleware, HttpProxyMiddleware)  # without user and proxy


class Downloader(ScrapyDownloader):
    """Scrapy's own, except for requests of missions that concern nobody else's middleware, handler or slot."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.short_way = ShortWay(crawler, self) if self._needs_no_more() else None

    def _needs_no_more(self) -> bool:
        """Return whether only middlewares, handlers and settings are in use whose work `ShortWay` does."""
        settings, middlewares = self.settings, self.middleware.middlewares
        handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
        kinds = {type(one) for one in middlewares}
        return (
            http_client(settings) == CLIENTS["curl"]
            and all(load_object(handlers[scheme]) is HTTPHandler for scheme in ("http", "https"))
            and not (self._delay or self.per_slot_settings or settings.getbool("AUTOTHROTTLE_ENABLED"))
            and self.domain_concurrency >= self.total_concurrency
            and kinds >= {ContentTypeMiddleware, RedirectMiddleware}
            and kinds <= {*_SAME, *_CALLED, *_IDLE, _rendering_kind(self.crawler)}
            and not any(one.proxies for one in middlewares if isinstance(one, HttpProxyMiddleware))
            and not (settings.get("HTTPAUTH_USER") or settings.get("HTTPAUTH_PASS"))
        )

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        """Return what becomes the response to *request*."""
        if self.short_way is None or not is_read_as_bytes(request):
            return super().fetch(request)
        return self.short_way.fetch(request)


def _rendering_kind(crawler: Crawler) -> type[RenderingMiddleware] | None:
    """Return the class of the middleware that renders; None if no site is rendered: few crawls import it."""
    spider = crawler.spider
    if not isinstance(spider, SiteSpider) or not are_any_rendered(crawler.settings, spider.spec.sites):
        return None
    from crawlers.middlewares.rendering import RenderingMiddleware

    return RenderingMiddleware


class EngineRequest(NamedTuple):
    """A request of the engine, in which others may follow, and its result."""

    request: Request
    result: Deferred[Response | Request]


class ShortWay:
    """Downloads for *downloader*. The scheduler is told directly what it would learn by signals, see `sent`."""

    def __init__(self, crawler: Crawler, downloader: Downloader) -> None:
        from crawlers.downloader.curl_http import CurlHTTPHandler

        self.sent: Callable[[Request], None] = lambda request: None
        self.certificate_received: Callable[[Response], None] = lambda response: None
        self.pages: DirectPages | None = None  # unless Scrapy has to pass pages on
        # What was downloaded in this turn of the loop. Reading all of it before any page is recorded takes less time:
        # the program for one step stays in the cache of the processor.
        self._left: list[tuple[Response | Failure, Request, EngineRequest]] = []
        self._crawler = crawler
        self._active = downloader.active
        self._handler = CurlHTTPHandler.from_crawler(crawler)
        crawler.signals.connect(self._handler.close, signals.engine_stopped)
        middlewares = downloader.middleware.middlewares
        by_kind: dict[type | None, Any] = {type(one): one for one in middlewares}
        self._content_types: ContentTypeMiddleware = by_kind[ContentTypeMiddleware]
        crawler.signals.disconnect(self._content_types.headers_received, signals.headers_received)
        self._redirects: RedirectMiddleware = by_kind[RedirectMiddleware]
        self._rendering: RenderingMiddleware | None = by_kind.get(_rendering_kind(crawler))
        self._stats: DownloaderStats | None = by_kind.get(DownloaderStats)
        self._same = [by_kind[kind] for kind in _SAME if kind in by_kind]

    @cached_property
    def _model(self) -> tuple[dict[bytes, list[bytes]], dict[str, Any]]:
        """The headers and meta that the middlewares add to each request.

        When they are needed, the spider is open, which some of the middlewares await.
        """
        model = Request("http://localhost/")
        for middleware in self._same:
            middleware.process_request(model)
        return dict(dict.items(model.headers)), model.meta

    def fetch(self, request: Request) -> Deferred[Response | Request]:
        """Return what becomes the response to *request*; the request itself if its page, and others, are recorded."""
        begun = EngineRequest(request, Deferred())
        self._begin(request, begun)
        return begun.result

    def _begin(self, request: Request, begun: EngineRequest) -> None:
        self._active.add(request)
        is_unwanted = self._content_types.is_unwanted if is_of_mission(request) else None
        callbacks = Callbacks(partial(self._ended, request, begun), self.sent, is_unwanted)
        try:
            headers, meta = self._model
            for name in headers:
                dict.setdefault(request.headers, name, headers[name])  # both are normalised already
            for key in meta:
                request.meta.setdefault(key, meta[key])
            if signals.request_reached_downloader in heard_signals(self._crawler):
                self._tell(signals.request_reached_downloader, request)
            self.sent(request)
            self._handler.begin(request, callbacks)
        except Exception as error:
            call_later(0, callbacks.ended, error, 0, 0)  # the engine may begin another one only after that

    def _ended(
        self,
        request: Request,
        begun: EngineRequest,
        outcome: Response | Exception,
        sent_bytes: int,
        received_bytes: int,
    ) -> None:
        heard = heard_signals(self._crawler)
        if self._stats is not None:
            self._count(self._stats, request, outcome, sent_bytes, received_bytes)
        if isinstance(outcome, Response):
            if outcome.certificate is not None:
                self.certificate_received(outcome)
            if signals.response_downloaded in heard:
                self._tell(signals.response_downloaded, request, response=outcome)
        if signals.request_left_downloader in heard:
            self._tell(signals.request_left_downloader, request)
        if isinstance(outcome, Response):
            try:
                outcome = self._redirects.process_response(request, outcome)
                outcome = self._content_types.process_response(request, outcome)
            except Exception as error:
                outcome = error
            else:
                if RENDER in request.meta and self._rendering is not None:
                    rendered = deferred_from_coro(self._rendering.process_response(request, outcome))
                    rendered.addBoth(self._leave, request, begun)
                    return
        self._leave(Failure(outcome) if isinstance(outcome, Exception) else outcome, request, begun)  # type: ignore[no-untyped-call]

    def _leave(self, outcome: Response | Failure, request: Request, begun: EngineRequest) -> None:
        if self.pages is None or not self.pages.takes(request, outcome):
            self._active.remove(request)
            if isinstance(outcome, Response):
                outcome.request = request  # another one than that of the engine, if it followed
            begun.result.callback(outcome)  # a failure calls the errbacks
            return
        if not self._left:
            call_later(0, self._record, self.pages)
        self._left.append((outcome, request, begun))

    def _record(self, pages: DirectPages) -> None:
        """Read and record the pages that were downloaded in the last turn of the loop."""
        left, self._left = self._left, []
        read = [_tried(pages, request, pages.read, request, outcome) for outcome, request, _ in left]
        for record, (_, request, begun) in zip(read, left, strict=True):
            recorded = None if record is None else _tried(pages, request, record)
            if recorded is None:
                self._recorded(None, pages, request, begun)
            else:
                deferred_from_coro(recorded).addBoth(self._recorded, pages, request, begun)

    def _recorded(self, result: object, pages: DirectPages, request: Request, begun: EngineRequest) -> None:
        self._active.remove(request)
        if isinstance(result, Failure) and isinstance(result.value, Exception):
            pages.fail(request, result.value)
        self._follow(pages, begun)

    def _follow(self, pages: DirectPages, begun: EngineRequest) -> None:
        """Begin with the next page in the request of the engine, or end it."""
        following = _tried(pages, begun.request, pages.following)
        if following is None:
            begun.request.meta[RECORDED] = True
            begun.result.callback(begun.request)
        else:
            self._begin(following, begun)

    def _tell(self, signal: object, request: Request, **more: Any) -> None:
        self._crawler.signals.send_catch_log(signal, request=request, spider=self._crawler.spider, **more)

    def _count(
        self,
        stats: DownloaderStats,
        request: Request,
        outcome: Response | Exception,
        sent_bytes: int,
        received_bytes: int,
    ) -> None:
        """Count as *stats* would, but the bytes of the connection, instead of texts that are made to be counted."""
        count = stats.stats.inc_value
        count("downloader/request_count")
        count(f"downloader/request_method_count/{request.method}")
        count("downloader/request_bytes", sent_bytes)
        if isinstance(outcome, Response):
            count("downloader/response_count")
            count(f"downloader/response_status_count/{outcome.status}")
            count("downloader/response_bytes", received_bytes)
        else:
            stats.process_exception(request, outcome)


def _tried(pages: DirectPages, request: Request, step: Callable[..., T | None], *arguments: object) -> T | None:
    """Return what *step* returns. An error of a mission, which nobody else would see, ends the crawl: then None."""
    try:
        return step(*arguments)
    except Exception as error:
        pages.fail(request, error)
        return None
