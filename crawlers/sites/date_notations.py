"""Parses dates in any notation: RFC 822, ISO 8601, and human ones in the languages of CLDR.

Newspapers use other calendars beside the Gregorian one. Names of months are those of CLDR (month_names.json, by `python
-m bench.quality.month_names`). A name may mean different months: Croatian "listopada" is October, Polish "listopada"
November. So the language of the text decides; without it, such a name means no month.
"""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import IntEnum
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BUDDHIST = range(2400, 2700)  # years: 543 more than Gregorian ones
_BUDDHIST_YEARS = 543
_SOLAR_HIJRI = range(1300, 1500)
_PERSIAN = frozenset(["fa", "ps", "ku"])  # languages; Arabic papers write years of the lunar Hijri calendar
_FIRST_PERSIAN = 13  # the number of the first of the Persian months below, which follow the Gregorian ones

# The names of Iran, and those of Afghanistan, without optional marks.
PERSIAN_MONTHS = {
    name: _FIRST_PERSIAN + month
    for month, names in enumerate(
        (
            "فروردین حمل", "اردیبهشت ثور", "خرداد جوزا", "تیر سرطان", "مرداد امرداد اسد", "شهریور سنبله",
            "مهر میزان", "ابان عقرب", "اذر قوس", "دی جدی", "بهمن دلو", "اسفند حوت",
        )
    )
    for name in names.split()
}  # fmt: skip

# Years of reigns: the year before the first one.
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_ERA = re.compile(rf"({'|'.join(_ERAS)})\s?(元|\d{{1,3}})\s?年")


def without_eras(text: str) -> str:
    """Return *text* with Gregorian years in place of years of Japanese emperors and of the Republic of China.

    >>> without_eras("令和6年5月3日")
    '2024年5月3日'
    """
    return _ERA.sub(lambda era: f"{_ERAS[era[1]] + (1 if era[2] == '元' else int(era[2]))}年", text)


def is_persian(language: str) -> bool:
    """Return whether pages in *language* write dates of the Persian calendar."""
    return language in _PERSIAN


def gregorian(year: int, month: int, day: int, *, is_persian: bool = False) -> date:
    """Return the Gregorian date. A *month* above 12 is one of `PERSIAN_MONTHS`.

    With *is_persian* years from 1300 to 1499 are those of the Persian calendar. Raises `ValueError` for a date that
    does not exist, or is one of the lunar calendar.

    >>> gregorian(2567, 5, 3), gregorian(1403, 14, 14), gregorian(1403, 2, 14, is_persian=True)
    (datetime.date(2024, 5, 3), datetime.date(2024, 5, 3), datetime.date(2024, 5, 3))
    """
    if year in _BUDDHIST:
        year -= _BUDDHIST_YEARS
    if month >= _FIRST_PERSIAN:
        return _from_persian(year, month - _FIRST_PERSIAN + 1, day)
    if year in _SOLAR_HIJRI:
        if not is_persian:
            raise ValueError(f"a year of a lunar calendar: {year}")
        return _from_persian(year, month, day)
    return date(year, month, day)


def _from_persian(year: int, month: int, day: int) -> date:
    """Return the Gregorian date of a Persian one.

    Leap years follow the cycle of 33 years, which agrees with the astronomical calendar from 1206 to 1498 (1827 to
    2119).

    References
    ----------
    .. [1] Borkowski (1996), The Persian calendar for 3000 years, Earth, Moon, and Planets 74.
    """
    if not (year in _SOLAR_HIJRI and 1 <= month <= 12):
        raise ValueError(f"no Persian month: {year}-{month}")
    length = 31 if month <= 6 else 30 if month <= 11 or _is_leap(year) else 29
    if not 1 <= day <= length:
        raise ValueError(f"no Persian date: {year}-{month}-{day}")
    leap_days = sum(map(_is_leap, range(_SOLAR_HIJRI.start, year)))
    days = 365 * (year - _SOLAR_HIJRI.start) + leap_days + 31 * min(month - 1, 6) + 30 * max(month - 7, 0) + day - 1
    return date(1921, 3, 21) + timedelta(days)


def _is_leap(year: int) -> bool:
    return year % 33 in (1, 5, 9, 13, 17, 22, 26, 30)


TABLE = "month_names.json"
ENGLISH = ("en",)  # machines write English months in texts of any language

_MIN_PREFIX = 3  # letters: some programs abbreviate names otherwise than CLDR
_MAX_WORDS = 5  # of a name
_CODE_LETTERS = 2  # of a language in ISO 639-1
_COUNTRIES = {"uk": "gb"}  # top-level domains that differ from ISO 3166
# Top-level domains that are sold to everybody, so that they tell nothing about the language.
_GENERIC = re.compile("a[cdims]|bz|c[cdo]|dj|fm|gg|i[mo]|l[ay]|m[es]|nu|s[chrtu]|t[kov]|vc|ws")

# Marks that only some writers set: accents, Arabic vowels and hamza, lengthening; and invisible signs.
_OPTIONAL = re.compile("[\u0300-\u036f\u0640\u064b-\u0655\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_VARIANTS = str.maketrans({"ı": "i", "ي": "ی", "ى": "ی", "ك": "ک", "<": " ", ">": " "})
_RUN = re.compile(r"[^\d\s,;:!?/()\[\]|<>«»\"“”„'’`ʼ–—_~+=،؛。、・।-]+")


class _Table(NamedTuple):
    names: Mapping[str, Mapping[int, frozenset[str]]]  # of languages, by the folded name and the month
    countries: Mapping[str, tuple[str, ...]]  # languages by ISO 3166


@cache
def _table() -> _Table:
    text = resources.files(__package__).joinpath(TABLE).read_text("utf-8")
    table = json.loads(text)
    names = {
        name: {int(month): frozenset(languages.split()) for month, languages in months.items()}
        for name, months in table["names"].items()
    }
    return _Table(names, {country: tuple(languages.split()) for country, languages in table["countries"].items()})


def folded(text: str) -> str:
    """Return *text* in lower case and ASCII digits, without accents and other optional marks.

    >>> folded("٣ MÄRZ ２０２４")
    '3 marz 2024'
    """
    if text.isascii():
        return text.lower().replace("<", " ").replace(">", " ")
    text = _OPTIONAL.sub("", unicodedata.normalize("NFKD", text.casefold())).translate(_VARIANTS)
    digits = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return unicodedata.normalize("NFC", digits)  # syllables of Hangul again


def name_key(text: str) -> str:
    """Return the key of the *folded* name of a month in the table: its words without punctuation."""
    return " ".join(found[0].replace(".", "") for found in _RUN.finditer(text))


def languages_of(declared: str, url: str) -> tuple[str, ...]:
    """Return the languages that dates at *url* may be in: that of the text, then all of the country, if it is known.

    That of the text is the *declared* one, else the first of the country.

    >>> languages_of("en-US", "https://example.hr/1"), languages_of("", "https://example.ca/1")
    (('en', 'hr'), ('en', 'en', 'fr'))
    >>> languages_of("en", "https://example.co/1"), languages_of("", "https://example.org/1")
    (('en',), ())
    """
    label = (urlsplit(url).hostname or "").rpartition(".")[2]
    spoken = () if _GENERIC.fullmatch(label) else _table().countries.get(_COUNTRIES.get(label, label), ())
    code = declared.strip().lower().replace("_", "-").partition("-")[0]
    return (code, *spoken) if len(code) == _CODE_LETTERS else (*spoken[:1], *spoken)


def with_months(text: str, languages: Sequence[str] | None) -> str:
    """Return the *folded* text with each name of a month in *languages* replaced by its number: "3 <5> 2024".

    With None, names that mean one month in all languages are replaced. Persian months are numbered as
    in `PERSIAN_MONTHS`.
    """
    runs = list(_RUN.finditer(text))
    keys = [run[0].replace(".", "") for run in runs]
    parts = []
    end = first = 0
    while first < len(runs):
        for last in range(min(len(runs), first + _MAX_WORDS), first, -1):
            month = _month(" ".join(keys[first:last]), None if languages is None else tuple(languages))
            if month:
                parts += [text[end : runs[first].start()], f"<{month}>"]
                end = runs[last - 1].end()
                first = last
                break
        else:
            first += 1
    return "".join([*parts, text[end:]])


@lru_cache(maxsize=4096)
def _month(key: str, languages: tuple[str, ...] | None) -> int:
    """Return the month that *key* means; 0 if none, or several."""
    known = _table().names.get(key, {})
    if languages is None:
        return next(iter(known)) if len(known) == 1 and len(key) >= _MIN_PREFIX else 0
    for language in languages:
        if is_persian(language) and key in PERSIAN_MONTHS:
            return PERSIAN_MONTHS[key]
        months = [month for month, users in known.items() if language in users] or _abbreviated(key, language)
        if months:
            return months[0] if len(months) == 1 else 0
    return 0


def _abbreviated(key: str, language: str) -> list[int]:
    """Return the months whose names begin with *key*."""
    if len(key) < _MIN_PREFIX:
        return []
    return sorted({month for name, month in _names_of(language) if name.startswith(key)})


@lru_cache(maxsize=256)
def _names_of(language: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (name, month) for name, months in _table().names.items() for month, users in months.items() if language in users
    )


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
