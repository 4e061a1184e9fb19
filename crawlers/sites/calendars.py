"""Converts years and months of calendars that newspapers use beside the Gregorian one."""

from __future__ import annotations

import re
from datetime import date, timedelta

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
