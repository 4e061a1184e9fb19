"""Failed downloads are retried after a delay, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from crawlers.algorithms.retries import REST_STATUSES, TRANSIENT_STATUSES, RetryPolicy, retry_after_s, retry_delay_s

POLICY = RetryPolicy(times=3, rest_times=5, backoff_s=2.0)


@pytest.mark.parametrize("status", [0, 408, 425, 500, 502, 504, 520, 521, 522, 523, 524])
def test_transient_errors_are_retried_after_a_delay_that_doubles(status: int) -> None:
    assert [retry_delay_s(POLICY, status, attempts) for attempts in range(1, 5)] == [2.0, 4.0, 8.0, None]


@pytest.mark.parametrize("status", sorted(REST_STATUSES))
def test_requested_rests_allow_more_retries_without_a_further_delay(status: int) -> None:
    assert [retry_delay_s(POLICY, status, attempts) for attempts in (1, 5, 6)] == [0.0, 0.0, None]


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 410, 451, 501])
def test_permanent_errors_are_not_retried(status: int) -> None:
    assert retry_delay_s(POLICY, status, 1) is None


def test_there_are_two_retries_by_default_and_ten_after_requested_rests() -> None:
    assert [retry_delay_s(RetryPolicy(), 500, attempts) for attempts in (1, 2, 3)] == [1.0, 2.0, None]
    assert [retry_delay_s(RetryPolicy(), 429, attempts) for attempts in (10, 11)] == [0.0, None]


def test_nothing_is_retried_if_retries_are_disabled() -> None:
    assert retry_delay_s(RetryPolicy(times=0, rest_times=0), 500, 1) is None
    assert retry_delay_s(RetryPolicy(times=0, rest_times=0), 429, 1) is None


def test_every_status_of_rest_is_transient() -> None:
    assert REST_STATUSES < TRANSIENT_STATUSES


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("²", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 400, 999_999_999.0),
        ("Mon, 99 Foo 2025 00:00:00 GMT", None),
    ],
)
def test_retry_after_in_seconds(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, 0.0) == seconds


def test_retry_after_as_a_date_counts_from_now_and_is_never_negative() -> None:
    then = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    header = format_datetime(then, usegmt=True)
    assert retry_after_s(header, then.timestamp() - 90) == 90.0
    assert retry_after_s(header, then.timestamp() + 90) == 0.0
