"""Finds the feeds of a site: on its pages, and at the usual paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlers.pages.html import ParsedPage

# Tried if a site names no feeds, the most usual first.
USUAL_PLACES = (
    "/feed", "/rss.xml", "/rss", "/sitemap.xml", "/feed.xml", "/atom.xml", "/index.xml", "/sitemap_index.xml",
    "/news-sitemap.xml", "/sitemap-news.xml", "/feeds/posts/default", "/feed.json",
)  # fmt: skip
MAX_FEEDS = 20  # of a page; a page with more is a directory of feeds

_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
# These types are also used for other purposes, such as APIs.
_VAGUE_TYPES = frozenset({"application/json", "application/rdf+xml", "application/xml", "text/xml"})
_FEED_PATH = re.compile(r"feed|rss|atom|\.rdf\b", re.I)
_COMMENTS = re.compile(r"\b(?:comments|comentarios|comentários|commentaires|commenti|kommentare|комментари\w+)\b", re.I)


def feeds_of(parsed: ParsedPage) -> list[str]:
    """Return the raw feed URLs in head and body of the page *parsed*, in document order, without feeds of comments."""
    feeds: dict[str, None] = {}
    for node in parsed.tree.css("link[href]"):
        attributes = node.attributes
        href = (attributes.get("href") or "").strip()
        if not href or "alternate" not in (attributes.get("rel") or "").lower().split():
            continue
        mime = (attributes.get("type") or "").partition(";")[0].strip().lower()
        if mime not in _FEED_TYPES and not (mime in _VAGUE_TYPES and _FEED_PATH.search(href)):
            continue
        if not _COMMENTS.search(href) and not _COMMENTS.search(attributes.get("title") or ""):
            feeds.setdefault(_without_feed_scheme(href))
    return list(feeds)[:MAX_FEEDS]


def _without_feed_scheme(href: str) -> str:
    """Return *href* without `feed:`, which old feed readers required instead of http, or before it."""
    if href[:5].lower() != "feed:":
        return href
    return href[5:] if href[5:].lower().startswith(("http://", "https://")) else f"http:{href[5:]}"
