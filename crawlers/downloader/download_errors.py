"""Errors of downloads: their stored reasons, whether a retry may help, and what is wrong with certificates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import DownloadFailedError, IgnoreRequest
from service_identity import CertificateError, VerificationError
from service_identity.cryptography import verify_certificate_hostname, verify_certificate_ip_address

from crawlers.errors import ReasonError
from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.urls.addresses import is_address

if TYPE_CHECKING:
    from OpenSSL.crypto import X509


class BadResponseError(ReasonError, DownloadFailedError):
    """The server sent something that is not a response; another attempt may have a better result."""


class RenderingInterruptedError(ReasonError, DownloadFailedError):
    """The browser ended while it rendered a page, by no fault of the page; another attempt may have a better result."""


class DownloadRefusedError(ReasonError, IgnoreRequest):
    """A request that is not made, or a response that is not read to its end.

    *state* is that of the URL. Unless it *is_transient*, another attempt would end likewise.
    """

    def __init__(self, reason: str, state: State = State.REFUSED, *, is_transient: bool = False) -> None:
        super().__init__(reason)
        self.state = state
        self.is_transient = is_transient


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


def certificate_problem(certificate: X509, host: str, now: float) -> str | None:
    """Return what is wrong with a *certificate* by which *host* answers; None: nothing that it says itself.

    Who else has signed it is not checked: that needs further certificates, and those that this machine trusts.
    """
    verify = verify_certificate_ip_address if is_address(host) else verify_certificate_hostname
    try:
        read = certificate.to_cryptography()
        first, last = read.not_valid_before_utc, read.not_valid_after_utc
        is_self_signed = read.issuer == read.subject
        verify(read, host.removesuffix("."))
    except (CertificateError, VerificationError):
        return Reason.CERTIFICATE_OF_OTHER_HOST
    except ValueError:
        return Reason.CERTIFICATE_UNREADABLE
    moment = datetime.fromtimestamp(now, UTC)
    if not first <= moment <= last:
        return Reason.CERTIFICATE_EXPIRED if last < moment else Reason.CERTIFICATE_EARLY
    return Reason.CERTIFICATE_SELF_SIGNED if is_self_signed else None
