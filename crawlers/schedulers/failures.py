"""Turns exceptions of downloads into reasons, and decides whether a retry may help."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import IgnoreRequest

from crawlers.errors import ReasonError
from crawlers.extensions.download_errors import DownloadRefusedError
from crawlers.items import Page, State
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from crawlers.frontier.values import Lease


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
