import pytest
from lxml import html

from crawlers.missions.news.article.bylines import MAX_ELEMENTS, page_lines
from crawlers.missions.news.article.publication import MAX_READ, shown_date

TEXT = "<p>A storm came in from the sea.</p>"


def shown(body, *languages, **options):
    return shown_date(page_lines(html.document_fromstring(f"<body>{body}</body>"), "Storm"), languages, **options)


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
