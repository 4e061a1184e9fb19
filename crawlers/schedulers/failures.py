"""Turns exceptions of downloads into reasons, and decides whether a retry may help."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import IgnoreRequest

from crawlers.extensions.download_errors import BadResponseError, DownloadRefusedError, RenderingInterruptedError
from crawlers.items import CONNECTION_FAILED, CONNECTION_REFUSED, HOST_NOT_FOUND, TIMEOUT, Page, State

if TYPE_CHECKING:
    from crawlers.frontier.values import Lease


class Reason(NamedTuple):
    """Why there is no response, the resulting state of the URL, and whether a retry may help."""

    text: str
    state: State
    is_transient: bool


# In the order in which they are tried: subclasses first.
_REASONS: tuple[tuple[type[BaseException], str, State, bool], ...] = (
    (scrapy_errors.DownloadTimeoutError, TIMEOUT, State.FAILED, True),
    (scrapy_errors.CannotResolveHostError, HOST_NOT_FOUND, State.FAILED, True),
    (scrapy_errors.DownloadConnectionRefusedError, CONNECTION_REFUSED, State.FAILED, True),
    (scrapy_errors.ResponseDataLossError, "the connection was closed within the body", State.FAILED, True),
    (scrapy_errors.DownloadCancelledError, "too large", State.REFUSED, False),
    (scrapy_errors.DownloadFailedError, CONNECTION_FAILED, State.FAILED, True),
)


def reason_of(error: BaseException | None) -> Reason:
    """Return the reason that is stored for *error*; for unknown exceptions, their name and text."""
    if isinstance(error, DownloadRefusedError):
        return Reason(str(error), error.state, error.is_transient)
    if isinstance(error, (BadResponseError, RenderingInterruptedError)):
        return Reason(str(error), State.FAILED, is_transient=True)
    for kind, text, state, is_transient in _REASONS:
        if isinstance(error, kind):
            return Reason(text, state, is_transient)
    if isinstance(error, IgnoreRequest) and "DOWNLOAD_MAXSIZE" in str(error):
        return Reason("too large once decompressed", State.REFUSED, False)
    detail = " ".join(str(error).split())[:200]
    return Reason(f"{type(error).__name__}: {detail}".rstrip(": "), State.FAILED, False)


def failed_page(lease: Lease, error: BaseException | None, prefix: str = "") -> Page:
    """Return the page of a failed lease; with a *prefix*, the fault is ours, and it is not retried."""
    reason = reason_of(error)
    return Page(
        lease.id,
        lease.url,
        lease.level,
        State.FAILED if prefix else reason.state,
        reason=prefix + reason.text,
        is_transient=reason.is_transient and not prefix,
    )
