"""Failed downloads are retried after a delay, or not at all.

Every reason of a failed download has a class, and texts of servers make no further ones.
"""

import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from crawlers.pages.retries import REST_STATUSES, RetryPolicy, error_class, retry_after_s, retry_delay_s
from crawlers.reasons import ErrorClass

POLICY = RetryPolicy(times=3, rest_times=5, backoff_s=2.0)


@pytest.mark.parametrize("status", [0, 408, 425, 500, 502, 504, 520, 521, 522, 523, 524])
def test_transient_errors_are_retried_after_a_delay_that_doubles(status):
    assert [retry_delay_s(POLICY, status, attempts) for attempts in range(1, 5)] == [2.0, 4.0, 8.0, None]


@pytest.mark.parametrize("status", sorted(REST_STATUSES))
def test_requested_rests_allow_more_retries_without_a_further_delay(status):
    assert [retry_delay_s(POLICY, status, attempts) for attempts in (1, 5, 6)] == [0.0, 0.0, None]


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 410, 451, 501])
def test_permanent_errors_are_not_retried(status):
    assert retry_delay_s(POLICY, status, 1) is None


def test_there_are_two_retries_by_default_and_ten_after_requested_rests():
    assert [retry_delay_s(RetryPolicy(), 500, attempts) for attempts in (1, 2, 3)] == [1.0, 2.0, None]
    assert [retry_delay_s(RetryPolicy(), 429, attempts) for attempts in (10, 11)] == [0.0, None]


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
        ("nan", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799.0),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Mon, 99 Foo 2025 00:00:00 GMT", None),
    ],
)
def test_retry_after_in_seconds(value, seconds):
    assert retry_after_s(value, 0.0) == seconds


def test_retry_after_as_a_date_counts_from_now_and_is_never_negative():
    then = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    header = format_datetime(then, usegmt=True)
    assert retry_after_s(header, then.timestamp() - 90) == 90.0
    assert retry_after_s(header, then.timestamp() + 90) == 0.0


NOVEMBER_2026 = 1_795_000_000.0  # 2026-11-18 11:06:40 GMT


@pytest.fixture(params=["UTC0", "XXX-9", "XXX+8"])
def _local_time(monkeypatch, request):
    """The time zone of the machine: that of UTC, ahead of it and behind it."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_local_time")
@pytest.mark.parametrize(
    "date",
    [
        "Wed, 18 Nov 2026 11:08:40 GMT",
        "Wednesday, 18-Nov-26 11:08:40 GMT",
        "Wed Nov 18 11:08:40 2026",
        "Wed, 18 Nov 2026 11:08:40",
        "Wed, 18 Nov 2026 11:08:40 -0000",
        "18 Nov 2026 11:08:40 UTC",
        "Wed, 18 Nov 2026 12:08:40 +0100",
    ],
)
def test_dates_of_retry_after_are_gmt_wherever_the_crawler_runs(date):
    assert retry_after_s(date, NOVEMBER_2026) == 120.0


def test_leap_second_is_a_time():
    assert retry_after_s("Thu, 31 Dec 2026 23:59:60 GMT", NOVEMBER_2026) == retry_after_s(
        "Fri, 01 Jan 2027 00:00:00 GMT", NOVEMBER_2026
    )


@pytest.mark.parametrize(("digits", "year"), [("26", 2026), ("68", 2068), ("76", 1976), ("94", 1994)])
def test_two_digits_of_a_year_mean_at_most_fifty_years_ahead(digits, year):
    now = datetime(2026, 11, 18, tzinfo=UTC).timestamp()
    ahead = datetime(year, 12, 1, tzinfo=UTC).timestamp() - now
    assert retry_after_s(f"Tuesday, 01-Dec-{digits} 00:00:00 GMT", now) == max(0.0, ahead)


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (429, "status 429", ErrorClass.OVERLOADED),
        (503, "status 503", ErrorClass.OVERLOADED),
        (500, "status 500", ErrorClass.SERVER_ERROR),
        (999, "status 999", ErrorClass.SERVER_ERROR),
        (404, "status 404", ErrorClass.CLIENT_ERROR),
        (204, "status 204", ErrorClass.OTHER_STATUS),
        (301, "redirect_without_location 301", ErrorClass.REDIRECT),
        (302, "redirect_to_other_site http://b.test/timeout", ErrorClass.REDIRECT),
        (302, "many_redirects 20", ErrorClass.REDIRECT),
        (200, "content_type timeout", ErrorClass.CONTENT_TYPE),
        (200, "no_content_type", ErrorClass.CONTENT_TYPE),
        (200, "too_large_decompressed", ErrorClass.TOO_LARGE),
        (0, "too_large", ErrorClass.TOO_LARGE),
        (0, "timeout", ErrorClass.TIMEOUT),
        (0, "host_not_found", ErrorClass.HOST_NOT_FOUND),
        (0, "connection_refused", ErrorClass.CONNECTION_REFUSED),
        (0, "connection_failed", ErrorClass.CONNECTION_FAILED),
        (0, "closed_in_body", ErrorClass.CONNECTION_FAILED),
        (0, "not_http", ErrorClass.BAD_RESPONSE),
        (0, "error RuntimeError status 503", ErrorClass.OTHER),
        (0, "long_headers 256", ErrorClass.TOO_LARGE),
        (0, "many_headers 4096", ErrorClass.TOO_LARGE),
        (0, "rendering_timeout 30", ErrorClass.RENDERING),
        (0, "spider_failed timeout", ErrorClass.OTHER),
        (0, "", ErrorClass.OTHER),
    ],
)
def test_class_is_that_of_status_and_reason(status, reason, kind):
    assert error_class(status, reason) is kind
