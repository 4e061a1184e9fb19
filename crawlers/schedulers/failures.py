"""Ends the leases of failed pages: a download, a callback or a pipeline may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from crawlers.downloader.download_errors import failure_of
from crawlers.frontier.values import Lease
from crawlers.items import LEASE, Page, State
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.extensions.pending_callbacks import PendingCallbacks


def failed_callback(error: BaseException | None) -> str:
    """Return the reason that is stored if a callback raises *error*."""
    return Reason.SPIDER_FAILED.of(failure_of(error).reason)


def failed_page(lease: Lease, error: BaseException | None) -> Page:
    """Return the page of a failed lease."""
    failure = failure_of(error)
    return Page(
        lease.id,
        lease.url,
        lease.level,
        failure.state,
        reason=failure.reason,
        is_transient=failure.is_transient,
    )


class ErrorHandlers:
    """Records failed pages in *crawl*. Errors of callbacks at work are passed on to *callbacks*, if there are any."""

    def __init__(self, crawl: Crawl, callbacks: PendingCallbacks | None, manager: SignalManager) -> None:
        self._crawl = crawl
        self._callbacks = callbacks
        manager.connect(self._spider_error, signals.spider_error)
        manager.connect(self._item_error, signals.item_error)
        manager.connect(self._item_dropped, signals.item_dropped)

    def download_failed(self, failure: Failure) -> None:
        """The errback of the requests of missions: there was no response."""
        lease = self._open_lease(_request_of(failure))
        if lease is not None:
            self._crawl.recording.record(failed_page(lease, failure.value))

    def _open_lease(self, request: Request) -> Lease | None:
        lease = request.meta.get(LEASE)
        is_open = isinstance(lease, Lease) and self._crawl.frontier.leases.get(lease.id) is lease
        return lease if is_open else None

    def _spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        reason = failed_callback(failure.value)
        if response is None or (self._callbacks is not None and self._callbacks.record_failure(response, reason)):
            return  # without a response, it is an error of `start`
        if (lease := self._open_lease(_request_of(response))) is not None:
            self._crawl.recording.record(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))

    def _item_error(self, item: object, failure: Failure) -> None:
        self._item_lost(item, failure.value, Reason.PIPELINE_FAILED)

    def _item_dropped(self, item: object, exception: BaseException) -> None:
        self._item_lost(item, exception, Reason.PIPELINE_DROPPED)

    def _item_lost(self, item: object, error: BaseException | None, code: Reason) -> None:
        if isinstance(item, Page) and (lease := self._crawl.frontier.leases.get(item.id)) is not None:
            reason = code.of(failure_of(error).reason)
            self._crawl.recording.record(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))


def _request_of(response: Response | Failure) -> Request:
    """Return the request of a response, or of a failed download, to which Scrapy adds it."""
    request: Request = response.request  # type: ignore[union-attr,assignment]
    return request
