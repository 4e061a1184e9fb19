"""Requests the sitemaps of sites through the same downloader, each in the turn of a page of its site."""

from __future__ import annotations

import heapq
import logging
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request

from crawlers.crawl.site_sitemaps import SitemapContent
from crawlers.items import REDIRECT
from crawlers.pages.response import WebResponse
from crawlers.pages.retries import REST_STATUSES, retry_after_s, retry_delay_s
from crawlers.reasons import Reason
from crawlers.schedulers.failures import failed_callback, failure_of
from crawlers.schedulers.page_requests import PLAIN
from crawlers.sites.feed_bytes import MAX_INFLATED
from crawlers.sites.robots_rules import MAX_REDIRECTS
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.redirect_targets import Redirect

logger = logging.getLogger(__name__)

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
