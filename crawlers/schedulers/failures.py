"""Turns exceptions of downloads into reasons, decides whether a retry may help, and ends the leases of failed pages.

A download, a callback or a pipeline may fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy import exceptions as scrapy_errors
from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.errors import ReasonError
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


class DownloadFailure(NamedTuple):
    """Why there is no response, the resulting state of the URL, and whether a retry may help."""

    reason: str
    state: State
    is_transient: bool


# In the order in which they are tried: subclasses first.
_REASONS: tuple[tuple[type[BaseException], Reason, State, bool], ...] = (
    (scrapy_errors.DownloadTimeoutError, Reason.TIMEOUT, State.FAILED, True),
    (scrapy_errors.CannotResolveHostError, Reason.HOST_NOT_FOUND, State.FAILED, True),
    (scrapy_errors.DownloadConnectionRefusedError, Reason.CONNECTION_REFUSED, State.FAILED, True),
    (scrapy_errors.ResponseDataLossError, Reason.CLOSED_IN_BODY, State.FAILED, True),
    (scrapy_errors.DownloadCancelledError, Reason.TOO_LARGE, State.REFUSED, False),
    (scrapy_errors.DownloadFailedError, Reason.CONNECTION_FAILED, State.FAILED, True),
)


def failure_of(error: BaseException | None) -> DownloadFailure:
    """Return what is stored for *error*; for unknown exceptions, their name and text."""
    if isinstance(error, DownloadRefusedError):
        return DownloadFailure(error.reason, error.state, error.is_transient)
    if isinstance(error, ReasonError):
        return DownloadFailure(error.reason, State.FAILED, is_transient=True)
    for kind, reason, state, is_transient in _REASONS:
        if isinstance(error, kind):
            return DownloadFailure(reason, state, is_transient)
    if isinstance(error, IgnoreRequest) and "DOWNLOAD_MAXSIZE" in str(error):
        return DownloadFailure(Reason.TOO_LARGE_DECOMPRESSED, State.REFUSED, False)
    text = " ".join(str(error).split())[:200] or "no message"
    return DownloadFailure(Reason.ERROR.of(type(error).__name__, text), State.FAILED, False)


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
