import pytest
from lxml import html

from crawlers.errors import ConfigError
from crawlers.missions.news.article.page_metadata import PARTS, by_rules, check_rules

PAGE = html.document_fromstring(
    """<h1>A <i>title</i></h1><div class=story><p>One<br>two</p><p>Three</p></div><time datetime="2024-05-03">May</time>
    <a rel=author href=/x>Ann</a> <a rel=author>Bo</a><img class=lead src="/a.png"><b data-s="World">x</b>"""
)


@pytest.mark.parametrize(
    ("part", "selector", "expected"),
    [
        ("title", "h1", "A title"),
        ("title", "//h1/i/text()", "title"),
        ("title", "h2", ""),
        ("text", "div.story p", "One\ntwo\nThree"),
        ("text", "div.story", "One\ntwo\nThree"),
        ("published", "time", "2024-05-03"),
        ("authors", "a[rel=author]", ("Ann", "Bo")),
        ("section", "(//b)[1]/@data-s", "World"),
        ("image", "img.lead", "/a.png"),
    ],
)
def test_rules_find_parts(part, selector, expected):
    check_rules({part: selector})
    assert getattr(by_rules(PAGE, {part: selector}), part) == expected


@pytest.mark.parametrize("selector", ["h1[", "//h1[", "p::nonsense(", "", "unknown-function(1)"])
def test_invalid_selector_is_reported_with_its_part(selector):
    with pytest.raises(ConfigError, match=r"Invalid selector .* for title"):
        check_rules({"title": selector})


def test_unknown_part_is_reported_with_the_known_ones():
    with pytest.raises(ConfigError, match=f"'headline'.*{PARTS[0]}"):
        check_rules({"headline": "h1"})
