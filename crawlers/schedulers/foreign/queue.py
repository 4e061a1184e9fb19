"""Queues the requests of plain Scrapy spiders: they wait as text in the frontier, and are recreated when leased."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawlers.errors import BadUrl
from crawlers.frontier.values import Candidate, Lease
from crawlers.items import LEASE, Page, State
from crawlers.reasons import Reason
from crawlers.schedulers.failures import failed_page
from crawlers.schedulers.foreign.serialize import RequestKeeper, target_of_request
from crawlers.schedulers.foreign.watched_errback import WatchedErrback
from crawlers.storage.change_set import ChangeSet

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.signalmanager import SignalManager
    from scrapy.spiders import Spider

    from crawlers.algorithms.urls.normalization import Normalization
    from crawlers.crawl.running_crawl import Crawl
    from crawlers.extensions.pending_callbacks import PendingCallbacks

logger = logging.getLogger(__name__)


class ForeignRequests:
    """Stores the requests of *spider* in *crawl* as text.

    Scrapy's engine announces a request before it enqueues it, unless another component refuses it. So the end of a
    lease whose request was replaced by a downloader middleware is known at the next call at the latest.
    """

    def __init__(
        self,
        spider: Spider,
        options: Normalization,
        crawl: Crawl,
        callbacks: PendingCallbacks,
        manager: SignalManager,
    ) -> None:
        self._options = options
        self._crawl = crawl
        self._callbacks = callbacks
        self._keeper = RequestKeeper(spider)
        self._announced: Request | None = None
        self._serial = 0
        manager.connect(self._announce, signals.request_scheduled)

    # Out --------------------------------------------------------------------------------------------

    def request(self, lease: Lease, text: str) -> Request | None:
        """Return the request of *lease* from its *text*; None if it can't be recreated, which ends the lease."""
        try:
            request = self._keeper.read(text)
        except LookupError as error:
            reason: str = error.args[0]
            self._crawl.recording.record(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))
            return None
        request.meta[LEASE] = lease
        request.errback = WatchedErrback(
            request.errback, self._callbacks, lambda failure: failed_page(lease, failure.value)
        )
        return request

    # In ---------------------------------------------------------------------------------------------

    def add(self, request: Request, now: float) -> bool:
        """Queue *request*; return whether it is new. Raises `StoreError`."""
        self._announced = None
        try:
            lease = self._replaced(request)
            changes = ChangeSet()
            candidate = self._candidate(request, now, changes, is_replacement=lease is not None)
            new = self._crawl.frontier.add([candidate], now, changes) if candidate is not None else 0
            if lease is not None:
                # Only after the other one was queued: a kill in between must not lose both.
                reason = Reason.REPLACED.of(request.url)
                self._crawl.recording.record(Page(lease.id, lease.url, lease.level, State.MOVED, reason=reason))
        finally:
            self._callbacks.record_request(request)
        return new > 0

    def _candidate(self, request: Request, now: float, changes: ChangeSet, *, is_replacement: bool) -> Candidate | None:
        is_repeated = request.meta.pop(LEASE, None) is not None  # the spider copied a request that it had received
        if isinstance(request.errback, WatchedErrback):
            request.errback = request.errback.original
        unique = ""
        # A resumed crawl recognises a start request by its URL; a retry of it is a separate request.
        if request.dont_filter and (is_replacement or is_repeated or not request.meta.get("is_start_request")):
            self._serial += 1
            unique = f"{now}#{self._serial}"
        try:
            target = target_of_request(request, self._options, unique=unique)
        except BadUrl as error:
            logger.warning("%s is dropped: %s", request, error)
            return None
        if request.meta.get("is_start_request"):
            self._crawl.addresses.add_seed(target.url)
        # The level is the number of clicks; a priority of Scrapy counts as that many clicks less.
        level = max(0, int(request.meta.get("depth", 0)) - request.priority)
        site_id = self._crawl.sites.id_of(target.site, now, changes)
        return Candidate(site_id, target, level, 0, None, self._keeper.write(request))

    def _announce(self, request: Request) -> None:
        self.drop_refused()
        self._announced = request

    def drop_refused(self) -> None:
        """End the lease of an announced request that another component refused, such as OffsiteMiddleware."""
        request, self._announced = self._announced, None
        if request is None:
            return
        self._callbacks.record_request(request)
        if (lease := self._replaced(request)) is not None:
            reason = Reason.REPLACED_IN_VAIN.of(request.url)
            self._crawl.recording.record(Page(lease.id, lease.url, lease.level, State.REFUSED, reason=reason))

    def _replaced(self, request: Request) -> Lease | None:
        """Return the open lease of the request that *request* replaces, by a redirect or retry."""
        lease = request.meta.get(LEASE)
        if not isinstance(lease, Lease) or self._crawl.frontier.leased(lease.id) is not lease:
            return None
        return lease if lease.id not in self._callbacks else None  # the spider copied the meta of a response
