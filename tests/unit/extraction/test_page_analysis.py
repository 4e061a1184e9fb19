"""Page analysis of a topic crawl: terms, similarity, and the relevance of links."""

from __future__ import annotations

from math import log, sqrt

import pytest

from crawlers.algorithms.topic.terms import Terms
from crawlers.algorithms.topic.vectors import Topic
from crawlers.algorithms.urls.link_resolver import LinkResolver
from crawlers.algorithms.urls.normalization import Normalization
from crawlers.algorithms.urls.scope import Scope
from crawlers.extraction import page_analysis
from crawlers.extraction.page_analysis import PageAnalyzer
from crawlers.extraction.response import ResponseReader, WebResponse

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
    return {values[key]: value for key, value in page.analysis.link_values.items()}


def test_terms_come_from_title_and_text(analysis):
    page = read(analysis, "<title>Unicode</title><p>Tables of <b>fonts</b> <script>var unicode</script>")
    assert page.analysis.terms == {"unicod": 1, "tabl": 1, "font": 1}


def test_similarity_depends_on_the_pages_read_so_far(analysis):
    assert read(analysis, "<p>unicode fonts").similarity == pytest.approx(1 / sqrt(2))
    # Both pages have "unicod", and only the second one has "tabl".
    second = read(analysis, "<p>unicode tables")
    assert second.similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_recalled_pages_count(analysis):
    analysis.recall([("http://a.example/before", {"unicod": 3}, {})])
    assert read(analysis, "<p>unicode tables").similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_page_without_terms_has_similarity_0(analysis):
    page = read(analysis, "<p>1 2 3")
    assert (page.similarity, page.analysis.terms) == (0.0, {})


def test_relevance_of_a_link_is_that_of_its_text_and_context(analysis):
    page = read(
        analysis,
        '<p><a href="/1">unicode</a></p><p><a href="/2">here</a> are tables of unicode</p>'
        '<p><a href="/3">weather</a></p>',
    )
    assert worth(page) == pytest.approx(
        {"http://a.example/1": 1.0, "http://a.example/2": 1 / sqrt(2), "http://a.example/3": 0.0}
    )


def test_best_of_several_links_to_a_page_counts(analysis):
    links = "".join(f'<p><a href="/1">{text}</a></p>' for text in ("weather", "unicode", "unicode tables"))
    page = read(analysis, links)
    assert worth(page) == {"http://a.example/1": 1.0}
    assert [text.anchor for text in page.analysis.link_texts] == ["weather", "unicode", "unicode tables"]


def test_equal_link_texts_are_stored_once(analysis):
    page = read(analysis, '<p><a href="/1">unicode</a></p>' * 3)
    assert len(page.analysis.link_texts) == 1


def test_links_within_the_scope_are_analysed_and_external_ones_are_not(analysis):
    html = '<p><a href="http://b.example/">unicode</a></p><p><a href="http://c.example/">unicode</a></p>'
    page = read(analysis, html, Scope("b.example", ["http://a.example"]))
    assert worth(page) == {"http://b.example/": 1.0}
    assert len(page.analysis.link_texts) == 1
    assert [link.url for link, _ in page.external] == ["http://c.example/"]


def test_links_beyond_the_limit_have_no_relevance(analysis, monkeypatch):
    monkeypatch.setattr(page_analysis, "MAX_TEXTS", 2)
    page = read(analysis, "".join(f'<p><a href="/{n}">unicode</a></p>' for n in range(4)))
    assert len(page.links) == 4
    assert worth(page) == {"http://a.example/0": 1.0, "http://a.example/1": 1.0}


# With a learning rate

ABOUT, OTHER = "<p>unicode tables", "<p>soup and cake"
LINKS = '<p><a href="/encoding/next">here</a></p><p><a href="/cooking/next">here</a></p>'


def learning():
    return PageAnalyzer(Topic({"unicod": 1.0}), Terms(), learning_rate=0.3)


def read_at(analysis, url, html):
    reader = ResponseReader(
        LinkResolver(Normalization()), frozenset({"a"}), frozenset({"text/html"}), analysis=analysis
    )
    return reader.read(WebResponse(url, 200, html.encode(), "text/html; charset=utf-8"), 1, 0, 0.0)


def pages_before():
    return [
        (f"{URL}{folder}/{n}", html) for n in range(9) for folder, html in (("encoding", ABOUT), ("cooking", OTHER))
    ]


def test_links_similar_to_successful_ones_are_more_relevant(analysis):
    learnt = learning()
    for url, html in pages_before():
        read_at(learnt, url, html)
        read_at(analysis, url, html)
    assert set(worth(read_at(analysis, URL, LINKS)).values()) == {0.0}
    worths = worth(read_at(learnt, URL, LINKS))
    assert worths[f"{URL}encoding/next"] > 0.1
    assert worths[f"{URL}cooking/next"] == 0.0


def test_learner_is_restored_by_recall(analysis):
    undisturbed, recalled = learning(), learning()
    assert (analysis.learns, recalled.learns) == (False, True)
    before = []
    for url, html in pages_before():
        page = read_at(undisturbed, url, html + LINKS)
        targets = {target.key: target.url for target, _ in page.links}
        links: dict[str, list[tuple[str, str]]] = {}
        for text in page.analysis.link_texts:
            links.setdefault(targets[text.key], []).append((text.anchor, text.context))
        before.append((url, page.analysis.terms, links))
    recalled.recall(before)
    pages = [read_at(one, URL, LINKS) for one in (undisturbed, recalled)]
    assert pages[0].similarity == pages[1].similarity
    assert worth(pages[0]) == worth(pages[1])
    assert max(worth(pages[0]).values()) > 0.0
