"""Fetches robots.txt of a site before its first page, through the same downloader."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request

from crawlers.extraction.answer import REDIRECTS
from crawlers.schedulers.failures import reason_of
from crawlers.schedulers.robots import LARGEST_BYTES, MAX_REDIRECTS, UNREACHABLE, RobotsRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response
    from twisted.python.failure import Failure


class RobotsFetch:
    """Requests that are to be made before anything else, in `queue`; *on_rules* gets each site's outcome:
    site id, rules, and the file's text."""

    def __init__(self, agent: str, attempts: int, on_rules: Callable[[int, RobotsRules, str | None], None]) -> None:
        self._agent = agent
        self._attempts = attempts
        self._on_rules = on_rules
        self.queue: deque[Request] = deque()

    def ask(self, site_id: int, site: str) -> None:
        self._ask(f"{site}/robots.txt", site_id, attempt=1, hops=0)

    def _ask(self, url: str, site_id: int, attempt: int, hops: int) -> None:
        self.queue.append(
            Request(
                url,
                callback=self._answered,
                errback=self._failed,
                dont_filter=True,
                meta={
                    "handle_httpstatus_all": True,
                    "dont_redirect": True,
                    "dont_retry": True,
                    "download_maxsize": 8 * LARGEST_BYTES,
                    "robots": (site_id, attempt, hops),
                },
            )
        )

    def _answered(self, response: Response) -> None:
        assert response.request is not None
        site_id, attempt, hops = response.request.meta["robots"]
        location = response.headers.get("Location")
        if response.status in REDIRECTS and location and hops < MAX_REDIRECTS:
            url = urljoin(response.url, location.decode("latin-1"))
            if url.startswith(("http://", "https://")):
                self._ask(url, site_id, attempt, hops + 1)
                return
        if RobotsRules(response.status, None, self._agent).is_unreachable and attempt < self._attempts:
            self._ask(response.url, site_id, attempt + 1, hops)
            return
        text = response.body[:LARGEST_BYTES].decode("utf-8", "replace") if response.status == 200 else None
        if text is not None:
            text = text.replace("\0", "")
        self._on_rules(site_id, RobotsRules(response.status, text, self._agent), text)

    def _failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy puts it there
        site_id, attempt, hops = request.meta["robots"]
        reason = reason_of(failure.value)
        if reason.is_transient and attempt < self._attempts:
            self._ask(request.url, site_id, attempt + 1, hops)
            return
        self._on_rules(site_id, RobotsRules(UNREACHABLE, reason.text, self._agent), reason.text)
