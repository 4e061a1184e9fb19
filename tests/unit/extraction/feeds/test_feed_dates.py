"""Dates in the notations of feeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.extraction.feeds.feed_dates import seconds_of

MIDNIGHT = 1795219200.0  # 21 November 2026, UTC
NOON = MIDNIGHT + 43_200


@pytest.mark.parametrize(
    "text",
    [
        "Sat, 21 Nov 2026 12:00:00 GMT",
        "Sat, 21 Nov 2026 12:00:00 +0000",
        "Sat, 21 Nov 2026 14:00:00 +02:00",
        "21 Nov 26 12:00 UT",
        "Sat, 21 November 2026 07:00:00 EST",
        "Saturday, November 21, 2026 - 12:00",
        "Sat Nov 21 12:00:00 2026",
        "Sat Nov 21 13:00:00 CET 2026",
        "12:00 Nov 21, 2026",
        "Nov. 21st 2026, 12:00 p.m.",
        "Sa, 21 Nov 2026 13:00:00 MEZ",
        "Sáb, 21 nov 2026 13:00:00 +0100",
        "21 de noviembre de 2026 12:00",
        "sam., 21 novembre 2026 12:00:00",
        "Сб, 21 ноября 2026 15:00:00 MSK",
        "Sat, 21 Nov 2026 22:00:00 AEST",
        "Sat, 21 Nov 2026 12:00:00 GMT+00:00",
        "Sat,21 Nov 2026 12:00:00 Z",
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:00:00.123456Z",
        "2026-11-21T13:00:00+01:00",
        "2026-11-21T13:00+01",
        "2026-11-21 12:00:00",
        "2026-11-21 12:00:00 UTC",
        "2026-11-21 07:00:00 -0500",
        "2026/11/21 12:00",
        "20261121T120000Z",
        "20261121120000",
        "21.11.2026 12:00",
        "21/11/2026 12:00:00",
        "11/21/2026 12:00 PM",
        "2026年11月21日 12:00",
        "2026년 11월 21일 오후 12:00:00",
        "1795262400",
        "1795262400000",
        "  Sat,\n 21 Nov 2026\t12:00:00 GMT ",
    ],
)
def test_noon_in_many_notations(text: str) -> None:
    assert seconds_of(text) == NOON


@pytest.mark.parametrize("text", ["2026-11-21", "21 Nov 2026", "Sat, 21 Nov 2026", "November 21, 2026", "20261121"])
def test_date_without_a_time_is_midnight(text: str) -> None:
    assert seconds_of(text) == MIDNIGHT


def test_month_without_a_day_is_its_first_day() -> None:
    assert seconds_of("2026-11") == MIDNIGHT - 20 * 86_400


def test_24_hours_and_leap_seconds_are_read() -> None:
    assert seconds_of("2026-11-20T24:00:00Z") == MIDNIGHT
    assert seconds_of("2026-11-20T23:59:60Z") == MIDNIGHT


def test_two_digit_years_belong_to_the_nearest_century() -> None:
    assert seconds_of("01 Jan 70 00:00 GMT") == 0
    assert seconds_of("21 Nov 26 00:00 GMT") == MIDNIGHT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today",
        "3/4/2026",
        "2026-13-01",
        "31 Feb 2026",
        "2026-11-21T25:00:00Z",
        "12:00",
        "21 Foo 2026",
        "4711",
        "0000-00-00",
    ],
)
def test_invalid_and_ambiguous_dates_are_none(text: str) -> None:
    assert seconds_of(text) is None


@given(st.text(max_size=60) | st.text("0123456789:-/. TZ+apm", max_size=40))
@settings(max_examples=40)
def test_texts_never_raise(text: str) -> None:
    assert isinstance(seconds_of(text), float | None)
