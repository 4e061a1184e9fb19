"""Responses of a news crawl: which are read as feeds, which as pages, and which pages become articles."""

import asyncio

import pytest

from crawlers.items import State
from crawlers.missions.news.article import news_reader
from crawlers.missions.news.article.article_evidence import SURE
from crawlers.missions.news.article.news_reader import PROMISING, NewsReader
from crawlers.missions.news.news_items import FEED, HOME, SITEMAP
from crawlers.missions.news.urls.rule_learner import UrlRule
from crawlers.missions.news.urls.url_classifier import UrlClassifier
from crawlers.pages.response import LARGE_BYTES, ResponseReader, WebResponse
from crawlers.reasons import Reason
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.scope import Scope

NOW = 1795262400.0  # 2026-11-21T12:00:00Z
HOUR_S = 3600.0
HTML = "text/html; charset=utf-8"
SITE, ELSEWHERE, FOREIGN = "http://paper.example", "http://blog.paper.example", "http://other.example"
FITTING = f"{SITE}/news/1.html"

WORDS = "<p>The bridge over the river was opened again, after a winter in which nobody could cross it at all.</p>"
STORY = f"<title>A bridge</title><h1>A bridge</h1><div>{WORDS * 5}</div>"
MARKED = f"<meta property=og:type content=article>{STORY}"
SECTION = "<title>Sport</title>" + "".join(f"<p><a href=/sport/{n}>What came of game {n}</a>" for n in range(20))
ALTERNATE = "<link rel=alternate type=application/rss+xml href="

RSS = f"""<rss version='2.0'><channel><title>The Paper</title>
<item><link>/news/2.html</link><title>Two</title><pubDate>Sat, 21 Nov 2026 11:00:00 GMT</pubDate></item>
<item><link>/news/1.html</link><title>One</title><pubDate>Sat, 21 Nov 2026 09:00:00 GMT</pubDate></item>
<item><link>{ELSEWHERE}/3</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item>
<item><link>{FOREIGN}/4</link><pubDate>Sat, 21 Nov 2026 10:30:00 GMT</pubDate></item>
</channel></rss>"""


class Pool:
    """A pool that calls functions directly, and records the calls."""

    def __init__(self):
        self.calls = []
        self.fails = ""

    async def run(self, site, function, *arguments):
        self.calls.append((site, function.__name__))
        return self.fails or function(*arguments)


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def read(pool):
    scope = Scope("paper.example", [SITE])
    classifier = UrlClassifier("manual")
    classifier.replace("paper.example", [UrlRule(r"/news/\d+\.html", 0.5, "hand")])
    reader = ResponseReader(LinkResolver(), frozenset({"a"}), frozenset({"text/html"}), scope=scope)

    async def in_thread(function):
        pool.calls.append((SITE, "thread"))
        return function()

    def read(body, url=f"{SITE}/", content_type=HTML, *, level=2, kind="", is_announced=False, rules=None, **more):
        news = NewsReader(reader, classifier, {"paper.example": rules or {}}, pool, in_thread)
        first = more.pop("first", None)
        response = WebResponse(url, more.pop("status", 200), body.encode(), content_type, **more)
        return asyncio.run(news.read(response, 7, level, kind, is_announced, is_announced, NOW, first))

    return read


def urls(links):
    return [target.url for target, _ in links]


# Feeds and sitemaps


def test_feed_announces_its_items_and_links_to_those_in_scope(read, pool):
    page = read(RSS, f"{SITE}/rss", "application/rss+xml", level=1, etag='"a"', last_modified="today")
    assert (page.id, page.state, page.status, page.title, page.level) == (7, State.DONE, 200, "The Paper", 1)
    assert (page.etag, page.last_modified, page.size_bytes) == ('"a"', "today", len(RSS))
    assert (page.facts.kind, page.facts.announces, page.facts.problem) == (FEED, True, "")
    assert {(i.target.url, i.published_at, i.title) for i in page.facts.items} >= {
        (f"{SITE}/news/2.html", NOW - HOUR_S, "Two"),
        (f"{FOREIGN}/4", NOW - 1.5 * HOUR_S, ""),
    }
    assert page.facts.span_s == 3 * HOUR_S
    assert urls(page.links) == [f"{SITE}/news/2.html", FITTING]
    assert urls(page.cross_site_links) == [f"{ELSEWHERE}/3"]
    assert [(link.url, link.tag) for link, _ in page.external] == [(f"{FOREIGN}/4", "feed")]
    assert pool.calls == [(SITE, "read_feed")]


def test_large_page_is_read_in_another_thread(read, pool):
    link = '<a href="/a">A</a>'
    small = read(f"<title>Home</title>{link}")
    large = read(f"<title>Home</title>{link}<!-- {'x' * LARGE_BYTES} -->")
    assert pool.calls == [(SITE, "thread")]
    assert (large.title, large.links) == (small.title, small.links)


def test_feed_with_an_undated_item_has_no_span(read):
    assert read(RSS.replace("<pubDate>", "<x>", 1)).facts.span_s is None


def test_broken_or_unreadable_feed_has_its_problem(read, pool):
    assert read(RSS[:300]).facts.problem.startswith("feed_broken ")
    pool.fails = "took_too_long 30"
    page = read(RSS)
    assert (page.state, page.facts.kind, page.facts.problem) == (State.DONE, FEED, "took_too_long 30")
    assert not page.facts.announces


def test_text_is_a_sitemap_if_one_is_expected(read):
    text = f"{FITTING}\n{SITE}/about\n"
    assert read(text, f"{SITE}/sitemap.txt", "text/plain").facts.kind == SITEMAP
    assert read(text, f"{SITE}/map", "text/plain", kind=SITEMAP).facts.kind == SITEMAP
    assert read(text, f"{SITE}/readme", "text/plain").state is State.REFUSED


def test_unchanged_response_is_not_read(read, pool):
    page = read("", kind=HOME, status=304, is_conditional=True)
    assert (page.is_unchanged, page.facts.kind, pool.calls) == (True, HOME, [])


# Feeds that pages link to


@pytest.mark.parametrize(("level", "count"), [(0, 1), (1, 1), (2, 0)])
def test_feeds_are_discovered_on_the_home_page_and_the_pages_that_it_links_to(read, level, count):
    page = read(f"<base href=/en/>{ALTERNATE}rss>{ALTERNATE}feed:rss#x>{ALTERNATE}mailto:a@b.example>", level=level)
    assert [target.url for target in page.facts.feeds] == [f"{SITE}/en/rss"][:count]


def test_no_feeds_are_discovered_on_pages_that_match_a_rule(read):
    assert read(f"{ALTERNATE}/rss>", FITTING, level=1).facts.feeds == ()


# Articles


def test_list_is_no_document_although_its_url_fits_unless_a_feed_announced_it(read, pool):
    page = read(SECTION, FITTING)
    assert page.facts.odds <= -SURE
    assert (page.facts.fits, page.facts.article, page.facts.reason) == (True, None, Reason.LIST_OF_LINKS)
    assert pool.calls == []
    announced = read(SECTION, FITTING, is_announced=True)
    assert announced.facts.reason != Reason.LIST_OF_LINKS
    assert pool.calls == [(SITE, "article_of")]


def test_short_article_among_many_links_is_not_a_list(read):
    dated = "<meta property=article:published_time content=2026-11-20>"
    page = read(SECTION.replace("<title>", f"{dated}<title>", 1), FITTING)
    assert -SURE < page.facts.odds < 0.0
    assert page.facts.reason != Reason.LIST_OF_LINKS


def test_promising_page_without_further_evidence_is_not_an_article(read, pool):
    page = read(MARKED, f"{SITE}/x")
    assert PROMISING <= page.facts.odds <= SURE
    assert pool.calls == [(SITE, "article_of")]
    assert (page.facts.article, page.facts.reason) == (None, "unsure")


def test_date_that_only_the_extraction_finds_counts(read):
    page = read(f"{MARKED}<footer>20 November 2026</footer>", f"{SITE}/x", rules={"published": "footer"})
    assert page.facts.odds > SURE
    assert page.facts.article.published == "2026-11-20"


# Hosts outside the scope


def test_host_that_only_serves_feeds_of_a_source_is_not_crawled(read):
    assert urls(read(RSS, f"{FOREIGN}/rss", "text/xml").cross_site_links) == [f"{ELSEWHERE}/3"]
    page = read(f"<a href=/x>x</a><a href={SITE}/y>y</a>", f"{FOREIGN}/page")
    assert page.links == ()
    assert urls(page.cross_site_links) == [f"{SITE}/y"]


def test_long_sitemap_is_read_in_slices_and_an_older_one_at_once(read, monkeypatch):
    monkeypatch.setattr(news_reader, "ITEMS_OF_SLICE", 3)
    monkeypatch.setattr(news_reader, "NEWEST", 1)
    entries = "".join(f"<url><loc>{SITE}/{n}</loc><lastmod>2026-11-{20 - n}</lastmod></url>" for n in range(6))
    body = f"<urlset>{entries}</urlset>"
    slices = [read(body, f"{SITE}/map.xml", "text/xml", kind=SITEMAP, first=first) for first in (0, 3, 5, None)]
    found = [[int(target.url.rpartition("/")[2]) for target, _ in page.links] for page in slices]
    assert found == [[0, 1, 2], [0, 3, 4], [0, 5], [0, 1, 2, 3, 4, 5]]
    assert [page.facts.rest for page in slices] == [3, 5, 0, 0]
    assert len({page.content_hash for page in slices}) == 3, "each slice is a change"
