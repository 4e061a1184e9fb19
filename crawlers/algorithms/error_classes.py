"""Sorts the reasons of refused and failed downloads into a few classes, to count them."""

from __future__ import annotations

from enum import StrEnum

from crawlers.algorithms.ranking.page_orders import MAX_HOPS
from crawlers.algorithms.retries import REST_STATUSES
from crawlers.items import CONNECTION_FAILED, CONNECTION_REFUSED, HOST_NOT_FOUND, TIMEOUT


class ErrorClass(StrEnum):
    """The classes, of which there are few: each is a time series of a monitoring system."""

    TIMEOUT = "timeout"
    HOST_NOT_FOUND = "host_not_found"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_FAILED = "connection_failed"  # closed, reset, TLS
    OVERLOADED = "overloaded"  # status 429 or 503
    SERVER_ERROR = "server_error"  # other statuses of 500 or more
    CLIENT_ERROR = "client_error"  # other statuses from 400 to 499
    REDIRECT = "redirect"  # to another site or nowhere, or too many
    OTHER_STATUS = "other_status"  # neither 200, nor a redirect, nor an error
    CONTENT_TYPE = "content_type"
    TOO_LARGE = "too_large"
    BAD_RESPONSE = "bad_response"  # not HTTP, or a body that can't be decompressed
    RENDERING = "rendering"  # of a page by the browser
    OTHER = "other"


OF_NETWORK = frozenset(
    {ErrorClass.TIMEOUT, ErrorClass.HOST_NOT_FOUND, ErrorClass.CONNECTION_REFUSED, ErrorClass.CONNECTION_FAILED}
)  # no server was reached

# The beginnings of reasons, whose rest may be anything that a server sent.
_BEGINNINGS = {
    TIMEOUT: ErrorClass.TIMEOUT,
    HOST_NOT_FOUND: ErrorClass.HOST_NOT_FOUND,
    CONNECTION_REFUSED: ErrorClass.CONNECTION_REFUSED,
    CONNECTION_FAILED: ErrorClass.CONNECTION_FAILED,
    "the connection was closed": ErrorClass.CONNECTION_FAILED,
    "no connection is possible": ErrorClass.CONNECTION_FAILED,
    "the TLS connection failed": ErrorClass.CONNECTION_FAILED,
    "certificate ": ErrorClass.CONNECTION_FAILED,
    "redirect": ErrorClass.REDIRECT,
    "status 3": ErrorClass.REDIRECT,
    f"more than {MAX_HOPS} redirects": ErrorClass.REDIRECT,
    "content type": ErrorClass.CONTENT_TYPE,
    "no content type": ErrorClass.CONTENT_TYPE,
    "too large": ErrorClass.TOO_LARGE,
    "a header of more than": ErrorClass.TOO_LARGE,
    "headers of more than": ErrorClass.TOO_LARGE,
    "more than 4,096 headers": ErrorClass.TOO_LARGE,
    "the response is not HTTP": ErrorClass.BAD_RESPONSE,
    "the content encoding": ErrorClass.BAD_RESPONSE,
    "not rendered": ErrorClass.RENDERING,
    "it needs more memory than a page may have": ErrorClass.RENDERING,
    "its scripts crashed the browser": ErrorClass.RENDERING,
    "the browser": ErrorClass.RENDERING,
}


def error_class(status: int, reason: str) -> ErrorClass:
    """Return the class of a download that was refused or failed; *status* is 0 if there was no response.

    >>> error_class(0, "timeout, 3 attempts"), error_class(200, "content type image/png")
    (<ErrorClass.TIMEOUT: 'timeout'>, <ErrorClass.CONTENT_TYPE: 'content_type'>)
    """
    if status in REST_STATUSES:
        return ErrorClass.OVERLOADED
    if status >= 400:
        return ErrorClass.SERVER_ERROR if status >= 500 else ErrorClass.CLIENT_ERROR
    found = (kind for beginning, kind in _BEGINNINGS.items() if reason.startswith(beginning))
    return next(found, ErrorClass.OTHER if status in (0, 200) else ErrorClass.OTHER_STATUS)
