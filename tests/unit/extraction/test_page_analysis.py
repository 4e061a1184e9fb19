"""What a topic crawl learns of a page: its terms, its similarity, and what its links promise."""

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
    """What each link of a page is worth, by its URL."""
    values = {target.key: target.url for target, _ in (*page.links, *page.cross_site_links)}
    return {values[key]: value for key, value in page.analysis.link_values.items()}


def test_terms_are_those_of_title_and_text(analysis):
    page = read(analysis, "<title>Unicode</title><p>Tables of <b>fonts</b> <script>var unicode</script>")
    assert page.analysis.terms == {"unicod": 1, "tabl": 1, "font": 1}


def test_similarity_is_by_the_pages_read_until_then(analysis):
    assert read(analysis, "<p>unicode fonts").similarity == pytest.approx(1 / sqrt(2))
    # Of two pages both have "unicod" and the second alone has "tabl".
    second = read(analysis, "<p>unicode tables")
    assert second.similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_pages_that_were_read_before_count(analysis):
    analysis.recall([("http://a.example/before", {"unicod": 3}, {})])
    assert read(analysis, "<p>unicode tables").similarity == pytest.approx(1 / sqrt(1 + (1 + log(2)) ** 2))


def test_page_without_terms_has_similarity_0(analysis):
    page = read(analysis, "<p>1 2 3")
    assert (page.similarity, page.analysis.terms) == (0.0, {})


def test_link_is_worth_what_it_says_and_what_stands_around_it(analysis):
    page = read(
        analysis,
        '<p><a href="/1">unicode</a></p><p><a href="/2">here</a> are tables of unicode</p>'
        '<p><a href="/3">weather</a></p>',
    )
    assert worth(page) == pytest.approx(
        {"http://a.example/1": 1.0, "http://a.example/2": 1 / sqrt(2), "http://a.example/3": 0.0}
    )


def test_of_several_links_to_a_page_the_best_counts(analysis):
    links = "".join(f'<p><a href="/1">{text}</a></p>' for text in ("weather", "unicode", "unicode tables"))
    page = read(analysis, links)
    assert worth(page) == {"http://a.example/1": 1.0}
    assert [text.anchor for text in page.analysis.link_texts] == ["weather", "unicode", "unicode tables"]


def test_equal_texts_of_links_to_a_page_are_kept_once(analysis):
    page = read(analysis, '<p><a href="/1">unicode</a></p>' * 3)
    assert len(page.analysis.link_texts) == 1


def test_links_to_sites_of_the_scope_are_studied_and_external_ones_are_not(analysis):
    html = '<p><a href="http://b.example/">unicode</a></p><p><a href="http://c.example/">unicode</a></p>'
    page = read(analysis, html, Scope("b.example", ["http://a.example"]))
    assert worth(page) == {"http://b.example/": 1.0}
    assert len(page.analysis.link_texts) == 1
    assert [link.url for link, _ in page.external] == ["http://c.example/"]


def test_links_behind_the_first_thousands_are_worth_nothing(analysis, monkeypatch):
    monkeypatch.setattr(page_analysis, "MOST_TEXTS", 2)
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


def test_links_are_worth_more_where_their_kind_led_to_relevant_pages(analysis):
    learnt = learning()
    for url, html in pages_before():
        read_at(learnt, url, html)
        read_at(analysis, url, html)
    assert set(worth(read_at(analysis, URL, LINKS)).values()) == {0.0}
    worths = worth(read_at(learnt, URL, LINKS))
    assert worths[f"{URL}encoding/next"] > 0.1
    assert worths[f"{URL}cooking/next"] == 0.0


def test_what_was_learnt_is_recalled(analysis):
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
