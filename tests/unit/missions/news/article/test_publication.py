from datetime import UTC, datetime

import pytest
from lxml import html

from crawlers.missions.news.article.bylines import MAX_ELEMENTS, page_lines
from crawlers.missions.news.article.publication import MAX_READ, publication, shown_date

TEXT = "<p>A storm came in from the sea.</p>"


def shown(body, *languages):
    return shown_date(page_lines(html.document_fromstring(f"<body>{body}</body>"), "Storm"), languages)


@pytest.mark.parametrize(
    ("body", "languages", "expected"),
    [
        ("<h1>Storm</h1><span>By Ann Lee, 3 May 2024</span>", ["en"], "By Ann Lee, 3 May 2024"),
        ("<h1>Буря</h1><div>3 травня 2024 р., 14:30</div>", ["uk"], "3 травня 2024 р., 14:30"),
        ("<h1>พายุ</h1><p>๓ พฤษภาคม ๒๕๖๗</p>", ["th"], "๓ พฤษภาคม ๒๕๖๗"),
        ("<h1>طوفان</h1><p>۱۴ اردیبهشت ۱۴۰۳</p>", ["fa"], "۱۴ اردیبهشت ۱۴۰۳"),
        ("<h1>嵐</h1><p>2024年5月3日</p>", ["ja"], "2024年5月3日"),
        ("<h1>Sturm</h1><p>03.05.24, 14:30 Uhr</p>", ["de"], "03.05.24, 14:30 Uhr"),
        ("<h1>Storm</h1><p>3. listopada 2024.</p>", [], ""),
        ("<h1>Storm</h1><p>03.05.24</p>", [], ""),
        ("<h1>Storm</h1><time datetime='2024-05-03T10:00Z'>today</time>", [], "2024-05-03T10:00Z"),
        ("<h1>Storm</h1><p>It killed 2000 in May 2001.</p>", ["en"], ""),
    ],
)
def test_date_under_the_headline_is_found_in_its_language(body, languages, expected):
    assert shown(f"{body}{TEXT}", *languages) == expected


def test_headline_with_the_title_is_that_of_the_article():
    teaser = "<h1>Another matter</h1><p>1 May 2024</p>"
    assert shown(f"{teaser}<p>x</p><p>x</p><h2><i>Sea</i> Storm</h2><p>x</p><p>3 May 2024</p>{TEXT}") == "3 May 2024"


def test_search_is_bounded():
    assert shown("<h1>Storm</h1>" + "<p>10000</p>" * (MAX_READ + 1) + "<p>3 May 2024</p>") == ""
    assert shown("<br>" * MAX_ELEMENTS + "<h1>Storm</h1><p>3 May 2024</p>") == ""


NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def said(*raw):
    found = publication(raw, NOW)
    return found and found[1]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("2024-05-03T18:19:08+02:00", "2024-05-03T18:19:08+02:00"),
        ("2024-05-03T18:19:08.123Z", "2024-05-03T18:19:08+00:00"),
        ("20240503T181908-03", "2024-05-03T18:19:08-03:00"),
        ("Fri, 03 May 2024 18:19:08 GMT", "2024-05-03T18:19:08+00:00"),
        ("1714753148", "2024-05-03T16:19:08+00:00"),
        ("2024-05-03T18:19:08", "2024-05-03"),
        (" 2024-05-03 ", "2024-05-03"),
        ("3 мая 2024 г., 14:30", "2024-05-03"),
        ("2567-05-03T14:30:00", "2024-05-03"),  # of the Buddhist era
        ("Friday, May 3, 2024 11:30 PM EDT", "2024-05-03T23:30:00-04:00"),  # the day of its own zone
        ("2003-05", "2003-05"),
    ],
)
def test_dates_are_read_with_their_zone(raw, expected):
    assert said(raw) == expected


@pytest.mark.parametrize(
    "raw", ["", "soon", "2024-13-03", "2024-02-30T00:00Z", "1985-01-01", "2026-02-01", "9999-12-31", "10:61:55"]
)
def test_invalid_and_impossible_dates_are_none(raw):
    assert said(raw) is None


def test_zone_is_not_derived_from_different_times():
    assert said("2024-05-03T22:30:59Z", "2024-05-03 20:17:00") == "2024-05-03T22:30:59+00:00"
    assert said("2024-05-03T22:30:59Z", "2024-05-01T10:00:00+02:00") == "2024-05-03T22:30:59+00:00"


def test_a_time_without_zone_gets_it_from_its_instant():
    assert said("2024-05-04T00:30:59", "2024-05-03T22:30:59Z") == "2024-05-04T00:30:59+02:00"
    assert said("2024-05-04T00:30:59", "2024-05-04T00:30:59+02:00") == "2024-05-04T00:30:59+02:00"


def test_a_year_alone_is_no_date():
    assert said("2003") is None
    assert said("2024", "2023-05-03", "2024-05-03") == "2023-05-03"


@pytest.mark.parametrize(
    ("raw", "day", "expected"),
    [
        ("2024-05-03T13:00:00Z", "2024-05-04", "2024-05-04"),  # in New Zealand
        ("2024-05-03T09:00:00Z", "2024-05-04", "2024-05-03T09:00:00+00:00"),
        ("2024-05-03T09:00:00Z", "2024-05-02", "2024-05-02"),  # in Hawaii
        ("2024-05-03T16:00:00Z", "2024-05-02", "2024-05-03T16:00:00+00:00"),
    ],
)
def test_a_day_replaces_that_of_an_instant_only_if_a_zone_explains_it(raw, day, expected):
    assert publication([raw], NOW, shown=lambda: day)[1] == expected


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("3 May 2024, 23:37", "2024-05-03"),  # that readers see
        ("6 May 2024", "2024-05-04T03:37:37+00:00"),
    ],
)
def test_instant_in_utc_gets_the_day_of_its_publisher(day, expected):
    assert publication(["2024-05-04T03:37:37Z"], NOW, ["en"], lambda: day) == (1714793857.0, expected)
    local = "2024-05-04T05:37:37+02:00"
    assert publication([local], NOW, ["en"], lambda: day) == (1714793857.0, local)
