"""Fetches what is read of a site before its pages, robots.txt and sitemaps, through the same downloader."""

from __future__ import annotations

import heapq
import logging
import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from crawlers.crawl.site_files import SitemapContent
from crawlers.downloader.download_errors import failure_of
from crawlers.frontier.politeness import MAX_REST_S
from crawlers.items import REDIRECT
from crawlers.pages.response import WebResponse
from crawlers.pages.retries import REST_STATUSES, retry_after_s, retry_delay_s
from crawlers.pages.robots_groups import UNREACHABLE, is_unreachable
from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence
from crawlers.schedulers.failures import failed_callback
from crawlers.sites import MAX_INFLATED
from crawlers.sites.robots_rules import MAX_BYTES, MAX_REDIRECTS, robots_text
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.resolution import Redirect


logger = logging.getLogger(__name__)

PLAIN = {"handle_httpstatus_all": True, "dont_redirect": True, "dont_retry": True}  # the crawl handles every response
MAX_TIMEOUT_S = 20.0  # until the response with a robots.txt
MAX_DECOMPRESSED = 8 * MAX_BYTES  # of servers that compress although they are asked not to
UNKNOWN_HOST_WAIT_S = 5.0  # at most, before the last attempt: a name that does not exist seldom appears later


class Attempt(NamedTuple):
    """A request for a file of a site."""

    site_id: int
    site: str  # scheme://host[:port]
    url: str  # after redirects, another one
    number: int = 1
    hops: int = 0  # redirects
    rests: int = 0  # of the site, before this attempt
    is_last: bool = False  # no further rest may follow
    failure: tuple[int, str | None] = (UNREACHABLE, None)  # status and reason of the attempt before


class SiteFiles:
    """Makes the requests for files of one kind that *crawl* needs, and passes their results on to it.

    Failures are retried as those of pages are. At most *most* requests are in flight.
    """

    kind: ClassVar[str]  # the key of an attempt in the meta of its request
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self, crawl: Crawl, most: float, meta: dict[str, Any]) -> None:
        self._crawl = crawl
        self._most = most
        self._meta = PLAIN | meta
        self.queue: list[tuple[float, int, Attempt]] = []  # (time, serial, attempt)
        self._serial = 0
        self.in_flight = 0  # requests without a response yet

    def _enqueue(self, attempt: Attempt, delay_s: float = 0.0) -> None:
        self._serial += 1
        heapq.heappush(self.queue, (self._crawl.clock() + delay_s, self._serial, attempt))

    def next_due(self, now: float) -> float | None:
        """Return the seconds until a request is due; None if none is queued, or a response must arrive first."""
        return max(0.0, self.queue[0][0] - now) if self.queue and self.in_flight < self._most else None

    def next_request(self, now: float) -> Request | None:
        """Return a request that is due; None if there is none."""
        while self.queue and self.queue[0][0] <= now and self.in_flight < self._most:
            attempt = heapq.heappop(self.queue)[2]
            if self._is_needed(attempt):
                self._set_in_flight(self.in_flight + 1)
                meta = {**self._meta, self.kind: attempt}
                return Request(
                    *(attempt.url, self._received),
                    errback=self._failed,
                    headers=self.headers,
                    meta=meta,
                    dont_filter=True,
                )
        return None

    def _is_needed(self, attempt: Attempt) -> bool:
        return True

    def _set_in_flight(self, requests: int) -> None:
        self.in_flight = requests

    async def _received(self, response: Response) -> None:
        assert response.request is not None
        attempt: Attempt = response.request.meta[self.kind]
        self._set_in_flight(self.in_flight - 1)
        try:
            await self._apply(attempt, response, response.request.meta.get(REDIRECT))
        except Exception as error:
            logger.exception("%s can't be read", response.url)
            self._end(attempt, response.status, failed_callback(error))

    def _failed(self, failure: Failure) -> None:
        self._set_in_flight(self.in_flight - 1)
        attempt: Attempt = failure.request.meta[self.kind]  # type: ignore[attr-defined]  # Scrapy puts it there
        found = failure_of(failure.value)
        if found.is_transient:
            self._retry(attempt, UNREACHABLE, found.reason)
        else:
            self._end(attempt, UNREACHABLE, found.reason)

    def _retry_delay_s(self, attempt: Attempt, status: int) -> float | None:
        return retry_delay_s(self._crawl.retries, status, attempt.number)

    # Of each kind of files ----------------------------------------------------------------------------

    async def _apply(self, attempt: Attempt, response: Response, redirect: Redirect | None) -> None:
        """Use a response, or follow a redirect."""
        raise NotImplementedError

    def _retry(self, attempt: Attempt, status: int, reason: str | None) -> None:
        """Request a file again later, or not any more."""
        raise NotImplementedError

    def _end(self, attempt: Attempt, status: int, reason: str) -> None:
        """Give a file up that can't be read."""
        raise NotImplementedError


class RobotsFiles(SiteFiles):
    """robots.txt, which is requested before anything else of a site.

    The crawl learns each result, and each time at which one is requested again. If all attempts fail, the site is
    requested again after a rest: in at most *last_wait_s* seconds, and for the last time, if nothing else is left to
    do. A request takes at most *timeout_s* seconds, so that unresponsive hosts do not delay the others.
    """

    kind = "robots"
    headers: ClassVar[dict[str, str]] = {"Accept-Encoding": "identity"}  # else the size is known after decompression

    def __init__(
        self, crawl: Crawl, manager: SignalManager, *, last_wait_s: float, most: int, timeout_s: float
    ) -> None:
        # See `bytes_received` for the size.
        super().__init__(crawl, most, {"download_maxsize": 0, "download_timeout": min(timeout_s, MAX_TIMEOUT_S)})
        self._manager = manager
        self._last_wait_s = last_wait_s

    def enqueue(self, site_id: int, site: str) -> None:
        """Queue the request for the robots.txt of *site*."""
        self._enqueue(Attempt(site_id, site, f"{site}/robots.txt"))

    def _is_needed(self, attempt: Attempt) -> bool:
        return self._crawl.robots.begin(attempt.site_id)

    @property
    def only_rests(self) -> bool:
        """Whether nothing is requested before a rest is over that `hasten` may end."""
        return not self.in_flight and bool(self.queue) and all(_is_resting(one) for _, _, one in self.queue)

    def hasten(self, now: float) -> None:
        """Request each robots.txt for the last time, at the latest after the wait for the last attempt."""
        self.queue = [
            (min(at, now + self._wait_s(one)), serial, one._replace(is_last=True)) for at, serial, one in self.queue
        ]
        logger.info(
            "Nothing is left but %s whose robots.txt could not be read; instead of after the rest, it is requested for "
            "the last time within %g s",
            counted(len(self.queue), "site"),
            max(self._wait_s(one) for _, _, one in self.queue),
        )
        heapq.heapify(self.queue)
        for at, _, one in self.queue:
            self._crawl.answers.robots_waits(one.site_id, *one.failure, max(0.0, at - now))

    def _wait_s(self, attempt: Attempt) -> float:
        return min(self._last_wait_s, UNKNOWN_HOST_WAIT_S if attempt.failure[1] == Reason.HOST_NOT_FOUND else math.inf)

    def _set_in_flight(self, requests: int) -> None:
        """Listen to received bytes only while a request is in flight: the signal costs time for each page."""
        if requests and not self.in_flight:
            self._manager.connect(self.bytes_received, signals.bytes_received)
        elif self.in_flight and not requests:
            self._manager.disconnect(self.bytes_received, signals.bytes_received)
        self.in_flight = requests

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Stop a download of robots.txt after the part that is read; what came so far is its body."""
        if self.kind not in request.meta:
            return
        request.meta["download_maxsize"] = MAX_DECOMPRESSED
        request.meta["received"] = request.meta.get("received", 0) + len(data)
        if request.meta["received"] > MAX_BYTES:
            raise StopDownload(fail=False)

    async def _apply(self, attempt: Attempt, response: Response, redirect: Redirect | None) -> None:
        if redirect is not None and redirect.target is not None and attempt.hops < MAX_REDIRECTS:
            self._enqueue(attempt._replace(url=redirect.target.url, hops=attempt.hops + 1))
            return  # a target that can't be followed is not a robots.txt, as if the status were 404
        if is_unreachable(response.status):
            wished_s = retry_after_s(header(response, "Retry-After"), self._crawl.clock())
            if wished_s is None:
                wished_s = self._crawl.retries.backoff_s * attempt.number
            self._retry(attempt, response.status, None, min(wished_s, MAX_REST_S))
            return
        text = robots_text(response.body) if response.status == 200 else None
        self._crawl.answers.record_robots(attempt.site_id, response.status, text, None)

    def _end(self, attempt: Attempt, status: int, reason: str) -> None:
        self._crawl.answers.record_robots(attempt.site_id, UNREACHABLE, reason, None)

    def _retry(self, attempt: Attempt, status: int, reason: str | None, least_s: float = 0.0) -> None:
        """Request a robots.txt again soon, after a rest, or not any more. After a rest, one attempt must do."""
        problem = sentence(reason or Reason.STATUS.of(status))
        delay_s = None if attempt.rests else self._retry_delay_s(attempt, status)
        if delay_s is not None:
            delay_s = max(delay_s, least_s)
            self._enqueue(attempt._replace(number=attempt.number + 1), delay_s)
            self._crawl.answers.robots_waits(attempt.site_id, status, reason, delay_s)
            if attempt.number == 1:
                logger.info(
                    "%s: its robots.txt could not be read (%s); next attempt in %g s", attempt.site, problem, delay_s
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
                    problem,
                    rest_s,
                )
            again = Attempt(attempt.site_id, attempt.site, f"{attempt.site}/robots.txt")
            self._enqueue(again._replace(rests=attempt.rests + 1, failure=(status, reason)), rest_s)
        self._crawl.answers.record_robots(attempt.site_id, status, reason, rest_s)


def _is_resting(attempt: Attempt) -> bool:
    return attempt.rests > 0 and attempt.hops == 0 and not attempt.is_last


class SitemapFiles(SiteFiles):
    """Sitemaps, each in the turn of a page of its site. At most 50 MB of one are read, compressed or not."""

    kind = "sitemap"

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl, math.inf, {"download_maxsize": MAX_INFLATED})

    def enqueue(self, site_id: int, url: str) -> None:
        """Queue the request for a sitemap of a site, whose turn it is."""
        self._enqueue(Attempt(site_id, "", url))

    def record_sending(self, request: Request) -> None:
        """Note that *request* is sent now, if it is one for a sitemap."""
        attempt = request.meta.get(self.kind)
        if attempt is not None:
            self._crawl.sitemaps.record_request(attempt.site_id)

    async def _apply(self, attempt: Attempt, response: Response, redirect: Redirect | None) -> None:
        if redirect is not None:
            self._redirected(attempt, response.status, redirect)
        elif response.status != 200:
            if response.status in REST_STATUSES:
                now = self._crawl.clock()
                wished_s = retry_after_s(header(response, "Retry-After"), now)
                self._crawl.frontier.site(attempt.site_id).gate.back_off(now, wished_s)
            self._retry(attempt, response.status, Reason.STATUS.of(response.status))
        else:
            body, is_cut = response.body, "dataloss" in response.flags
            kind = header(response, "Content-Type")
            found = WebResponse(response.url, response.status, body, kind, is_truncated=is_cut)
            content = await self._crawl.sitemaps.content(attempt.site_id, found)
            self._crawl.sitemaps.record_response(attempt.site_id, response.status, content)

    def _redirected(self, attempt: Attempt, status: int, redirect: Redirect) -> None:
        if redirect.target is None:
            self._end(attempt, status, redirect.problem)
        elif not self._crawl.sitemaps.may_follow(attempt.site_id, redirect.target.url):
            self._end(attempt, status, Reason.REDIRECT_TO_REFUSED.of(redirect.target.url))
        elif attempt.hops >= MAX_REDIRECTS:
            self._end(attempt, status, Reason.MANY_REDIRECTS.of(MAX_REDIRECTS))
        else:
            self._enqueue_next(attempt._replace(url=redirect.target.url, hops=attempt.hops + 1), 0.0)

    def _enqueue_next(self, attempt: Attempt, delay_s: float) -> None:
        """Queue a further request, after the delay of the site at the earliest."""
        wait_s = self._crawl.frontier.site(attempt.site_id).gate.next_at - self._crawl.clock()
        self._enqueue(attempt, max(delay_s, wait_s))

    def _retry(self, attempt: Attempt, status: int, reason: str | None) -> None:
        delay_s = self._retry_delay_s(attempt, status)
        if delay_s is not None:
            self._enqueue_next(attempt._replace(number=attempt.number + 1), delay_s)
        else:
            self._end(attempt, status, reason or "")

    def _end(self, attempt: Attempt, status: int, reason: str) -> None:
        self._crawl.sitemaps.record_response(attempt.site_id, status, SitemapContent(problem=reason))
