"""Where a site's feeds and sitemaps are: what its home page and robots.txt say, and the usual places."""

from __future__ import annotations

import re

from crawlers.algorithms.urls import join
from crawlers.errors import BadUrl
from crawlers.extraction.page import parse_page

# Tried where nothing is given, the most usual first.
USUAL_PLACES = (
    "/feed", "/rss.xml", "/rss", "/sitemap.xml", "/feed.xml", "/atom.xml", "/index.xml", "/sitemap_index.xml",
    "/news-sitemap.xml", "/sitemap-news.xml", "/feeds/posts/default", "/feed.json",
)  # fmt: skip
FEEDS_MAX = 20  # of a page; a catalogue of feeds for every topic is no longer news
SITEMAPS_MAX = 1000

_LINK = frozenset({"link"})
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
# Also the types of much else, such as an interface for programs.
_VAGUE_TYPES = frozenset({"application/json", "application/rdf+xml", "application/xml", "text/xml"})
_FEED_PATH = re.compile(r"feed|rss|atom|\.rdf\b", re.I)
_COMMENTS = re.compile(r"\b(?:comments|comentarios|comentários|commentaires|commenti|kommentare|комментари\w+)\b", re.I)
_SITEMAP = re.compile(r"^[ \t\ufeff]*sitemap[ \t]*:[ \t]*(https?://[^\s#]+)", re.I | re.M)
_WEB = ("http://", "https://")


def feeds_of(body: bytes, content_type: str | None, url: str) -> list[str]:
    """Return the absolute URLs of the feeds that the page *body* names in its links, in their order; not of comments.

    *content_type* is the HTTP header, *url* that of the page.
    """
    page = parse_page(body, content_type, _LINK)
    base = _joined(url, page.base or "") or url
    feeds: dict[str, None] = {}
    for index, href in enumerate(page.hrefs):
        attributes = page.node(index).attributes
        if "alternate" not in (attributes.get("rel") or "").lower().split():
            continue
        mime = (attributes.get("type") or "").partition(";")[0].strip().lower()
        if mime not in _FEED_TYPES and not (mime in _VAGUE_TYPES and _FEED_PATH.search(href)):
            continue
        if _COMMENTS.search(href) or _COMMENTS.search(attributes.get("title") or ""):
            continue
        feed = _joined(base, href)
        if feed is not None:
            feeds.setdefault(feed)
    return list(feeds)[:FEEDS_MAX]


def sitemaps_of_robots(text: str) -> list[str]:
    """Return the URLs of the sitemaps that a robots.txt names, each once.

    >>> sitemaps_of_robots("User-agent: *\\nSitemap: https://example.com/news.xml # daily")
    ['https://example.com/news.xml']
    """
    return list(dict.fromkeys(_SITEMAP.findall(text)))[:SITEMAPS_MAX]


def _joined(base: str, href: str) -> str | None:
    # Old readers wanted this scheme instead of http, or before it.
    if href[:5].lower() == "feed:":
        href = href[5:] if href[5:].lower().startswith(_WEB) else f"http:{href[5:]}"
    try:
        url = join(base, href)
    except BadUrl:
        return None
    return url if url.startswith(_WEB) else None
