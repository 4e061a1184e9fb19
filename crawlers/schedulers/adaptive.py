"""Scrapy's `SCHEDULER`, which all spiders share: it hands out the URLs that the crawl leases.

The frontier decides which site, which page, and when. A `SiteSpider` names its sites (`CrawlSpec`) and yields one
`Page` per response, which the store pipeline records. The requests of plain Scrapy spiders wait in the frontier as text
(see `foreign_queue`).
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later

from crawlers.crawl.site_files import RobotsNeeded, SitemapNeeded
from crawlers.downloader.download_errors import certificate_problem
from crawlers.errors import StoreError
from crawlers.extensions.crawl_owner import owner_of, required_extension
from crawlers.inputs.setting_readers import normalization
from crawlers.items import LEASE, RECORDED, RENDER, REQUEST_SENT
from crawlers.middlewares.direct_pages import DirectPages, needs_no_scrapy
from crawlers.middlewares.downloader import Downloader
from crawlers.middlewares.responses import is_of_mission
from crawlers.schedulers.failures import ErrorHandlers
from crawlers.schedulers.site_fetches import PLAIN, RobotsFiles, SitemapFiles
from crawlers.spiders.base import SiteSpider
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.spiders import Spider
    from scrapy.utils.asyncio import CallLaterResult

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.extensions.crawl_owner import CrawlOwner
    from crawlers.extensions.pending_callbacks import PendingCallbacks
    from crawlers.frontier.values import Lease
    from crawlers.pages.retries import RetryPolicy
    from crawlers.schedulers.foreign_queue import ForeignRequests

LAST_WAIT_S = 60.0  # until the last request for robots.txt, if only sites without one are left: a crawl ends soon
MAX_STEPS = 500  # sites whose robots.txt is requested, or requests that can't be recreated, in one call


def page_request(lease: Lease, failed: Callable[..., Any], retries: RetryPolicy, *, is_rendered: bool) -> Request:
    """Return the request for a page; conditional (RFC 9110 section 13.1) if the page was fetched before.

    *failed* is its errback.
    """
    meta = {LEASE: lease, "verbatim_url": True, **PLAIN}  # the URL is in its final form, which Scrapy's differs from
    request = Request(lease.url, errback=failed, dont_filter=True, meta=meta)
    if is_rendered:
        request.meta[RENDER] = True
    if lease.attempts:
        # A retry differs: without compression, and in the last attempt a broken body is better than nothing.
        request.headers["Accept-Encoding"] = "identity"
        request.meta["download_fail_on_dataloss"] = lease.attempts < retries.times
    if (previous := lease.previous) is not None and RENDER not in request.meta:  # else scripts decide what changed
        for name, value in (("If-None-Match", previous.etag), ("If-Modified-Since", previous.last_modified)):
            if value:
                request.headers[name] = value.encode("latin-1", "replace")  # the same bytes as received
    return request


class Wakeup:
    """At most one pending timer: the earliest wins.

    This is private access to Scrapy, as is `json_log.install`: after `next_request` returned None, the engine calls it
    again only when a download ends, or after five seconds, and there is no public way to schedule an earlier call.
    `tests/unit/schedulers/test_adaptive.py` fails if this one breaks.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._at = float("inf")
        self._timer: CallLaterResult | None = None

    def at(self, when: float, now: float) -> None:
        """Let the engine call `next_request` at *when* (seconds of the clock of *now*)."""
        if when >= self._at:
            return
        self.cancel()
        self._at = when
        self._timer = call_later(max(0.0, when - now), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._at = float("inf")
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._at = float("inf")


class RequestFlow:
    """The requests of *crawl*, which runs in *crawler*. *wakeup* lets the engine ask again when something is due.

    *callbacks* are those of a plain Scrapy spider.
    """

    def __init__(
        self, crawler: Crawler, spider: Spider, crawl: Crawl, callbacks: PendingCallbacks | None, wakeup: Wakeup
    ) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._crawl = crawl
        self._wakeup = wakeup
        self._kept: Request | None = None  # was found while a page was to follow another one
        self._robots = RobotsFiles(
            crawl,
            crawler.signals,
            last_wait_s=min(LAST_WAIT_S, crawl.robots_rests.first_s),
            most=max(1, settings.getint("CONCURRENT_REQUESTS") // 2),
            timeout_s=settings.getfloat("DOWNLOAD_TIMEOUT"),
        )
        self._sitemaps = SitemapFiles(crawl)
        self._are_verified = settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        errors = ErrorHandlers(crawl, callbacks, crawler.signals)
        self._failed = errors.download_failed
        self._of_foreign = (spider, normalization(settings), crawl)
        self._callbacks = callbacks
        self._foreign: ForeignRequests | None = None  # until a spider yields a request, or one that waited is leased

    def follow(self, downloader: object) -> None:
        """Learn from the downloader of the engine when requests are sent, and by which certificates hosts answer."""
        short_way = downloader.short_way if isinstance(downloader, Downloader) else None
        if short_way is not None:
            short_way.sent = self._sent
            short_way.certificate_received = self._received
            if needs_no_scrapy(self._crawler):
                short_way.pages = DirectPages(self._crawler, self._crawl.recording, self._failed, self._next_page)
            return
        for signal in (signals.request_reached_downloader, REQUEST_SENT):
            self._crawler.signals.connect(self._sent, signal)
        self._crawler.signals.connect(self._received, signals.response_downloaded)

    def _next_page(self) -> Request | None:
        """Return the next request if it is for a page; another one is kept for the engine, which may begin more."""
        request = self.next()
        if request is None:
            return None
        if not is_of_mission(request):
            self._kept = request
            self._wakeup.at(0.0, 0.0)
            return None
        self._wake_when_due(self._crawl.clock())
        return request

    def _wake_when_due(self, now: float) -> None:
        """Let the engine ask again when something may be requested."""
        if (due_s := self._crawl.leasing.next_due(now, self._robots.in_flight)) is not None:
            self._wakeup.at(now + due_s, now)
        for files in (self._robots, self._sitemaps):
            if files.queue and (due_s := files.next_due(now)) is not None:
                self._wakeup.at(now + due_s, now)

    def next(self) -> Request | None:
        """Return the next request; None if nothing may be requested yet."""
        if self._kept is not None:
            request, self._kept = self._kept, None
            return request
        # An exception would lose a leased URL, and only asyncio would log it.
        try:
            return self._next(self._crawl.clock())
        except Exception as error:
            self._crawl.control.abort_for("the next request can't be made", error)
        return None

    def _next(self, now: float) -> Request | None:
        leasing = self._crawl.leasing
        if not leasing.may_lease(now):
            return None
        if self._foreign is not None:
            self._foreign.drop_refused()
        for _ in range(MAX_STEPS):
            for files in (self._robots, self._sitemaps):
                if files.queue and (request := files.next_request(now)) is not None:
                    return request
            following = leasing.next(now, self._robots.in_flight)
            if following is None:
                if self._robots.only_rests and leasing.waits_for_robots(now):
                    self._robots.hasten(now)
                self._wake_when_due(now)
                return None
            if isinstance(following, RobotsNeeded):
                self._robots.enqueue(*following)
            elif isinstance(following, SitemapNeeded):
                self._sitemaps.enqueue(*following)
            elif following.request is None:
                is_rendered = self._crawl.sites.rows[following.site_id].site in self._crawl.rendered
                return page_request(following, self._failed, self._crawl.retries, is_rendered=is_rendered)
            elif (request := self._foreign_requests().request(following, following.request)) is not None:
                return request
            now = self._crawl.clock()
        self._wakeup.at(now, now)
        return None

    def _foreign_requests(self) -> ForeignRequests:
        if self._foreign is None:
            from crawlers.extensions.pending_callbacks import PendingCallbacks
            from crawlers.schedulers.foreign_queue import ForeignRequests

            # Missions yield no requests, but a middleware of a user may replace theirs.
            callbacks = self._callbacks or PendingCallbacks(self._crawl.recording.record)
            self._foreign = ForeignRequests(*self._of_foreign, callbacks, self._crawler.signals)
        return self._foreign

    def _sent(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        if lease is not None:
            self._crawl.leasing.record_request(lease)
        else:
            self._sitemaps.record_sending(request)

    def _received(self, response: Response) -> None:
        """Let the crawl know what is wrong with a certificate that was accepted."""
        certificate = response.certificate
        if certificate is None:
            return
        host = urlsplit(response.url).hostname or ""
        problem = partial(certificate_problem, certificate.original, host, time.time())
        self._crawl.answers.certificate_received(site_of(response.url), None if self._are_verified else problem)

    def add(self, request: Request) -> bool:
        """Queue a *request* that the spider or a middleware yielded; return whether it is new."""
        if RECORDED in request.meta:
            return True
        try:
            return self._foreign_requests().add(request, self._crawl.clock())
        except StoreError as error:
            self._crawl.control.abort(error)
            return False


class AdaptiveScheduler(BaseScheduler):
    """Site rule x page order. *owner* opens and closes the crawl."""

    def __init__(self, crawler: Crawler, owner: CrawlOwner, callbacks: PendingCallbacks | None) -> None:
        self._crawler = crawler
        self._owner = owner
        self._callbacks = callbacks
        self._wakeup = Wakeup(crawler)
        self._flow: RequestFlow | None = None  # None: not open yet, or the crawl could not begin

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if isinstance(crawler.spider, SiteSpider):
            return cls(crawler, owner_of(crawler), None)
        from crawlers.extensions.pending_callbacks import PendingCallbacks

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
        return self._flow is not None and self._owner.crawl.leasing.has_pending

    def next_request(self) -> Request | None:
        return None if self._flow is None else self._flow.next()

    def enqueue_request(self, request: Request) -> bool:
        return self._flow is not None and self._flow.add(request)
