"""Determines the date of publication of an article, to the precision that the page gives."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from crawlers.extraction.feeds.feed_dates import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()  # no web page is older
DAY_S = 86400.0  # by which a time without a zone may be ahead

_ISO = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T\s]+(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
    re.I,
)
_MAIL = re.compile(r"[A-Z][a-z]{2},? \d\d? [A-Z][a-z]{2} \d{4} ")
_EPOCH = re.compile(r"\A\d{10}(?:\d{3})?\Z")
_ZONES = range(-12 * 2, 14 * 2 + 1)  # in half hours; zones at quarter hours are rare, and would cause errors


def publication(declared: Iterable[str], now: float) -> tuple[float, str] | None:
    """Return the date of publication in seconds since 1970, and in ISO 8601.

    The result is an instant with its zone, or a day if no zone is known. The first valid date in *declared*, from 1990
    to *now*, is used; the others may refine it with the time of the day, or the publisher's zone. A time without a
    zone counts as UTC in the seconds.

    >>> publication(["2024-05-03T16:19:08Z", "2024-05-03T18:19:08+0200"], 2e9)
    (1714753148.0, '2024-05-03T18:19:08+02:00')
    >>> publication(["2024-05-03", "2023-01-01"], 2e9)
    (1714694400.0, '2024-05-03')
    """
    times = [time for raw in declared if (time := _in_range(read_time(raw), now)) is not None]
    if not times:
        return None
    best = times[0]
    for other in times[1:]:
        best = _more_exact(best, other)
    when, is_day = best
    if is_day or when.tzinfo is None:
        return _seconds(when), when.date().isoformat()
    return _seconds(when), when.isoformat(timespec="seconds")


def read_time(raw: str) -> tuple[datetime, bool] | None:
    """Return the time that *raw* names, and whether it is only a day; None if it names none."""
    raw = raw.strip()
    try:
        if _EPOCH.match(raw):
            return datetime.fromtimestamp(float(raw[:10]), UTC), False
        if _MAIL.match(raw):
            return parsedate_to_datetime(raw), False
        found = _ISO.match(raw)
        if found is None:
            seconds = seconds_of(raw)
            return (
                None if seconds is None else (datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), ":" not in raw)
            )
        year, month, day, hour, minute, second, zone = found.groups()
        when = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        return when.replace(tzinfo=_zone(zone)) if zone else when, hour is None
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> timezone:
    if name[0] not in "+-":
        return UTC
    return timezone(int(name[0] + "1") * timedelta(hours=int(name[1:3]), minutes=int(name[3:].lstrip(":") or 0)))


def _seconds(when: datetime) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _in_range(time: tuple[datetime, bool] | None, now: float) -> tuple[datetime, bool] | None:
    try:
        return time if time is not None and EARLIEST <= _seconds(time[0]) <= now + DAY_S else None
    except OverflowError:  # the year 9999 in a zone behind UTC
        return None


def _more_exact(one: tuple[datetime, bool], other: tuple[datetime, bool]) -> tuple[datetime, bool]:
    """Return *one* with the time and the zone of *other*, if both mean the same."""
    when, is_day = one
    also, is_day_too = other
    if is_day:
        return other if also.date() == when.date() and not is_day_too else one
    if is_day_too or when.utcoffset():
        return one
    if when.tzinfo is not None and also.utcoffset():
        return other if also == when else one  # machines write UTC; the other zone is the local one
    if (when.tzinfo is None) == (also.tzinfo is None):
        return one
    local, instant = (when, also) if when.tzinfo is None else (also, when)
    if instant.utcoffset():
        return other if instant.replace(tzinfo=None) == local else one
    ahead = local.replace(tzinfo=UTC) - instant
    half_hours, rest = divmod(ahead, timedelta(minutes=30))
    return (local.replace(tzinfo=timezone(ahead)), False) if not rest and half_hours in _ZONES else one
