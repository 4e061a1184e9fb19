from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawlers.extraction.article.publication import publication

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def said(*raw):
    found = publication(raw, NOW)
    return found and found[1]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("2024-05-03T18:19:08+02:00", "2024-05-03T18:19:08+02:00"),
        ("2024-05-03T18:19:08.123Z", "2024-05-03T18:19:08+00:00"),
        ("2024-05-03 18:19 +0530", "2024-05-03T18:19:00+05:30"),
        ("20240503T181908-03", "2024-05-03T18:19:08-03:00"),
        ("Fri, 03 May 2024 18:19:08 GMT", "2024-05-03T18:19:08+00:00"),
        ("1714753148", "2024-05-03T16:19:08+00:00"),
        ("1714753148000", "2024-05-03T16:19:08+00:00"),
        ("2024-05-03T18:19:08", "2024-05-03"),
        (" 2024-05-03 ", "2024-05-03"),
        ("3 de mayo de 2024", "2024-05-03"),
        ("3 мая 2024 г., 14:30", "2024-05-03"),
    ],
)
def test_dates_are_read_with_their_zone(raw, expected):
    assert said(raw) == expected


@pytest.mark.parametrize(
    "raw", ["", "soon", "2024-13-03", "2024-02-30T00:00Z", "1985-01-01", "2026-02-01", "9999-12-31"]
)
def test_invalid_and_impossible_dates_are_none(raw):
    assert said(raw) is None


def test_seconds_are_the_instant():
    assert publication(["2024-05-03T18:19:08+02:00"], NOW) == (1714753148.0, "2024-05-03T18:19:08+02:00")
    assert publication(["2024-05-03"], NOW) == (1714694400.0, "2024-05-03")


def test_first_date_is_used():
    assert said("rubbish", "2024-05-03", "2023-01-01T10:00:00Z") == "2024-05-03"


@pytest.mark.parametrize(
    "other",
    [
        "2024-05-04T00:30:59+02:00",  # the same instant
        "2024-05-04 00:30:59",  # the publisher's clock
    ],
)
def test_the_zone_of_the_publisher_is_found(other):
    assert said("2024-05-03T22:30:59Z", other) == "2024-05-04T00:30:59+02:00"


def test_zone_is_not_derived_from_different_times():
    assert said("2024-05-03T22:30:59Z", "2024-05-03 20:17:00") == "2024-05-03T22:30:59+00:00"
    assert said("2024-05-03T22:30:59Z", "2024-05-01T10:00:00+02:00") == "2024-05-03T22:30:59+00:00"


def test_a_time_without_zone_gets_it_from_its_instant():
    assert said("2024-05-04T00:30:59", "2024-05-03T22:30:59Z") == "2024-05-04T00:30:59+02:00"
    assert said("2024-05-04T00:30:59", "2024-05-04T00:30:59+02:00") == "2024-05-04T00:30:59+02:00"


def test_a_day_gets_its_time():
    assert said("2024-05-03", "2024-05-03T22:30:59Z") == "2024-05-03T22:30:59+00:00"
