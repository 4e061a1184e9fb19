"""Fetches robots.txt of a site before its first page, through the same downloader."""

from __future__ import annotations

import heapq
import logging
import math
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from crawlers.frontier.politeness import MAX_REST_S
from crawlers.items import REDIRECT
from crawlers.pages.retries import retry_after_s, retry_delay_s
from crawlers.pages.robots_groups import UNREACHABLE, is_unreachable
from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence
from crawlers.schedulers.failures import failed_callback, failure_of
from crawlers.schedulers.page_requests import PLAIN
from crawlers.sites.robots_rules import MAX_BYTES, MAX_REDIRECTS, robots_text
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.redirect_targets import Redirect


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
