"""Dates in the notations of feeds, and of people in the languages of CLDR."""

from datetime import date, timedelta
from itertools import product

import pytest
from babel.dates import format_date
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.month_names import forget_locales
from crawlers.sites.date_notations import gregorian, read_date, seconds_of

MIDNIGHT = 1795219200.0  # 21 November 2026, UTC
NOON = MIDNIGHT + 43_200


@pytest.mark.parametrize(
    "text",
    [
        "21 Nov 26 12:00 UT",
        "Sat, 21 November 2026 07:00:00 EST",
        "Saturday, November 21, 2026 - 12:00",
        "Sat Nov 21 12:00:00 2026",
        "12:00 Nov 21, 2026",
        "Nov. 21st 2026, 12:00 p.m.",
        "Sa, 21 Nov 2026 13:00:00 MEZ",
        "Sáb, 21 nov 2026 13:00:00 +0100",
        "21 de noviembre de 2026 12:00",
        "Сб, 21 ноября 2026 15:00:00 MSK",
        "Sat Nov 21 10:00:00 AT 2026",
        "21 November 2026, 12:00 at the town hall",
        "Sat, 21 Nov 2026 12:00:00 GMT+00:00",
        "2026-11-21T12:00:00Z",
        "2026-11-21 07:00:00 -0500",
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
def test_noon_in_many_notations(text):
    assert seconds_of(text) == NOON


@pytest.mark.parametrize("text", ["2026-11-21", "21 Nov 2026", "Sat, 21 Nov 2026", "November 21, 2026", "20261121"])
def test_date_without_a_time_is_midnight(text):
    assert seconds_of(text) == MIDNIGHT


def test_24_hours_and_leap_seconds_are_read():
    assert seconds_of("2026-11-20T24:00:00Z") == MIDNIGHT
    assert seconds_of("2026-11-20T23:59:60Z") == MIDNIGHT


def test_two_digit_years_belong_to_the_nearest_century():
    assert seconds_of("01 Jan 70 00:00 GMT") == 0  # and 26 above is 2026


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3/4/2026",
        "2026-13-01",
        "31 Feb 2026",
        "2026-11-21T25:00:00Z",
        "12:00",
        "21 Foo 2026",
        "2003-12-31T10:14:61Z",
    ],
)
def test_invalid_and_ambiguous_dates_are_none(text):
    assert seconds_of(text) is None


@given(st.text(max_size=60) | st.text("0123456789:-/. TZ+apm", max_size=40))
@settings(max_examples=40)
def test_texts_never_raise(text):
    assert isinstance(seconds_of(text), float | None)


# All languages that newspapers with a large circulation are written in, and whose long dates CLDR gives.
LOCALES = (
    "af am ar as az be bg bn bs ca cs cy da de el en eo es et eu fa fi fo fr ga gd gl gu he hi hr hu hy id is it ja ka "
    "kk km kn ko ku ky lb lo lt lv mk ml mn mr ms mt my nb ne nl nn or pa pl ps pt rm ro ru sd si sk sl so sq sr sv sw "
    "ta te tg th tk tr tt ug uk ur uz vi yi zh zu"
)
NATIVE_DIGITS = {
    "ar": "٠١٢٣٤٥٦٧٨٩", "fa": "۰۱۲۳۴۵۶۷۸۹", "ur": "۰۱۲۳۴۵۶۷۸۹", "bn": "০১২৩৪৫৬৭৮৯", "as": "০১২৩৪৫৬৭৮৯",
    "hi": "०१२३४५६७८९", "mr": "०१२३४५६७८९", "ne": "०१२३४५६७८९", "ta": "௦௧௨௩௪௫௬௭௮௯", "th": "๐๑๒๓๔๕๖๗๘๙",
    "my": "၀၁၂၃၄၅၆၇၈၉", "km": "០១២៣៤៥៦៧៨៩", "lo": "໐໑໒໓໔໕໖໗໘໙", "gu": "૦૧૨૩૪૫૬૭૮૯", "te": "౦౧౨౩౪౫౬౭౮౯",
    "kn": "೦೧೨೩೪೫೬೭೮೯", "ml": "൦൧൨൩൪൫൬൭൮൯", "pa": "੦੧੨੩੪੫੬੭੮੯", "ja": "０１２３４５６７８９",
}  # fmt: skip
DAYS = [
    date(2024, month, day)
    for month, day in zip(range(1, 13), [3, 29, 9, 11, 12, 30, 7, 31, 1, 10, 22, 25], strict=True)
]


@pytest.fixture(autouse=True)
def fresh_locales():
    forget_locales()


def day(text, *languages):
    found = read_date(text, languages)
    return None if found is None else found.when.date().isoformat()


@pytest.mark.parametrize("locale", LOCALES.split())
def test_long_dates_of_cldr_are_read_in_their_language(locale):
    expected = [one.isoformat() for one in DAYS]
    for length in ("long", "full"):
        written = [format_date(one, length, locale) for one in DAYS]
        assert [day(text, locale) for text in written] == expected
        assert [day(text.upper(), locale) for text in written] == expected
        for one, text in zip(DAYS, written, strict=True):  # without its language it is right, or unknown
            assert day(text) in (one.isoformat(), None)
            assert day(text, "en") in (one.isoformat(), None)
        digits = str.maketrans("0123456789", NATIVE_DIGITS.get(locale, "0123456789"))
        assert [day(text.translate(digits), locale) for text in written] == expected


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("3. listopad 2024", ["cs"], "2024-11-03"),
        ("3 listopada 2024", ["en", "pl"], "2024-11-03"),  # a template in English, in Poland
        ("3 listopada 2024", ["en"], None),
        ("3. lipnja 2024", [], "2024-06-03"),
        ("3 lip 2024", [], None),
        ("mar. 7 mai 2024", ["fr"], "2024-05-07"),  # a Tuesday
        ("3 May 2024", ["uk", "ru"], "2024-05-03"),  # machines write English
        ("3/4/2026", ["en", "hr"], "2026-04-03"),
        ("3/4/2026", ["en"], None),
        ("3/4/2026", ["fr", "en", "fr"], None),  # in Canada
    ],
)
def test_language_or_country_decides_what_an_ambiguous_date_means(text, languages, expected):
    assert day(text, *languages) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("3 พฤษภาคม 2567", "th", "2024-05-03"),
        ("๓ พ.ค. ๒๕๖๗ 14:30 น.", "th", "2024-05-03"),
        ("วันที่ 3 พฤษภาคม พุทธศักราช 2567", "th", "2024-05-03"),
        ("۱۴ اردیبهشت ۱۴۰۳", "fa", "2024-05-03"),
        ("جمعه ۱۴ اردیبهشت ۱۴۰۳ - ۱۵:۳۲", "fa", "2024-05-03"),
        ("۱۴۰۳/۰۲/۱۴", "fa", "2024-05-03"),
        ("1403/1/1", "fa", "2024-03-20"),
        ("30 اسفند 1399", "fa", "2021-03-20"),  # of a leap year
        ("30 اسفند 1400", "fa", None),
        ("۱۴ ثور ۱۴۰۳", "ps", "2024-05-03"),
        ("1445/10/24", "ar", None),  # of the lunar calendar
        ("ב-3 במאי 2024", "he", "2024-05-03"),
        ("3.5.2024", "he", "2024-05-03"),
        ("民國113年5月3日", "zh", "2024-05-03"),
        ("ngày 3 tháng 5 năm 2024", "vi", "2024-05-03"),
        ("3 كانون الثاني 2024", "ar", "2024-01-03"),
        ("le 1er mai 2024", "fr", "2024-05-01"),
        ("3º de maio de 2024", "pt", "2024-05-03"),
        ("10 comments May 2024", "en", None),
    ],
)
def test_other_calendars_and_notations(text, language, expected):
    assert day(text, language) == expected


def test_persian_days_follow_each_other():
    existing = []
    for year, month, number in product(range(1390, 1420), range(13, 25), range(1, 32)):
        try:
            existing.append(gregorian(year, month, number))
        except ValueError:
            continue
    assert existing == [date(2011, 3, 21) + timedelta(days) for days in range(len(existing))]
    assert len(existing) == 30 * 365 + 7  # leap years: 1391, 1395, 1399, 1403, 1408, 1412, 1416
