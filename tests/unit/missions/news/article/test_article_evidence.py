"""Evidence adds up to labels; weak evidence gives none."""

from dataclasses import replace

import pytest

from crawlers.missions.news.article.article_evidence import IN_FEED, Evidence, evidence, label, log_odds
from crawlers.pages.html import parse_page


@pytest.mark.parametrize(
    ("evidence", "odds"),
    [
        (Evidence(), 0.0),
        (Evidence(structured=True, og_article=True), 5.0),
        (Evidence(has_date=True, is_texty=True), 3.0),
        (Evidence(link_density=0.6), 0.0),
        (Evidence(link_density=0.61, og_website=True, has_pagination=True), -5.0),
        (Evidence(is_prefix_of=4), 0.0),
        (Evidence(is_prefix_of=5), -2.0),
    ],
)
def test_weights_add_up(evidence, odds):
    assert log_odds(evidence) == odds


def test_content_is_a_list_unless_anything_speaks_for_an_article():
    teasers = Evidence(link_density=0.9)
    assert label(log_odds(teasers)) is False
    assert label(log_odds(replace(teasers, has_date=True))) is None  # a short article among many links
    assert label(log_odds(Evidence())) is None


def test_item_of_a_feed_is_an_article_unless_its_page_has_contrary_evidence():
    assert label(IN_FEED) is True
    assert label(IN_FEED + log_odds(Evidence(link_density=0.9))) is None


LONG = "<div>" + "<p>Words of an article, one after the other, without any link in between them.</p>" * 12 + "</div>"
JSON = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "x"}</script>'


def seen(html, **known):
    parsed = parse_page(f"<html>{html}</html>".encode(), None, frozenset({"a"}))
    return evidence(parsed, **known)


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
