import pytest
from lxml import html

from crawlers.missions.news.article.bylines import authors, looks_like_name, page_lines, shown_authors


def shown(body):
    page = page_lines(html.document_fromstring(f"<body>{body}</body>"), "Storm")
    return list(shown_authors(page))


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


def test_name_after_a_line_that_only_says_by_is_a_byline():
    assert shown("<h1>Storm</h1><p>Written by:</p><p>Ann Lee</p><p>The sea rose.</p>") == ["Ann Lee"]


def test_page_without_a_headline_has_no_byline():
    assert shown("<p>By Ann Lee</p>") == []


@pytest.mark.parametrize(
    "name", ["Ann Lee", "Anne-Marie d'Arc", "Ludwig van Beethoven", "홍길동", "محمد علي", "राम शर्मा"]
)
def test_names_in_all_scripts(name):
    assert looks_like_name(name)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Nicolas Ruiz C.", ("Nicolas Ruiz C.",)),
        ("Jane Doe, Chief Correspondent in Paris", ("Jane Doe",)),
        ("Reuters", ("Reuters",)),
        ('<a href="/p">Jane Doe</a>', ("Jane Doe",)),
        ("Jane Doe jane@post.test", ("Jane Doe",)),
        ("www.jane.com Jane Doe", ("Jane Doe",)),
        ("Иван Петров, корреспондент", ("Иван Петров",)),
        ("Ursula von der Leyen", ("Ursula von der Leyen",)),
        ("Oleh Hontscharenko", ("Oleh Hontscharenko",)),
        ("x" * 200, ()),
    ],
)
def test_names_are_extracted_from_bylines(said, expected):
    assert authors([[said]], []) == expected


SHOWN = ["Analysis by Jane Doe, Political Editor", "Bo Ek"]


@pytest.mark.parametrize(
    "said",
    ["Staff Writer", "News Desk", "Post Staff", "The Post", "post.test", "Post", "The Post, London"],
)
def test_the_staff_or_the_site_does_not_end_the_search_for_a_person(said):
    url = "https://www.post.test/1"
    assert authors([[said], ["Bo Ek"]], ["The Post"], url) == ("Bo Ek",)
    assert authors([[said]], ["The Post"], url, shown=SHOWN) == ("Jane Doe",)
    assert authors([[said]], ["The Post"], url) == (said.partition(",")[0],)


@pytest.mark.parametrize("account", ["jdoe", "105092", "page.author"])
def test_name_of_an_account_does_not_end_the_search_for_a_person(account):
    assert authors([[account]], [], shown=SHOWN) == ("Jane Doe",)
    assert authors([[account, "Ann Lee"]], [], shown=SHOWN)[-1] == "Ann Lee"


def test_shown_byline_must_look_like_names():
    assert authors([], [], shown=["By the sea it rained all day", "More from our authors", "By Bo Ek"]) == ("Bo Ek",)
    assert authors([["Ann Lee"]], [], shown=SHOWN) == ("Ann Lee",)


@pytest.mark.parametrize(
    "line",
    [
        "Jane Doe for The Guardian",
        "Jane Doe of The Associated Press",
        "Jane Doe in Paris",
        "Jane Doe staff writer",
        "Jane Doe Chief Correspondent",
        "Jane Doe special to The Post",
    ],
)
def test_what_follows_a_name_is_no_part_of_it(line):
    assert authors([[line]], []) == ("Jane Doe",)
    assert authors([], [], shown=[f"By {line}"]) == ("Jane Doe",)


@pytest.mark.parametrize("name", ["Ian Staff", "Ann Writer", "Bo Desk"])
def test_persons_may_be_called_like_offices(name):
    assert authors([[name], ["Ann Lee"]], []) == (name,)
