"""Hostile documents: nesting, entities and bases that would exhaust a parser or leave the web."""

import pytest

from crawlers.pages.response import ResponseReader, WebResponse
from crawlers.sites.feed_reader import read_feed
from crawlers.urls.link_resolver import LinkResolver

LAUGHS = "".join(f'<!ENTITY {chr(code)} "{f"&{chr(code - 1)};" * 10}">' for code in range(98, 122))


@pytest.mark.parametrize(
    "declaration",
    [
        f'<!ENTITY a "ha">{LAUGHS}',
        '<!ENTITY y SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;',
    ],
    ids=["growing", "external", "parameter"],
)
@pytest.mark.parametrize(
    "body",
    [
        "<urlset><url><loc>/&y;</loc></url><url><loc>/b</loc></url></urlset>",
        "<rss><channel><item><title>&y;</title><link>/b</link></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>&y;</title><link href='/b'/></entry></feed>",
    ],
    ids=["sitemap", "rss", "atom"],
)
def test_declared_entities_are_neither_expanded_nor_fetched(declaration, body):
    feed = f'<?xml version="1.0"?><!DOCTYPE r [{declaration}]>{body}'
    (item,) = read_feed(feed.encode(), "http://a.example/f", "text/xml", 1e9).items
    assert item.url == "http://a.example/b"
    assert item.title in ("", "&y;")


@pytest.mark.parametrize(
    "base", ["file:///etc/", "ftp://a.example/", "javascript:1", "data:,x", "//u:p@[", "about:blank"]
)
def test_base_that_leaves_the_web_is_ignored(base):
    reader = ResponseReader(LinkResolver(), frozenset({"a"}), frozenset({"text/html"}))
    body = f"<base href='{base}'><a href=x>x</a><a href={base}>y</a>".encode()
    page = reader.read(WebResponse("http://a.example/d/", 200, body, "text/html"), 1, 0, 0.0)
    assert [target.url for target, _ in page.links] == ["http://a.example/d/x"]
    assert len(page.bad) == 1
