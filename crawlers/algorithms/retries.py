"""Decides when a failed request is repeated."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import NamedTuple

TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
REST_STATUSES = frozenset({429, 503})  # the host is overloaded (RFC 6585 section 4, RFC 9110 section 15.6.4)


class RetryPolicy(NamedTuple):
    """How often a URL is requested again. A refusal because of load does not concern the page, so it may be
    repeated more often than an error."""

    times: int = 2  # after errors
    rest_times: int = 10  # after 429 and 503
    backoff_s: float = 1.0  # before the first repetition; doubles


def retry_delay_s(policy: RetryPolicy, status: int, attempts: int) -> float | None:
    """Return the seconds until the next request for the URL, or None if it has failed.

    *status* is 0 if there was no response; *attempts* includes this one. For `REST_STATUSES` the host's own
    delay decides.

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
    """Return the seconds of a Retry-After header (RFC 9110 section 10.2.3); None if there is none.

    >>> retry_after_s("120", 0.0), retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", 0.0), retry_after_s("?", 0.0)
    (120.0, 60.0, None)
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
