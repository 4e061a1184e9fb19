"""Sorts the reasons of refused and failed downloads into a few classes, to count them."""

from __future__ import annotations

from crawlers.pages.retries import REST_STATUSES
from crawlers.reasons import ErrorClass, Reason, parsed

OF_NETWORK = frozenset(
    {ErrorClass.TIMEOUT, ErrorClass.HOST_NOT_FOUND, ErrorClass.CONNECTION_REFUSED, ErrorClass.CONNECTION_FAILED}
)  # no server was reached


def error_class(status: int, reason: str) -> ErrorClass:
    """Return the class of a download that was refused or failed; *status* is 0 if there was no response.

    >>> error_class(0, "robots_unread timeout"), error_class(200, "content_type image/png")
    (<ErrorClass.TIMEOUT: 'timeout'>, <ErrorClass.CONTENT_TYPE: 'content_type'>)
    """
    if status in REST_STATUSES:
        return ErrorClass.OVERLOADED
    if status >= 400:
        return ErrorClass.SERVER_ERROR if status >= 500 else ErrorClass.CLIENT_ERROR
    code, parts = parsed(reason or Reason.NO_RESPONSE)
    if code.error_class is not ErrorClass.OTHER:
        return code.error_class
    if code is Reason.ROBOTS_UNREAD:
        return error_class(status, parts["why"])
    return ErrorClass.OTHER if status in (0, 200) else ErrorClass.OTHER_STATUS
