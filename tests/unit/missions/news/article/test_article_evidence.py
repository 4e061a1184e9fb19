import pytest

from crawlers.missions.news.article.article_evidence import evidence
from crawlers.pages.html import parse_page

LONG = "<div>" + "<p>Words of an article, one after the other, without any link in between them.</p>" * 12 + "</div>"
JSON = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "x"}</script>'


def seen(html, **known):
    parsed = parse_page(f"<html>{html}</html>".encode(), None, frozenset({"a"}))
    return evidence(parsed, parsed.text(), **known)


@pytest.mark.parametrize(
    "html", [f"<head>{JSON}</head><body>x", f"<body>{JSON}x", "<body><p itemtype='/NewsArticle'>x"]
)
def test_markup_of_an_article_is_recognised(html):
    assert seen(html).structured


@pytest.mark.parametrize(
    "html",
    [
        '<script type="application/ld+json">{"@type": "ItemList", "itemListElement": [{"@type": "Article"}]}</script>',
        "<p itemtype='/NewsArticle'>x</p><p itemtype='/NewsArticle'>y</p>",
        "<script>var article = {'@type': 'NewsArticle'}</script>",
    ],
)
def test_list_of_articles_is_not_an_article(html):
    assert not seen(html).structured


@pytest.mark.parametrize(
    "html",
    [
        '<head><meta property="article:published_time" content="2024-05-03">',
        '<body><div><header><h1>x</h1></header><time datetime="2024-05-03">May</time></div>',
    ],
)
def test_date_is_recognised(html):
    assert seen(html).has_date


def test_block_of_text_under_one_heading_looks_like_an_article():
    assert seen(f"<body><h1>x</h1>{LONG}").is_texty
    assert seen(f"<body><h1>The Paper</h1><h1>x</h1><h1>y</h1>{LONG}").is_texty
    assert not seen(f"<body>{LONG}").is_texty
    assert not seen(f"<body><h1>x</h1><h1>y</h1><h1>z</h1>{LONG}<h1>a</h1>").is_texty
    assert not seen("<body><h1>x</h1>" + LONG.replace("<p>", "<p><a href=x>").replace("</p>", "</a></p>")).is_texty
    assert not seen("<body><h1>x</h1>" + LONG.replace("<p>", "<div><p>").replace("</p>", "</p></div>")).is_texty


@pytest.mark.parametrize("html", ['<head><link rel="next" href="2">', '<body><a rel="prev" href="1">x</a>'])
def test_pagination_is_recognised(html):
    assert seen(html).has_pagination
