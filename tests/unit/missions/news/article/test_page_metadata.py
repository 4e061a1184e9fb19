import json

import pytest
from lxml import html

from crawlers.errors import ConfigError
from crawlers.missions.news.article.page_metadata import (
    ArticleParts,
    by_rules,
    check_selector,
    json_ld,
    meta_tags,
)

ARTICLE = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Title",
    "datePublished": "2024-05-03",
    "author": [{"@type": "Person", "name": "Ann Lee"}],
}


def page(*values):
    scripts = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return html.document_fromstring(
        "<html><body>" + "".join(f'<script type="application/ld+json">{script}</script>' for script in scripts) + "x"
    )


def parts(*values):
    return json_ld(page(*values))


def test_all_parts_are_read():
    full = ARTICLE | {
        "articleBody": "Text.",
        "articleSection": ["Politics", "World"],
        "inLanguage": {"@type": "Language", "name": "en"},
        "image": {"url": "/a.png"},
        "publisher": {"name": "The Example"},
        "description": "In short",
        "keywords": ["a", {"@type": "DefinedTerm", "name": "b"}],
        "dateModified": "2024-05-04",
    }
    assert parts(full) == ArticleParts(
        title="Title",
        text="Text.",
        published="2024-05-03",
        authors=("Ann Lee",),
        section="Politics",
        language="en",
        image="/a.png",
        site_name="The Example",
        description="In short",
        keywords=("a", "b"),
        modified="2024-05-04",
    )


def test_first_article_with_a_headline_is_read():
    assert parts([ARTICLE | {"headline": ""}, ARTICLE | {"headline": "This"}, ARTICLE]).title == "This"


@pytest.mark.parametrize(
    "script",
    [
        '<!-- {"@type": "Article", "headline": "Title"} -->',
        '{"@type": "Article", "headline": "Ti\ntle"};{"@type": "Person"}',
        '{"@type": "Article", "headline": "Ti&amp;tle"}',
    ],
)
def test_json_with_mistakes_is_read(script):
    assert "".join(filter(str.isalpha, parts(script).title)) == "Title"


@pytest.mark.parametrize(
    "script", ["", "null", "7", '"Article"', "[" * 100_000, '{"@type":', "[[], {}]", '{"@type": {}}']
)
def test_invalid_json_has_no_parts(script):
    assert parts(script) is None


def test_values_of_wrong_types_are_empty():
    names = ["headline", "datePublished", "author", "image", "publisher", "articleBody"]
    wrong = {name: {"x": [1, None]} for name in names}
    assert parts({"@type": "Article"} | wrong) == ArticleParts()


def test_loops_of_references_end():
    loop = {"@type": "Article", "@id": "#a", "author": {"@id": "#a"}, "mainEntity": {"@id": "#a"}}
    assert parts(loop) is not None


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, None),
        ({"isAccessibleForFree": [True, False]}, False),
        ({"isAccessibleForFree": {"@value": "x"}}, None),
        ({"hasPart": {"@type": "WebPageElement", "isAccessibleForFree": "False", "cssSelector": ".paid"}}, False),
        ({"isAccessibleForFree": True, "hasPart": [7, {"isAccessibleForFree": False}]}, False),
    ],
)
def test_paywall_is_recognised(about, expected):
    assert parts(ARTICLE | about).is_free is expected


def tags(head, attributes=""):
    return meta_tags(html.document_fromstring(f"<html {attributes}><head>{head}</head><body>x</body></html>"))


def test_all_meta_tags_are_read():
    assert tags(
        """<meta property="og:title" content=" Title "><meta property="article:published_time " content="2024-05-03">
        <meta name="Author" content="Ann Lee"><meta property="article:section" content="World"><meta property="og:image"
        content="/a.png"><meta property="og:site_name" content="Post"><link rel="canonical" href="/a">""",
        'lang="en-GB"',
    ) == ArticleParts("Title", "", "2024-05-03", ("Ann Lee",), "World", "en-GB", "/a", "/a.png", "Post")


def test_profile_addresses_are_not_names():
    head = '<meta property="article:author" content="https://social.test/post"><meta name="author" content="Ann Lee">'
    assert tags(head).authors == ("Ann Lee",)


def test_page_without_tags_has_no_parts():
    assert tags("<meta name=author><meta content=x><link rel=canonical>") == ArticleParts()


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
    check_selector(part, selector)
    assert getattr(by_rules(PAGE, {part: selector}), part) == expected


@pytest.mark.parametrize("selector", ["h1[", "//h1[", "p::nonsense(", "", "unknown-function(1)"])
def test_invalid_selector_is_reported_with_its_part(selector):
    with pytest.raises(ConfigError, match=r"Invalid selector .* for title"):
        check_selector("title", selector)
