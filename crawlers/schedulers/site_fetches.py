"""The requests of a crawl: pages, robots.txt (before the first page of a site), sitemaps (in the turns of pages)."""

from __future__ import annotations

import heapq
import logging
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from crawlers.crawl.site_sitemaps import SitemapContent
from crawlers.frontier.politeness import MAX_REST_S
from crawlers.items import LEASE, REDIRECT, RENDER
from crawlers.pages.response import WebResponse
from crawlers.pages.retries import REST_STATUSES, retry_after_s, retry_delay_s
from crawlers.pages.robots_groups import UNREACHABLE, is_unreachable
from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence
from crawlers.schedulers.failures import failed_callback, failure_of
from crawlers.sites.feed_items import MAX_INFLATED
from crawlers.sites.robots_rules import MAX_BYTES, MAX_REDIRECTS, robots_text
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.frontier.values import Lease
    from crawlers.pages.retries import RetryPolicy
    from crawlers.urls.resolution import Redirect

PLAIN = {  # for requests of which the crawl handles every response
    "handle_httpstatus_all": True,
    "dont_redirect": True,
    "dont_retry": True,
}


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


logger = logging.getLogger(__name__)

MAX_TIMEOUT_S = 20.0  # until the response
MAX_DECOMPRESSED = 8 * MAX_BYTES  # of servers that compress although they are asked not to
UNKNOWN_HOST_WAIT_S = 5.0  # at most, before the last attempt: a name that does not exist seldom appears later


class RobotsAttempt(NamedTuple):
    """A request for the robots.txt of a site."""

    site_id: int
    site: str  # scheme://host[:port]
    url: str  # after redirects, another one
    attempt: int = 1
    hops: int = 0  # redirects
    rests: int = 0  # of the site, before this attempt
    is_last: bool = False  # no further rest may follow
    failure: tuple[int, str | None] = (UNREACHABLE, None)  # status and reason of the attempt before


class RobotsFetch:
    """Makes the requests for robots.txt that *crawl* needs, which are sent before all others of their sites.

    The crawl learns each result, and each time at which one is requested again. Failures are retried as those of pages
    are; if all attempts fail, the site is requested again after a rest: in at most *last_wait_s* seconds, and for the
    last time, if nothing else is left to do. At most *most* requests are in flight, each for at most *timeout_s*
    seconds, so that unresponsive hosts do not delay the others.
    """

    def __init__(
        self, crawl: Crawl, manager: SignalManager, *, last_wait_s: float, most: int, timeout_s: float
    ) -> None:
        self._crawl = crawl
        self._manager = manager
        self._last_wait_s = last_wait_s
        self._most = most
        self._timeout_s = min(timeout_s, MAX_TIMEOUT_S)
        self._queue: list[tuple[float, int, RobotsAttempt]] = []  # (time, serial, attempt)
        self._serial = 0
        self._resting = 0  # attempts in the queue that wait for the end of a rest
        self.in_flight = 0  # requests without a response yet

    def enqueue(self, site_id: int, site: str) -> None:
        """Queue the request for the robots.txt of *site*."""
        self._enqueue(RobotsAttempt(site_id, site, f"{site}/robots.txt"))

    def next_request(self, now: float) -> Request | None:
        """Return a request that is due; None if there is none."""
        while self._queue and self._queue[0][0] <= now and self.in_flight < self._most:
            attempt = heapq.heappop(self._queue)[2]
            self._resting -= _is_resting(attempt)
            if self._crawl.sites.begin_robots(attempt.site_id):
                self._set_in_flight(self.in_flight + 1)
                return self._request(attempt)
        return None

    def next_due(self, now: float) -> float | None:
        """Return the seconds until a request is due; None if none is queued, or a response must arrive first."""
        return max(0.0, self._queue[0][0] - now) if self._queue and self.in_flight < self._most else None

    @property
    def only_rests(self) -> bool:
        """Whether nothing is requested before a rest is over that `hasten` may end."""
        return not self.in_flight and 0 < self._resting == len(self._queue)

    def hasten(self, now: float) -> None:
        """Request each robots.txt for the last time, at the latest after the wait for the last attempt."""
        self._queue = [
            (min(at, now + self._wait_s(one)), serial, one._replace(is_last=True)) for at, serial, one in self._queue
        ]
        logger.info(
            "Nothing is left but %s whose robots.txt could not be read; instead of after the rest, it is requested for "
            "the last time within %g s",
            counted(len(self._queue), "site"),
            max(self._wait_s(one) for _, _, one in self._queue),
        )
        heapq.heapify(self._queue)
        self._resting = 0
        for at, _, one in self._queue:
            self._crawl.robots_waits(one.site_id, *one.failure, max(0.0, at - now))

    def _wait_s(self, attempt: RobotsAttempt) -> float:
        return min(self._last_wait_s, UNKNOWN_HOST_WAIT_S if attempt.failure[1] == Reason.HOST_NOT_FOUND else math.inf)

    def _enqueue(self, attempt: RobotsAttempt, delay_s: float = 0.0) -> None:
        self._serial += 1
        self._resting += _is_resting(attempt)
        heapq.heappush(self._queue, (self._crawl.clock() + delay_s, self._serial, attempt))

    def _request(self, attempt: RobotsAttempt) -> Request:
        return Request(
            attempt.url,
            callback=self._received,
            errback=self._failed,
            dont_filter=True,
            headers={"Accept-Encoding": "identity"},  # else the size is known only after decompression
            meta={
                **PLAIN,
                "download_maxsize": 0,  # see `bytes_received`
                "download_timeout": self._timeout_s,
                "robots": attempt,
            },
        )

    def _set_in_flight(self, requests: int) -> None:
        """Listen to received bytes only while a request is in flight: the signal costs time for each page."""
        if requests and not self.in_flight:
            self._manager.connect(self.bytes_received, signals.bytes_received)
        elif self.in_flight and not requests:
            self._manager.disconnect(self.bytes_received, signals.bytes_received)
        self.in_flight = requests

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Stop a download of robots.txt after the part that is read; what came so far is its body."""
        if "robots" not in request.meta:
            return
        request.meta["download_maxsize"] = MAX_DECOMPRESSED
        request.meta["received"] = request.meta.get("received", 0) + len(data)
        if request.meta["received"] > MAX_BYTES:
            raise StopDownload(fail=False)

    def _received(self, response: Response) -> None:
        assert response.request is not None
        self._set_in_flight(self.in_flight - 1)
        attempt: RobotsAttempt = response.request.meta["robots"]
        try:
            self._apply(attempt, response)
        except Exception as error:
            logger.exception("%s: its robots.txt can't be used", attempt.site)
            self._crawl.record_robots(attempt.site_id, UNREACHABLE, failed_callback(error), None)

    def _apply(self, attempt: RobotsAttempt, response: Response) -> None:
        assert response.request is not None
        redirect: Redirect | None = response.request.meta.get(REDIRECT)
        if redirect is not None and redirect.target is not None and attempt.hops < MAX_REDIRECTS:
            self._enqueue(attempt._replace(url=redirect.target.url, hops=attempt.hops + 1))
            return  # a target that can't be followed is not a robots.txt, as if the status were 404
        if is_unreachable(response.status):
            wished_s = retry_after_s(header(response, "Retry-After"), self._crawl.clock())
            if wished_s is None:
                wished_s = self._crawl.retries.backoff_s * attempt.attempt
            self._retry(attempt, response.status, None, min(wished_s, MAX_REST_S))
            return
        text = robots_text(response.body) if response.status == 200 else None
        self._crawl.record_robots(attempt.site_id, response.status, text, None)

    def _failed(self, failure: Failure) -> None:
        self._set_in_flight(self.in_flight - 1)
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        found = failure_of(failure.value)
        if found.is_transient:
            self._retry(request.meta["robots"], UNREACHABLE, found.reason)
        else:
            self._crawl.record_robots(request.meta["robots"].site_id, UNREACHABLE, found.reason, None)

    def _retry(self, attempt: RobotsAttempt, status: int, text: str | None, least_s: float = 0.0) -> None:
        """Request a robots.txt again soon, after a rest, or not any more. After a rest, one attempt must do."""
        delay_s = None if attempt.rests else retry_delay_s(self._crawl.retries, status, attempt.attempt)
        if delay_s is not None:
            delay_s = max(delay_s, least_s)
            self._enqueue(attempt._replace(attempt=attempt.attempt + 1), delay_s)
            self._crawl.robots_waits(attempt.site_id, status, text, delay_s)
            if attempt.attempt == 1:
                logger.info(
                    "%s: its robots.txt could not be read (%s); next attempt in %g s",
                    attempt.site,
                    sentence(text or Reason.STATUS.of(status)),
                    delay_s,
                )
            return
        rest_s = None if attempt.is_last else self._crawl.robots_rests.rest_s(attempt.rests)
        if rest_s is not None:
            rest_s = max(rest_s, least_s)
            if not attempt.rests:
                logger.info(
                    "%s rests: its robots.txt could not be read (%s); it is requested again in %g s, or "
                    "earlier if nothing else is left to do",
                    attempt.site,
                    sentence(text or Reason.STATUS.of(status)),
                    rest_s,
                )
            again = RobotsAttempt(attempt.site_id, attempt.site, f"{attempt.site}/robots.txt")
            self._enqueue(again._replace(rests=attempt.rests + 1, failure=(status, text)), rest_s)
        self._crawl.record_robots(attempt.site_id, status, text, rest_s)


def _is_resting(attempt: RobotsAttempt) -> bool:
    return attempt.rests > 0 and attempt.hops == 0 and not attempt.is_last


SITEMAP = "sitemap"  # the key of an attempt in the meta of its request


class SitemapAttempt(NamedTuple):
    """A request for a sitemap of a site."""

    site_id: int
    url: str  # after redirects, another one
    attempt: int = 1
    hops: int = 0  # redirects


class SitemapFetch:
    """Makes the requests for sitemaps that *crawl* needs, and passes their results on to it.

    Failures are retried as those of pages are. At most 50 MB of a sitemap are read, compressed or not.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._queue: list[tuple[float, int, SitemapAttempt]] = []  # (time, serial, attempt)
        self._serial = 0

    def enqueue(self, site_id: int, url: str) -> None:
        """Queue the request for a sitemap of a site, whose turn it is."""
        self._enqueue(SitemapAttempt(site_id, url), self._crawl.clock())

    def _enqueue(self, attempt: SitemapAttempt, due_at: float) -> None:
        self._serial += 1
        heapq.heappush(self._queue, (due_at, self._serial, attempt))

    def _enqueue_next(self, attempt: SitemapAttempt, delay_s: float) -> None:
        """Queue a further request, after the delay of the site at the earliest."""
        next_at = self._crawl.frontier.gate(attempt.site_id).next_at
        self._enqueue(attempt, max(self._crawl.clock() + delay_s, next_at))

    def next_request(self, now: float) -> Request | None:
        """Return a request that is due; None if there is none."""
        if not self._queue or self._queue[0][0] > now:
            return None
        return self._request(heapq.heappop(self._queue)[2])

    def next_due(self, now: float) -> float | None:
        """Return the seconds until a request is due; None if none is queued."""
        return max(0.0, self._queue[0][0] - now) if self._queue else None

    def _request(self, attempt: SitemapAttempt) -> Request:
        return Request(
            attempt.url,
            callback=self._received,
            errback=self._failed,
            dont_filter=True,
            meta={**PLAIN, "download_maxsize": MAX_INFLATED, SITEMAP: attempt},
        )

    def record_sending(self, request: Request) -> None:
        """Note that *request* is sent now, if it is one for a sitemap."""
        attempt = request.meta.get(SITEMAP)
        if attempt is not None:
            self._crawl.sitemaps.record_request(attempt.site_id)

    async def _received(self, response: Response) -> None:
        assert response.request is not None
        attempt: SitemapAttempt = response.request.meta[SITEMAP]
        redirect: Redirect | None = response.request.meta.get(REDIRECT)
        if redirect is not None:
            self._redirected(attempt, response.status, redirect)
        elif response.status != 200:
            self._refused(attempt, response)
        else:
            found = WebResponse(
                response.url,
                response.status,
                response.body,
                header(response, "Content-Type"),
                is_truncated="dataloss" in response.flags,
            )
            try:
                content = await self._crawl.sitemaps.content(attempt.site_id, found)
            except Exception as error:
                logger.exception("%s can't be read", response.url)
                self._end(attempt, response.status, failed_callback(error))
            else:
                self._crawl.sitemaps.record_response(attempt.site_id, response.status, content)

    def _redirected(self, attempt: SitemapAttempt, status: int, redirect: Redirect) -> None:
        if redirect.target is None:
            self._end(attempt, status, redirect.problem)
        elif not self._crawl.sitemaps.may_follow(attempt.site_id, redirect.target.url):
            self._end(attempt, status, Reason.REDIRECT_TO_REFUSED.of(redirect.target.url))
        elif attempt.hops >= MAX_REDIRECTS:
            self._end(attempt, status, Reason.MANY_REDIRECTS.of(MAX_REDIRECTS))
        else:
            self._enqueue_next(attempt._replace(url=redirect.target.url, hops=attempt.hops + 1), 0.0)

    def _refused(self, attempt: SitemapAttempt, response: Response) -> None:
        if response.status in REST_STATUSES:
            now = self._crawl.clock()
            self._crawl.frontier.gate(attempt.site_id).back_off(
                now, retry_after_s(header(response, "Retry-After"), now)
            )
        self._retry(attempt, response.status, Reason.STATUS.of(response.status))

    def _failed(self, failure: Failure) -> None:
        attempt: SitemapAttempt = failure.request.meta[SITEMAP]  # type: ignore[attr-defined]  # Scrapy puts it there
        found = failure_of(failure.value)
        if found.is_transient:
            self._retry(attempt, 0, found.reason)
        else:
            self._end(attempt, 0, found.reason)

    def _retry(self, attempt: SitemapAttempt, status: int, reason: str) -> None:
        delay_s = retry_delay_s(self._crawl.retries, status, attempt.attempt)
        if delay_s is not None:
            self._enqueue_next(attempt._replace(attempt=attempt.attempt + 1), delay_s)
        else:
            self._end(attempt, status, reason)

    def _end(self, attempt: SitemapAttempt, status: int, problem: str) -> None:
        self._crawl.sitemaps.record_response(attempt.site_id, status, SitemapContent(problem=problem))
