"""Parses dates in feeds in any notation: RFC 822, ISO 8601, and human ones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_DATE_CHARS = 100  # longer texts are not dates
_MILLISECONDS = 1e11  # as seconds it would be the year 5138
_CENTURY = 70  # two-digit years: 70 is 1970, 69 is 2069

_COMPACT = re.compile(r"\b(\d{4})(\d\d)(\d\d)(?:t?(\d\d)(\d\d)(\d\d)?(z|[+-]\d\d:?\d\d)?)?\b")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})(?:\s?[-/.月월]\s?(\d{1,2}))?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
_DAY_WORD = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?(?:\s+de)?[\s.,-]+([^\W\d_]{3,})(?:\s+de)?[\s.,-]+(\d{4}|\d\d)(?!\d)"
)
_WORD_DAY = re.compile(r"([^\W\d_]{3,})[\s.,-]+(\d{1,2})(?:st|nd|rd|th)?\b[\s.,-]+(\d{4})(?!\d)")
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d\d)?")

# Beginnings of the names of months in English, German, French, Spanish, Italian, Portuguese, Polish, Russian, Turkish.
_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "jan ene gen sty янв oca",
            "feb fév fev lut фев şub",
            "mar mär mrz maa мар",
            "apr avr abr kwi апр nis",
            "may mai mag mei maj май мая",
            "jun juin giu cze июн haz",
            "jul juil lug lip июл tem",
            "aug aoû aou ago sie авг ağu",
            "sep set wrz сен eyl",
            "oct okt ott out paź окт eki",
            "nov lis ноя kas",
            "dec dez déc dic gru дек ara",
        ),
        1,
    )
    for name in names.split()
}

# Hours east of Greenwich. Ambiguous names have the meaning of RFC 822, or that of the region with the most media.
_ZONES = {
    "wet": 0, "bst": 1, "west": 1, "cet": 1, "met": 1, "cest": 2, "mest": 2, "mesz": 2, "mez": 1, "sast": 2, "eet": 2,
    "eest": 3, "msk": 3, "ist": 5.5, "hkt": 8, "sgt": 8, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12,
    "nzdt": 13, "brt": -3, "art": -3, "est": -5, "edt": -4, "et": -5, "cst": -6, "cdt": -5, "ct": -6, "mst": -7,
    "mdt": -6, "mt": -7, "pst": -8, "pdt": -7, "pt": -8, "ast": -4, "adt": -3, "akst": -9, "akdt": -8, "hst": -10,
}  # fmt: skip

_TIME = re.compile(
    r"(下午|午後|오후)?\s*(?:(?<=\d)t|(?<!\d))(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(?:([ap])\.?m\b\.?\s*)?"
    rf"((?:gmt|utc|z)?\s*[+-]\d{{1,2}}:?(?:\d\d)?(?!\d)|(?:gmt|utc|ut|z|{'|'.join(_ZONES)})\b)?"
)


def seconds_of(text: str) -> float | None:
    """Return the seconds since 1970 of the date *text*; None if it is not a date, or ambiguous.

    A missing time is midnight, a missing or unknown zone UTC.

    >>> seconds_of("Sat, 21 Nov 2026 10:00:00 +0100"), seconds_of("2026-11-21T09:00Z"), seconds_of("21.11.26?")
    (1795251600.0, 1795251600.0, None)
    """
    text = text.strip()[:_DATE_CHARS].lower()
    try:
        return _epoch(text) or _moment(text)
    except (ValueError, OverflowError):  # the 31st of February
        return None


def _epoch(text: str) -> float | None:
    if not text.isdecimal() or not 9 <= len(text) <= 13:
        return None
    number = float(text)
    return number / 1000 if number >= _MILLISECONDS else number


def _moment(text: str) -> float | None:
    compact = _COMPACT.search(text)
    if compact is not None:
        year, month, day, hour, minute, second, zone = compact.groups("0")
        clock = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second))
        date: tuple[int, int, int] | None = (int(year), int(month), int(day))
    else:
        time = _TIME.search(text)
        clock, zone = _clock(time) if time is not None else (timedelta(), "")
        # Unix writes the year after the time, so the date is the text without the time.
        date = _date(text if time is None else f"{text[: time.start()]} {text[time.end() :]}")
    if date is None or clock >= timedelta(days=1, seconds=1):
        return None
    return (datetime(*date, tzinfo=UTC) + clock - _offset(zone)).timestamp()


def _clock(time: re.Match[str]) -> tuple[timedelta, str]:
    afternoon, hour, minute, second, half, zone = time.groups("")
    half = half or (afternoon and "p")
    hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    return timedelta(hours=hours, minutes=int(minute), seconds=int(second or 0)), zone


def _date(text: str) -> tuple[int, int, int] | None:
    if found := _YEAR_FIRST.search(text):
        return int(found[1]), int(found[2]), int(found[3] or 1)
    for found in _DAY_WORD.finditer(text):
        if month := _month(found[2]):
            return _year(found[3]), month, int(found[1])
    for found in _WORD_DAY.finditer(text):
        if month := _month(found[1]):
            return int(found[3]), month, int(found[2])
    if found := _DAY_FIRST.search(text):
        first, second = int(found[1]), int(found[3])
        if second > 12:
            return int(found[4]), first, second
        if found[2] != "/" or first > 12 or first == second:  # 3/4/2026 may be in March or in April
            return int(found[4]), second, first
    return None


def _month(word: str) -> int | None:
    return _MONTHS.get(word[:4]) or _MONTHS.get(word[:3])


def _year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= _CENTURY else 2000)


def _offset(zone: str) -> timedelta:
    found = _OFFSET.search(zone)
    if found is None:
        return timedelta(hours=_ZONES.get(zone, 0))
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return -offset if found[1] == "-" else offset
