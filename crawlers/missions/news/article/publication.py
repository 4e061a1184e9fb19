"""Determines the date of publication of an article, to the precision that the page states or shows to readers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from crawlers.sites.date_notations import Precision, WrittenTime, read_date, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlers.missions.news.article.bylines import PageLines

MAX_READ = 100  # lines that may be dates

_MAX_CHARS = 80  # of a line with a date, and little else
_NEAR = 60  # elements between the headline and its date
_DIGITS = re.compile(r"\d{4}|年|\d\s?[./]\s?\d{1,2}\s?[./]\s?\d\d")

_CHANGED = re.compile(
    r"updat|modif|aktuali|geänd|stand:|mis à jour|actuali|aggiorn|обновл|оновл|güncel|zmien|更新|수정", re.I
)


def shown_date(page: PageLines, languages: Sequence[str]) -> str:
    """Return the date that the *page* shows next to a headline, as written there; empty if there is none.

    On a page without headlines it is the first date. Lines that say that the page was changed then are ignored. See
    `read_date` for *languages*.
    """
    dates: list[tuple[int, str]] = []
    tried = 0
    for line in page.lines:
        if _CHANGED.search(line.text):
            continue
        for written in (line.node.get("datetime", "") if line.node.tag == "time" else "", line.text):
            if tried < MAX_READ and len(written) <= _MAX_CHARS and _DIGITS.search(written):
                tried += 1
                found = read_date(written, languages)
                if found is not None and found.precision >= Precision.DAY:
                    dates.append((page.distance(line), written))
                    break
    distance, written = min(dates, key=lambda one: one[0], default=(0, ""))
    return written if distance <= _NEAR else ""


EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()  # no web page is older
DAY_S = 86400.0  # by which a time without a zone may be ahead

_FARTHEST_ZONES = (timedelta(hours=-11), timedelta(hours=13))  # with people: Samoa, and New Zealand in summer
_FORMATS = {Precision.MONTH: "%Y-%m", Precision.DAY: "%Y-%m-%d", Precision.TIME: "%Y-%m-%d"}
_ZONES = range(-12 * 2, 14 * 2 + 1)  # in half hours; zones at quarter hours are rare, and would cause errors


def publication(
    declared: Iterable[str],
    now: float,
    languages: Sequence[str] = (),
    shown: Callable[[], str] = str,
) -> tuple[float, str] | None:
    """Return the date of publication in seconds since 1970, and in ISO 8601.

    The result is an instant with its zone, or a day if no zone is known. The first valid date in *declared*, from 1990
    to *now*, is used; the others may refine it with the time of the day, or the publisher's zone. A time without a
    zone counts as UTC in the seconds. See `read_date` for *languages*.

    If the instant is in UTC, the day is that of the date that *shown* returns, if it is that of the instant in some
    zone: then it is the publisher's.

    >>> publication(["2024-05-03T16:19:08Z", "2024-05-03T18:19:08+0200"], 2e9)
    (1714753148.0, '2024-05-03T18:19:08+02:00')
    >>> publication(["2024-05-03", "2023-01-01"], 2e9)
    (1714694400.0, '2024-05-03')
    """
    times = _read(declared, now, languages)
    best = next(times, None)
    if best is None:
        return None
    for other in times:
        best = _more_exact(best, other)
    when, precision = best
    if when.tzinfo is not None and not when.utcoffset():
        for other in _read([shown()], now, languages):
            day = other.when.date()
            if day != when.date() and _may_be_on(when, day):
                return seconds(when), day.isoformat()
    if precision < Precision.TIME or when.tzinfo is None:
        return seconds(when), when.strftime(_FORMATS[precision])
    return seconds(when), when.isoformat(timespec="seconds")


def _read(declared: Iterable[str], now: float, languages: Sequence[str]) -> Iterator[WrittenTime]:
    for raw in declared:
        time = _in_range(read_date(raw, languages), now)
        if time is not None:
            yield time


def _in_range(time: WrittenTime | None, now: float) -> WrittenTime | None:
    try:
        is_date = time is not None and time.precision > Precision.YEAR and EARLIEST <= seconds(time.when) <= now + DAY_S
        return time if is_date else None
    except OverflowError:  # the year 9999 in a zone behind UTC
        return None


def _may_be_on(when: datetime, day: date) -> bool:
    """Return whether *when*, in UTC, may be a time of *day* at the publisher's."""
    return any((when + zone).date() == day for zone in _FARTHEST_ZONES)


def _more_exact(one: WrittenTime, other: WrittenTime) -> WrittenTime:
    """Return *one* with the time and the zone of *other*, if both mean the same."""
    when, also = one.when, other.when
    if one.precision < Precision.TIME:
        shown = _FORMATS[one.precision]
        return other if other.precision > one.precision and also.strftime(shown) == when.strftime(shown) else one
    if other.precision < Precision.TIME or when.utcoffset():
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
    return one._replace(when=local.replace(tzinfo=timezone(ahead))) if not rest and half_hours in _ZONES else one
