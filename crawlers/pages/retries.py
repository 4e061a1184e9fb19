"""Decides whether and when a failed request is retried.

Reasons are sorted into a few classes, to count them.
"""

from __future__ import annotations

from email.utils import mktime_tz, parsedate_tz
from typing import NamedTuple

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


TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
REST_STATUSES = frozenset({429, 503})  # the host needs a rest (RFC 6585 section 4, RFC 9110 section 15.6.4)


class RetryPolicy(NamedTuple):
    """How often a URL is retried: more often if its host is overloaded, because that is no fault of the page."""

    times: int = 2  # retries after errors
    rest_times: int = 10  # retries after `REST_STATUSES`
    backoff_s: float = 1.0  # before the first retry; doubles with each further one


class RestPolicy(NamedTuple):
    """How often, and after which rests, a site is tried again that gave no usable response to all attempts."""

    times: int = 6
    first_s: float = 300.0  # doubles with each further rest
    longest_s: float = 14_400.0

    def rest_s(self, rests: int) -> float | None:
        """Return the seconds of the next rest after *rests* >= 0 earlier ones; None: the site has failed.

        >>> [RestPolicy(3, 60.0, 200.0).rest_s(rests) for rests in range(4)]
        [60.0, 120.0, 200.0, None]
        """
        if rests >= self.times:
            return None
        return min(self.first_s * 2.0 ** min(rests, 64), self.longest_s)  # 2^64 seconds are long enough


def robots_rests(first_s: float) -> RestPolicy:
    """Return the rests after a robots.txt that could not be read, of which the first takes *first_s* seconds; 0: none.

    >>> robots_rests(300.0).rest_s(5), robots_rests(0.0).rest_s(0)
    (9600.0, None)
    """
    return RestPolicy(first_s=first_s) if first_s else RestPolicy(times=0, first_s=0.0)


def retry_delay_s(policy: RetryPolicy, status: int, attempts: int) -> float | None:
    """Return the seconds to wait before the next attempt, or None if the URL has failed.

    *status* is 0 if there was no response; *attempts* >= 1 includes this one. For `REST_STATUSES` the result is 0 or
    None: the delay of the host determines the wait.

    >>> retry_delay_s(RetryPolicy(times=2), 500, 1), retry_delay_s(RetryPolicy(times=2), 500, 3)
    (1.0, None)
    >>> retry_delay_s(RetryPolicy(), 404, 1) is None
    True
    """
    if status in REST_STATUSES:
        return 0.0 if attempts <= policy.rest_times else None
    if status and status not in TRANSIENT_STATUSES:
        return None
    return policy.backoff_s * 2 ** (attempts - 1) if attempts <= policy.times else None


def retry_after_s(value: str | None, now: float) -> float | None:
    """Return the wait in seconds that a Retry-After header demands (RFC 9110 section 10.2.3); None without a valid one.

    *now* is in seconds since 1970, to which a date is compared.

    >>> retry_after_s("120", 0.0), retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", 0.0), retry_after_s("?", 0.0)
    (120.0, 60.0, None)
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    fields = parsedate_tz(text)  # without a zone, it is GMT
    try:
        return None if fields is None else max(0.0, mktime_tz(fields) - now)
    except (ValueError, OverflowError):
        return None
