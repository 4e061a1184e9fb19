"""Requests that spiders yield themselves: text in the frontier, requests again when their turn comes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawlers.errors import BadUrl
from crawlers.frontier.protocols import Candidate, Lease
from crawlers.items import LEASE, Page, State
from crawlers.schedulers.failures import failed_page
from crawlers.schedulers.foreign.completion import PendingCallbacks, WatchedErrback
from crawlers.schedulers.foreign.serialize import RequestKeeper, target_of_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.signalmanager import SignalManager
    from scrapy.spiders import Spider

    from crawlers.algorithms.urls.normalization import Normalization

logger = logging.getLogger(__name__)


class ForeignRequests:
    """*finish* ends the lease of a page, *is_open* says whether a lease is, *site_id* gives a site's id.

    The engine says that it is about to enqueue a request and then does, unless somebody refuses it: so the
    end of a lease whose request a downloader middleware replaced is known at the next call at the latest.
    """

    def __init__(
        self,
        spider: Spider,
        options: Normalization,
        finish: Callable[[Page], object],
        is_open: Callable[[Lease], bool],
        site_id: Callable[[str, float], int],
    ) -> None:
        self._options = options
        self._finish = finish
        self._is_open = is_open
        self._site_id = site_id
        self._keeper = RequestKeeper(spider)
        self._announced: Request | None = None
        self._serial = 0
        self.answers = PendingCallbacks(finish)

    def watch(self, signal_manager: SignalManager) -> None:
        signal_manager.connect(self._announce, signals.request_scheduled)
        for done in (signals.item_scraped, signals.item_dropped, signals.item_error):
            signal_manager.connect(self.answers.item_done, done)

    # Out --------------------------------------------------------------------------------------------

    def request(self, lease: Lease, text: str) -> Request | None:
        """The request of *lease*, from *text*; None, and the lease ended, if it can't be made again."""
        try:
            request = self._keeper.read(text)
        except LookupError as error:
            reason = str(error.args[0])
            self._finish(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))
            return None
        request.meta[LEASE] = lease
        request.errback = WatchedErrback(
            request.errback, self.answers, lambda failure: failed_page(lease, failure.value)
        )
        return request

    # In ---------------------------------------------------------------------------------------------

    def add(self, request: Request, now: float, add: Callable[[list[Candidate], float], int]) -> bool:
        """Whether *request* is new. *add* gives candidates to the frontier and says how many were new."""
        self._announced = None
        try:
            lease = self._replaced(request)
            candidate = self._candidate(request, now, is_replacement=lease is not None)
            new = add([candidate], now) if candidate is not None else 0
            if lease is not None:
                # Only now that the other one is written down: a kill in between must not lose both.
                reason = f"replaced by a request to {request.url}"
                self._finish(Page(lease.id, lease.url, lease.level, State.MOVED, reason=reason))
        finally:
            self.answers.scheduled(request)
        return new > 0

    def _candidate(self, request: Request, now: float, *, is_replacement: bool) -> Candidate | None:
        request.meta.pop(LEASE, None)
        if isinstance(request.errback, WatchedErrback):
            request.errback = request.errback.original
        unique = ""
        # A start request is known again by its URL when the crawl goes on; its retry is a request of its own.
        if request.dont_filter and (is_replacement or not request.meta.get("is_start_request")):
            self._serial += 1
            unique = f"{now}#{self._serial}"
        try:
            target = target_of_request(request, self._options, unique=unique)
        except BadUrl as error:
            logger.warning("%s is dropped: %s", request, error)
            return None
        # A click away is a level; a priority of Scrapy's counts as that many clicks.
        level = max(0, int(request.meta.get("depth", 0)) - request.priority)
        return Candidate(self._site_id(target.site, now), target, level, 0, None, self._keeper.write(request))

    def _announce(self, request: Request) -> None:
        self.drop_refused()
        self._announced = request

    def drop_refused(self) -> None:
        """What was announced and not enqueued was refused by somebody, such as OffsiteMiddleware."""
        request, self._announced = self._announced, None
        if request is None:
            return
        self.answers.scheduled(request)
        if (lease := self._replaced(request)) is not None:
            reason = f"replaced by a request to {request.url}, which was refused"
            self._finish(Page(lease.id, lease.url, lease.level, State.REFUSED, reason=reason))

    def _replaced(self, request: Request) -> Lease | None:
        """The lease of the request whose place this one takes: a redirect, a retry."""
        lease = request.meta.get(LEASE)
        if not isinstance(lease, Lease) or not self._is_open(lease):
            return None
        return lease if lease.id not in self.answers else None  # a spider's copy of the meta of an answer
