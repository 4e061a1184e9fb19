import pytest
from lxml import html

from crawlers.missions.news.article.bylines import looks_like_name, page_lines, shown_authors


def shown(body):
    page = page_lines(html.document_fromstring(f"<body>{body}</body>"), "Storm")
    return [line for lines in shown_authors(page) for line in lines]


def test_nearest_byline_comes_first():
    gap = "<p>x</p>" * 30
    assert shown(f"<p>By Cy Fox</p>{gap}<h1>Storm</h1><p>x</p><p>By Ann Lee</p>{gap}<p>By Bo Ek</p>") == [
        "By Ann Lee",
        "By Bo Ek",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "<figure><figcaption>By Ann Lee</figcaption></figure>",
        "<p>Photo: Ann Lee</p>",
        f"<p>By {'x' * 200}</p>",
        "<footer>By Ann Lee</footer>",
    ],
)
def test_pictures_comments_and_texts_have_no_bylines(body):
    assert shown(f"<h1>Storm</h1>{body}") == []


def test_page_without_a_headline_has_no_byline():
    assert shown("<p>By Ann Lee</p>") == []


@pytest.mark.parametrize(
    "name", ["Ann Lee", "Anne-Marie d'Arc", "Ludwig van Beethoven", "홍길동", "محمد علي", "राम शर्मा"]
)
def test_names_in_all_scripts(name):
    assert looks_like_name(name)
