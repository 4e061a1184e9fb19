"""Page analysis of a topic crawl: terms, similarity, and the relevance of links."""

from math import log, sqrt

import pytest

from crawlers.items import LinkPlace
from crawlers.missions.topic.topic_run import PageAnalyzer
from crawlers.missions.topic.vectors import Terms, Topic
from crawlers.pages.response import ResponseReader, WebResponse
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.normalization import Normalization
from crawlers.urls.scope import Scope

URL = "http://a.example/"


@pytest.fixture
def analysis():
    return PageAnalyzer(Topic({"unicod": 1.0}), Terms())


def read(analysis, html, scope=None):
    reader = ResponseReader(
        LinkResolver(Normalization()), frozenset({"a"}), frozenset({"text/html"}), scope=scope, analysis=analysis
    )
    return reader.read(WebResponse(URL, 200, html.encode(), "text/html; charset=utf-8"), 1, 0, 0.0)


def worth(page):
    """The relevance of each link of a page, by its URL."""
    values = {target.key: target.url for target, _ in (*page.links, *page.cross_site_links)}
    return {values[key]: value for key, value in page.facts.links.values.items()}


def test_similarity_depends_on_the_pages_read_so_far(analysis):
    assert read(analysis, "<p>unicode fonts").facts.similarity == pytest.approx(1 / sqrt(2))
    # Both pages have "unicod", and only the second one has "tabl".
    second = read(analysis, "<p>unicode tables")
    assert second.facts.similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_recalled_pages_count(analysis):
    analysis.recall([{"unicod": 3}])
    assert read(analysis, "<p>unicode tables").facts.similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_relevance_of_a_link_is_that_of_its_text_and_context(analysis):
    page = read(
        analysis,
        '<p><a href="/1">unicode</a></p><p><a href="/2">here</a> are tables of unicode</p>'
        '<p><a href="/3">weather</a></p>',
    )
    assert worth(page) == pytest.approx(
        {"http://a.example/1": 1.0, "http://a.example/2": 1 / sqrt(2), "http://a.example/3": 0.0}
    )


def test_links_within_the_scope_are_analysed_and_external_ones_are_not(analysis):
    html = '<p><a href="http://b.example/">unicode</a></p><p><a href="http://c.example/">unicode</a></p>'
    page = read(analysis, html, Scope("b.example", ["http://a.example"]))
    assert worth(page) == {"http://b.example/": 1.0}
    assert len(page.facts.links.texts) == 1
    assert [link.url for link, _ in page.external] == ["http://c.example/"]


def test_text_by_which_a_crawl_learns_is_that_of_the_most_relevant_link(analysis):
    links = '<nav><a href="/1">weather</a></nav><p><a href="/1">here</a> is unicode</p><p><a href="/2">news</a></p>'
    page = read(analysis, links)
    urls = {target.key: target.url for target, _ in page.links}
    assert {urls[key]: place for key, place in page.facts.links.places.items()} == {
        "http://a.example/1": LinkPlace("", "", "here"),
        "http://a.example/2": LinkPlace("", "", "news"),
    }
