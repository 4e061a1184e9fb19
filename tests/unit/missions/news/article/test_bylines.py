import pytest

from crawlers.missions.news.article.bylines import authors


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Nicolas Ruiz C.", ("Nicolas Ruiz C.",)),
        ("Reuters, Jane Doe", ("Jane Doe",)),
        ("Jane Doe, Chief Correspondent in Paris", ("Jane Doe",)),
        ("Reuters", ("Reuters",)),
        ("Иван Петров, корреспондент", ("Иван Петров",)),
        ("Ursula von der Leyen", ("Ursula von der Leyen",)),
        ("Oleh Hontscharenko", ("Oleh Hontscharenko",)),
        ("x" * 200, ()),
    ],
)
def test_names_are_extracted_from_bylines(said, expected):
    assert authors([[said]], []) == expected


SHOWN = [["Analysis by Jane Doe, Political Editor"], ["Bo Ek"]]


@pytest.mark.parametrize(
    "said",
    ["Reuters", "The Post", "dpa", "post.test", "Post", "The Post, London"],
)
def test_an_agency_or_the_site_does_not_end_the_search_for_a_person(said):
    url = "https://www.post.test/1"
    assert authors([[said], ["Bo Ek"]], ["The Post"], url) == ("Bo Ek",)
    assert authors([[said]], ["The Post"], url, shown=SHOWN) == ("Jane Doe",)
    assert authors([[said]], ["The Post"], url) == (said.partition(",")[0],)


def test_shown_byline_must_look_like_names():
    assert authors([], [], shown=[["By the sea it rained all day"], ["More from our authors"], ["By Bo Ek"]]) == (
        "Bo Ek",
    )
    assert authors([["Ann Lee"]], [], shown=SHOWN) == ("Ann Lee",)
