"""Fetches robots.txt of a site before its first page, through the same downloader."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.exceptions import StopDownload

from crawlers.algorithms.retries import retry_after_s, retry_delay_s
from crawlers.crawl.robots import LARGEST_BYTES, MAX_REDIRECTS, UNREACHABLE, is_unreachable, robots_text
from crawlers.frontier.politeness import LONGEST_REST_S
from crawlers.items import REDIRECT
from crawlers.schedulers.failures import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawlers.algorithms.retries import RetryPolicy
    from crawlers.algorithms.urls.redirect_targets import Redirect


LONGEST_S = 20.0  # until the response
MOST_DECOMPRESSED = 8 * LARGEST_BYTES  # of servers that compress although they are asked not to


class RobotsFetch:
    """Makes the requests for robots.txt, which are sent before all others of their sites.

    *on_result* is called with the result for each site: its id, the status (0: no response), and the text of the file
    or the reason why there is none. Failures are retried according to *retries*; *clock* returns seconds. At most
    *most* requests are in flight, each for at most *timeout_s* seconds, so that unresponsive hosts do not delay the
    others.
    """

    def __init__(
        self,
        retries: RetryPolicy,
        clock: Callable[[], float],
        on_result: Callable[[int, int, str | None], None],
        most: int = 1,
        timeout_s: float = LONGEST_S,
    ) -> None:
        self._most = most
        self._timeout_s = min(timeout_s, LONGEST_S)
        self._retries = retries
        self._clock = clock
        self._on_result = on_result
        self._queue: list[tuple[float, int, Request]] = []  # (time, serial, request)
        self._serial = 0
        self.in_flight = 0  # requests without a response yet

    def enqueue(self, site_id: int, site: str) -> None:
        """Queue the request for the robots.txt of *site*."""
        self._enqueue(f"{site}/robots.txt", site_id, attempt=1, hops=0)

    def take(self, now: float) -> Request | None:
        """Return a request that is due; None if there is none."""
        if not self._queue or self._queue[0][0] > now or self.in_flight >= self._most:
            return None
        self.in_flight += 1
        return heapq.heappop(self._queue)[2]

    def next_due(self, now: float) -> float | None:
        """Return the seconds until a request is due; None if none is queued, or a response must arrive first."""
        return max(0.0, self._queue[0][0] - now) if self._queue and self.in_flight < self._most else None

    def _enqueue(self, url: str, site_id: int, attempt: int, hops: int, delay_s: float = 0.0) -> None:
        request = Request(
            url,
            callback=self._received,
            errback=self._failed,
            dont_filter=True,
            headers={"Accept-Encoding": "identity"},  # else the size is known only after decompression
            meta={
                "handle_httpstatus_all": True,
                "dont_redirect": True,
                "dont_retry": True,
                "download_maxsize": 0,  # see `bytes_received`
                "download_timeout": self._timeout_s,
                "robots": (site_id, attempt, hops),
            },
        )
        self._serial += 1
        heapq.heappush(self._queue, (self._clock() + delay_s, self._serial, request))

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Stop a download of robots.txt after the part that is read; what came so far is its body."""
        if "robots" not in request.meta:
            return
        request.meta["download_maxsize"] = MOST_DECOMPRESSED
        request.meta["received"] = request.meta.get("received", 0) + len(data)
        if request.meta["received"] > LARGEST_BYTES:
            raise StopDownload(fail=False)

    def _received(self, response: Response) -> None:
        assert response.request is not None
        self.in_flight -= 1
        site_id, attempt, hops = response.request.meta["robots"]
        redirect: Redirect | None = response.request.meta.get(REDIRECT)
        if redirect is not None and redirect.target is not None and hops < MAX_REDIRECTS:
            self._enqueue(redirect.target.url, site_id, attempt, hops + 1)
            return  # a target that can't be followed is not a robots.txt, as if the status were 404
        if is_unreachable(response.status):
            delay_s = retry_delay_s(self._retries, response.status, attempt)
            if delay_s is not None:
                asked_s = retry_after_s(_text(response.headers.get("Retry-After")), self._clock())
                rest_s = min(asked_s if asked_s is not None else self._retries.backoff_s * attempt, LONGEST_REST_S)
                self._enqueue(response.url, site_id, attempt + 1, hops, max(delay_s, rest_s))
                return
        text = robots_text(response.body) if response.status == 200 else None
        self._on_result(site_id, response.status, text)

    def failed_to_parse(self, request: Request, reason: str) -> bool:
        """Handle a robots.txt that could not be parsed; return whether *request* is one for robots.txt."""
        if "robots" not in request.meta:
            return False
        self.in_flight -= 1
        self._on_result(request.meta["robots"][0], UNREACHABLE, reason)
        return True

    def _failed(self, failure: Failure) -> None:
        self.in_flight -= 1
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        site_id, attempt, hops = request.meta["robots"]
        reason = reason_of(failure.value)
        delay_s = retry_delay_s(self._retries, 0, attempt) if reason.is_transient else None
        if delay_s is not None:
            self._enqueue(request.url, site_id, attempt + 1, hops, delay_s)
            return
        self._on_result(site_id, UNREACHABLE, reason.text)


def _text(header: bytes | None) -> str | None:
    return header.decode("latin-1") if header is not None else None
