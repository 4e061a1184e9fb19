"""Parses dates in any notation: RFC 822, ISO 8601, and human ones in the languages of CLDR."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from crawlers.sites.calendars import gregorian, is_persian, without_eras
from crawlers.sites.month_names import ENGLISH, folded, with_months

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DATE_CHARS = 100  # longer texts are not dates
_MILLISECONDS = 1e11  # as seconds it would be the year 5138
_CENTURY = 70  # two-digit years: 70 is 1970, 69 is 2069

_COMPACT = re.compile(r"\b(\d{4})(\d\d)(\d\d)(?:t?(\d\d)(\d\d)(\d\d)?(z|[+-]\d\d(?::?\d\d)?)?)?\b")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})(?:\s?[-/.月월]\s?(\d{1,2}))?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
_SHORT = re.compile(r"(?<![\d.])(\d{1,2})([./])\s?(\d{1,2})\2\s?(\d\d)(?![\d:.])")
_YEAR = re.compile(r"(?:19|2[01])\d\d")  # alone: the shortest date of W3C-DTF

_MONTH_FIRST = frozenset(["en", "ak", "ee", "iu", "ks", "om", "or", "ti", "xh", "zu"])  # of some country, in CLDR
_SHORT_YEAR_FIRST = frozenset(
    ["en", "hu", "ja", "ko", "zh", "lt", "mn", "fa", "ps", "ne", "si", "sv", "eu", "eo", "ur", "af"]
)

# Vietnamese and Mongolian months have numbers.
_NUMBERED = re.compile(r"(?:(?<!\w)(?:thang|thg)\.?\s?(\d{1,2})(?!\d)|(?<!\d)(\d{1,2})\s?-\s?р сар\w*)")

# Dates with the name of a month, which `with_months` wrote as <5>. Between day and month may be the end of an ordinal
# number and a preposition: 3rd of <5>, 3 de <5>, 3ê <5>; around the year the word for it: 2024. gada, ค.ศ. 2024.
_D, _M, _Y = r"(?<!\d)(?P<day>\d{1,2})", r"<(?P<month>\d{1,2})>", r"(?P<year>\d{4})(?!\d)"
_OF = r"-?[^\W\d<>]{0,3}[\s.,'’º°ª/–-]{0,3}(?:[^\W\d<>]{1,4}[\s.'’]{1,2})?"
_WORDED = [
    re.compile(pattern)
    for pattern in (
        rf"{_D}{_OF}{_M}[^\d<>]{{0,16}}{_Y}",
        rf"{_M}[^\d<>]{{0,6}}{_D}[^\W\d<>]{{0,2}}[\s.,،/-]{{1,3}}{_Y}",
        rf"(?<!\d){_Y}[^\d<>]{{0,8}}{_M}[^\d<>]{{0,8}}(?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_Y}[^\d<>]{{0,8}}{_D}{_OF}{_M}",
        rf"{_D}{_OF}{_M}[\s.,'’-]{{1,3}}(?P<year>\d\d)(?!\d|[:.]\d)",
    )
]
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d\d)?")

# Hours east of Greenwich. Ambiguous names have the meaning of RFC 822, or that of the region with the most media.
_ZONES = {
    "wet": 0, "bst": 1, "west": 1, "cet": 1, "met": 1, "cest": 2, "mest": 2, "mesz": 2, "mez": 1, "sast": 2, "eet": 2,
    "eest": 3, "msk": 3, "ist": 5.5, "hkt": 8, "sgt": 8, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12,
    "nzdt": 13, "brt": -3, "art": -3, "est": -5, "edt": -4, "et": -5, "cst": -6, "cdt": -5, "ct": -6, "mst": -7,
    "mdt": -6, "mt": -7, "pst": -8, "pdt": -7, "pt": -8, "ast": -4, "adt": -3, "akst": -9, "akdt": -8, "hst": -10,
    "at": -2,  # the Azores
}  # fmt: skip

_TIME = re.compile(
    r"(下午|午後|오후)?\s*(?:(?<=\d)t|(?<![\d+]))(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(?:([ap])\.?m\b\.?\s*)?"
    rf"((?:gmt|utc|z)?\s*[+-]\d{{1,2}}:?(?:\d\d)?(?!\d)|(?:gmt|utc|ut|z|{'|'.join(_ZONES)})\b(?!(?<=at)\s+[^\W\d]))?"
)


class Precision(IntEnum):
    """How much of a time is known."""

    YEAR = 1
    MONTH = 2
    DAY = 3
    TIME = 4


class WrittenTime(NamedTuple):
    """A time that somebody wrote: *when* has a zone if one was given, and is the first moment of its *precision*."""

    when: datetime
    precision: Precision


def seconds_of(text: str, languages: Sequence[str] = ()) -> float | None:
    """Return the seconds since 1970 of the date *text*; None if it is not a date, or ambiguous.

    A missing time is midnight, a missing or unknown zone UTC. See `read_date` for *languages*.

    >>> seconds_of("Sat, 21 Nov 2026 10:00:00 +0100"), seconds_of("2026-11-21T09:00Z"), seconds_of("21.11.26?")
    (1795251600.0, 1795251600.0, None)
    """
    found = read_date(text, languages)
    try:
        return None if found is None else seconds(found.when)
    except OverflowError:  # the year 1 in a zone ahead of UTC
        return None


def seconds(when: datetime) -> float:
    """Return the seconds since 1970 of *when*, in UTC if it has no zone."""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def read_date(text: str, languages: Sequence[str] = ()) -> WrittenTime | None:
    """Return the time in *text*; None if there is none, or an ambiguous one. Longer texts are cut.

    *languages* (ISO 639-1) decide what names of months mean: that of the text, then those of its country, see
    `languages_of`; then English, then names that mean one month in all languages.

    >>> read_date("3. listopada 2024.", ["hr"]).when.month, read_date("3 listopada 2024", ["pl"]).when.month
    (10, 11)
    >>> read_date("3 listopada 2024"), read_date("2026-11-21 10:61:55")
    (None, None)
    """
    text = without_eras(folded(text.strip()[:_DATE_CHARS]))
    try:
        return _epoch(text) or _moment(text, languages)
    except (ValueError, OverflowError):  # the 31st of February
        return None


def _epoch(text: str) -> WrittenTime | None:
    if not text.isdecimal() or len(text) not in (9, 10, 13):
        return None
    number = float(text)
    number = number / 1000 if number >= _MILLISECONDS else number
    return WrittenTime(datetime.fromtimestamp(number, UTC), Precision.TIME)


def _moment(text: str, languages: Sequence[str]) -> WrittenTime | None:
    if _YEAR.fullmatch(text):
        return WrittenTime(datetime(int(text), 1, 1), Precision.YEAR)
    clock: timedelta | None = None
    zone = ""
    if (compact := _COMPACT.search(text)) and compact[4]:
        clock, zone = _duration(compact[4], compact[5], compact[6]), compact[7] or ""
    elif shown := _TIME.search(text):
        clock, zone = _clock(shown)
        # Unix writes the year after the time, so the date is the text without the time.
        text = f"{text[: shown.start()]} {text[shown.end() :]}"
    date = _date(text, languages)
    if date is None:
        return None
    year, month, day = date
    persian = any(map(is_persian, languages))
    when = datetime.combine(gregorian(year, month, day or 1, is_persian=persian), time())
    if clock is None:
        return WrittenTime(when, Precision.DAY if day else Precision.MONTH)
    offset = _offset(zone)
    zoned = when + clock if offset is None else (when + clock).replace(tzinfo=timezone(offset) if offset else UTC)
    return WrittenTime(zoned, Precision.TIME)


def _clock(found: re.Match[str]) -> tuple[timedelta, str]:
    afternoon, hour, minute, second, half, zone = found.groups("")
    half = half or (afternoon and "p")
    hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    return _duration(hours, minute, second), zone


def _duration(hour: str | int, minute: str, second: str | None) -> timedelta:
    """Return the time since midnight; 24:00 and leap seconds exist. Raises `ValueError` for others that do not."""
    duration = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second or 0))
    if int(minute) >= 60 or int(second or 0) > 60 or duration > timedelta(days=1):
        raise ValueError("no time of the day")
    return duration


def _date(text: str, languages: Sequence[str]) -> tuple[int, int, int] | None:
    """Return year, month and day of *text*; the day is 0 if there is none."""
    if found := _COMPACT.search(text) or _YEAR_FIRST.search(text):
        return int(found[1]), int(found[2]), int(found[3] or 0)
    for worded in _with_months(text, languages):
        for pattern in _WORDED:
            for found in pattern.finditer(worded):
                return _year(found["year"]), int(found["month"]), int(found["day"])
    if found := _DAY_FIRST.search(text):
        first, second = int(found[1]), int(found[3])
        if second > 12:
            return int(found[4]), first, second
        if found[2] != "/" or first > 12 or first == second or _is_day_first(languages):
            return int(found[4]), second, first
    if (
        languages
        and _SHORT_YEAR_FIRST.isdisjoint(languages)
        and _is_day_first(languages)
        and (found := _SHORT.search(text))
    ):
        return _year(found[4]), int(found[3]), int(found[1])
    return None


def _is_day_first(languages: Sequence[str]) -> bool:
    """Return whether 3/4/2026 is certainly in April; in some English-speaking countries it is in March."""
    of_country = languages[1:] or languages
    return bool(of_country) and _MONTH_FIRST.isdisjoint(of_country)


def _with_months(text: str, languages: Sequence[str]) -> Iterator[str]:
    """Yield *text* with the numbers of months, by its languages, by English, and by all languages."""
    text = _NUMBERED.sub(lambda found: f"<{int(found[1] or found[2])}>", text)
    if languages:
        yield with_months(text, languages)
    yield with_months(text, ENGLISH)
    yield with_months(text, None)


def _year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= _CENTURY else 2000)


def _offset(zone: str) -> timedelta | None:
    """Return the offset of *zone* from UTC; None if there is no zone."""
    found = _OFFSET.search(zone)
    if found is None:
        hours = _ZONES.get(zone, 0)
        return timedelta(hours=hours) if zone.strip("0") else None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return -offset if found[1] == "-" else offset
