"""Hostile articles: nesting that would exhaust a parser."""

import pytest

from crawlers.missions.news.article.news_reader import article_of

DEEP = 100_000
TEXT = "<p>words of a story that is long enough to be read. </p>" * 30


@pytest.mark.parametrize("opening", ["[", '{"@graph":', '{"@type":"NewsArticle","author":'])
def test_article_with_endlessly_nested_json_ld_is_read_without_it(opening):
    closing = "]" if opening == "[" else "}"
    json_ld = f"<script type='application/ld+json'>{opening * DEEP}1{closing * DEEP}</script>"
    page = f"<html><head>{json_ld}</head><body><article><h1>T</h1>{TEXT}</article></body></html>"
    found = article_of(page.encode(), "http://a.example/x", None, {}, 1e9)
    assert not isinstance(found, str)
    assert found[0].title == "T"
