"""Reads feeds and sitemaps of any format as a function of their bytes: nothing is fetched or raised.

RSS and Atom are parsed by feedparser after unneeded elements are removed: some of its handlers take quadratic time
(authors, categories), and one fails (gml:pos).
JSON Feed is read in versions 1 and 1.1 (https://www.jsonfeed.org/version/1.1/).
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawlers.errors import BadUrl
from crawlers.reasons import Reason
from crawlers.sites.date_notations import languages_of, seconds_of
from crawlers.sites.feed_items import MAX_ITEMS, WEB, FeedContent, Gathering, as_utf8, element, inflated, root_of
from crawlers.sites.sitemaps import UNDECLARED, is_text_sitemap, read_sitemap, read_text_sitemap

if TYPE_CHECKING:
    from collections.abc import Sequence

_ITEMS = re.compile(r'"items"\s*:\s*\[')
_SEPARATOR = re.compile(r"[\s,]*")


def read_json_feed(text: str, into: Gathering) -> FeedContent:
    """Return the contents of the JSON feed *text*; a truncated one yields the items before the cut."""
    problem = ""
    decoder = json.JSONDecoder(strict=False)  # strings with raw line breaks are common
    try:
        feed = decoder.decode(text)
    except (ValueError, RecursionError) as error:
        problem = Reason.FEED_INVALID.of(error)
        feed = {"items": _whole_items(text, decoder)}
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        return into.content("", problem or Reason.FEED_WITHOUT_ITEMS)
    languages = languages_of(_json_text(feed, "language"), into.url)
    for item in feed["items"]:
        if into.is_full:
            break
        if isinstance(item, dict):
            id_ = _json_text(item, "id")
            href = _json_text(item, "url", "external_url") or (id_ if id_.startswith(WEB) else "")
            date = _json_text(item, "date_published", "date_modified")
            into.item(href, date, _json_text(item, "title"), languages=languages)
    into.more(_json_text(feed, "next_url"))
    kind = "json" if into or not problem else ""
    return into.content(kind, problem, _json_text(feed, "language"), _json_text(feed, "title"))


def _whole_items(text: str, decoder: json.JSONDecoder) -> list[Any]:
    items: list[Any] = []
    start = _ITEMS.search(text)
    at = len(text) if start is None else start.end()
    try:
        while at < len(text) and len(items) < MAX_ITEMS:
            item, at = decoder.raw_decode(text, at)
            items.append(item)
            blank = _SEPARATOR.match(text, at)
            at = len(text) if blank is None else blank.end()
    except (ValueError, RecursionError):
        pass  # the text is truncated here
    return items


def _json_text(holder: dict[str, Any], *names: str) -> str:
    """Return the first non-empty text among *names*."""
    return next((value for name in names if isinstance(value := holder.get(name), str) and value.strip()), "")


_FEED_ITEMS = 10_000  # of RSS or Atom: hundreds of times the usual number
ITEMS_OF_SLICE = 1_000  # which a crawl takes up in less than 50 ms
NEWEST = 200  # the first ones, which belong to each slice
_FEED_BYTES = 8_000_000  # thirty articles with their texts take 0.2 MB
_READ_BYTES = 2_000_000  # without the texts; feedparser takes 5 s per megabyte of tags
_PROBLEM_CHARS = 200
_SNIFFED_BYTES = 4096

_FEED_ROOTS = frozenset({"rss", "rdf", "feed", "channel"})
_SITEMAP_ROOTS = frozenset({"urlset", "sitemapindex"})
_FEED_TYPES = frozenset(
    ["application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json", "text/rss+xml"]
)
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_JSON_FEED = re.compile(rb"jsonfeed\.org\\?/version")
_ANY_ELEMENT = re.compile(rb"<([a-zA-Z_][\w:.-]*)")
_ITEM = re.compile(rb"<(?:[\w.-]+:)?(?:item|entry)(?=[\s/>])", re.I)
_CONTENT = {"content-type": "application/xml; charset=utf-8"}

# In RSS the link is the text of its element, whatever its attributes say.
_LINK_WITH_TEXT = re.compile(rb"<link\s[^<>]*(?<!/)>(?=\s*(?:<!\[CDATA\[\s*)?[^\s<])", re.I)

# Removed: texts that are too long for a URL, a title or a date and make up most of a feed; images, whose titles and
# links are not those of the feed; empty titles, which would hide those of media; and, outside CDATA, irrelevant
# elements.
_VALUE_BYTES = 2000
_WASTE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|(?<=>)[^<]{2001,}|<title(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[\s*\]\]>\s*)?</title>"
    rb"|<(image|textinput)\b[^<>]*>(?:(?!<(?:item|image|textinput)\b).)*?</\2>"
    rb"|<(/?)(?!media:title[\s/>])(?!(?:(?!media:|itunes:|googleplay:)[\w.-]+:)?(?:rss|rdf|channel|feed|item|entry"
    rb"|title|link|guid|id|pubdate|date|published|updated|modified|issued|created|origlink|language|source"
    rb"|description|summary|content|encoded)[\s/>])[a-z_][\w:.-]*",
    re.I | re.S,
)


def read_feed(body: bytes, url: str, content_type: str | None, now: float, first: int | None = None) -> FeedContent:
    """Return the contents of the feed or sitemap *body*, found at *url*; never raises, whatever the bytes.

    A broken feed returns its readable items and a problem. *content_type* is the HTTP header, *now* in seconds since
    1970: dates more than a day later are errors. The caller limits the size of *body*; gzip is inflated here, up to
    50 MB. A slice of RSS or Atom has the newest entries, and goes on with the entry number *first*; None: as many
    entries as can be read at once.
    """
    try:
        into = Gathering(url, now)
    except BadUrl as error:
        return FeedContent(problem=Reason.FEED_ADDRESS.of(error.reason))
    body, damage = inflated(body)
    utf8 = as_utf8(body, content_type)
    content = _read(utf8, into, first)
    if damage:
        content = into.content(content.kind, damage, content.language, content.title)
    return content


def looks_like_feed(body: bytes, content_type: str | None, is_sitemap: bool = False) -> bool:
    """Return whether `read_feed` should read a response instead of an HTML parser.

    The first kilobytes of *body* suffice. With *is_sitemap* (named by robots.txt or an index) a text of addresses is
    accepted, too.
    """
    start = as_utf8(inflated(body[:_SNIFFED_BYTES], _SNIFFED_BYTES)[0], content_type)
    mime = (content_type or "").partition(";")[0].strip().lower()
    root = root_of(start)
    if root:
        return root in _FEED_ROOTS or root in _SITEMAP_ROOTS
    if start.startswith(b"{"):
        return mime in _FEED_TYPES or _JSON_FEED.search(start) is not None
    if mime in _XML_TYPES:  # the root element may follow a long prolog
        return _ANY_ELEMENT.search(start) is None
    return mime in _FEED_TYPES or (is_sitemap and is_text_sitemap(start))


def _read(utf8: bytes, into: Gathering, first: int | None) -> FeedContent:
    if utf8.startswith(b"{"):
        return read_json_feed(utf8[:_FEED_BYTES].decode("utf-8", "replace"), into)
    if is_text_sitemap(utf8):
        return read_text_sitemap(utf8, into)
    root = root_of(utf8)
    if root in _FEED_ROOTS:
        xml = element(utf8)
        return _read_feed(xml if root == "feed" else _LINK_WITH_TEXT.sub(b"<link>", xml), into, first)
    if root in _SITEMAP_ROOTS:
        return read_sitemap(element(utf8, UNDECLARED.encode()), into)
    if root:
        return into.content("", Reason.HTML_PAGE)
    found = _ANY_ELEMENT.search(utf8)
    name = "" if found is None else found[1].decode()[:_PROBLEM_CHARS]
    return into.content("", Reason.FEED_OTHER_ROOT.of(name) if name else Reason.FEED_EMPTY)


def _read_feed(xml: bytes, into: Gathering, first: int | None) -> FeedContent:
    import feedparser  # large; sitemaps are read without it

    starts = [found.start() for found in _ITEM.finditer(xml)]
    most, first = _FEED_ITEMS if first is None else ITEMS_OF_SLICE, first or 0
    if first < len(starts):  # the newest ones leave at least half of the room to the others
        newest = min(NEWEST, first, bisect(starts, starts[0] + _READ_BYTES // 2) - 1)
        xml = xml[: starts[newest]] + xml[starts[first] :]
    else:
        first = newest = 0
    end = starts[first - newest + most :][:1]
    shift = starts[first] - starts[newest] if first else 0
    whole = _cut(xml, min([_FEED_BYTES, *(start - shift for start in end)]))
    lean = _WASTE.sub(_without_waste, whole)
    short = _cut(lean, _READ_BYTES)
    is_cut = len(whole) < len(xml) or len(short) < len(lean)
    rest = max(first + 1, first - newest + len(_ITEM.findall(short)) - 1) if is_cut else 0  # the last one may be cut
    problem = Reason.FEED_CUT if is_cut else ""
    try:
        # As a file, since bytes may be read as a file name; without the feed's URL, so that links are not resolved.
        feed = feedparser.parse(
            io.BytesIO(short), response_headers=_CONTENT, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception as error:  # many handlers, hostile input
        return into.content("", Reason.FEED_UNREADABLE.of(type(error).__name__))
    languages = languages_of(_text(feed.feed, "language"), into.url)
    for entry in feed.entries:
        _take(entry, into, languages)
    for link in feed.feed.get("links", ()):
        if link.get("rel") in ("next", "prev-archive"):
            into.more(link.get("href", ""))
    if not problem and feed.bozo:
        problem = Reason.FEED_BROKEN.of(_message(feed.get("bozo_exception")))
    kind = "atom" if (feed.get("version") or "").startswith("atom") else "rss"
    return replace(into.content(kind, problem, _text(feed.feed, "language"), _text(feed.feed, "title")), rest=rest)


def _cut(xml: bytes, size: int) -> bytes:
    return xml if len(xml) <= size else xml[: xml.rfind(b">", 0, size) + 1]


def _without_waste(found: re.Match[bytes]) -> bytes:
    if found[3] is not None:
        return b"<" + found[3] + b"x"
    cdata = found[1] or b""
    return cdata if len(cdata) <= _VALUE_BYTES else b""


def _take(entry: Any, into: Gathering, languages: Sequence[str]) -> None:
    # FeedBurner and others put their own link in place of the article's, and that into origLink, by any prefix.
    origins = (_text(entry, name) for name in dict.keys(entry) if name.endswith("origlink"))
    href = next((url for url in origins if url.lower().startswith(WEB)), _text(entry, "link"))
    identity = _text(entry, "id")
    if not href and "link" in entry:
        href = identity  # an empty link before a guid
    if href == identity and not href.startswith((*WEB, "/")):
        href = ""  # a guid is a permanent link by default, even if it is a number
    if not href:
        links = entry.get("links", ())
        href = next((link.get("href", "") for link in links if link.get("rel") == "alternate"), "")
    into.item(href, _seconds(entry, languages), _text(entry, "title"))


def _seconds(entry: Any, languages: Sequence[str]) -> float | None:
    for name in ("published", "updated", "created"):
        # feedparser's own dates are not used: it knows fewer zones, and reads 2004년 5월 as November.
        seconds = seconds_of(_text(entry, name), languages)
        if seconds is not None:
            return seconds
    return None


def _text(holder: Any, *names: str) -> str:
    """Return the first non-empty text among *names*, without feedparser's guesses and warnings."""
    return next((value for name in names if isinstance(value := dict.get(holder, name), str) and value.strip()), "")


def _message(error: object) -> str:
    """Return the XML parser's message without its position, which refers to our copy."""
    message = getattr(error, "getMessage", lambda: str(error))()
    return str(message)[:_PROBLEM_CHARS]
