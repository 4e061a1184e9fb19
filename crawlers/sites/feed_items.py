"""Collects the contents of a feed or sitemap: absolute links without duplicates, newest first, undated last.

A parser gets the bytes inflated, in UTF-8, and only the root element.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import BadBody, BadUrl, DamagedBody
from crawlers.pages.charset import decode
from crawlers.pages.decompression import decompressed
from crawlers.pages.link_context import collapse
from crawlers.reasons import Reason
from crawlers.sites import MAX_INFLATED
from crawlers.urls.resolution import absolute, parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ITEMS = 50_000  # the limit of the sitemap protocol; feeds have tens
TITLE_CHARS = 500
LANGUAGE_CHARS = 35  # the buffer size required by RFC 5646

_RAW_TITLE_CHARS = 4 * TITLE_CHARS  # includes markup and blanks, which are removed
_DAY_S = 86_400.0  # the error of clocks and time zones is smaller
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # databases refuse some of them
WEB = ("http://", "https://")


class FeedItem(NamedTuple):  # 50,000 data classes would take 0.1 s to be received from another process
    """One link of a feed: absolute *url* without fragment, *published_at* in seconds since 1970 if given."""

    url: str
    published_at: float | None
    title: str
    is_article: bool = True  # as declared; a sitemap lists all pages of a site, some of which may be news


@dataclass(frozen=True, slots=True)
class FeedContent:
    """The contents of a feed or sitemap. *problem* describes its fault in one sentence.

    *kind* is one of rss, atom, json, news sitemap, sitemap, sitemap index; empty if it is none of these.
    *further* are the sitemaps that an index names, or the next pages of a feed (RFC 5005). *rest* is the number of the
    entries that were read, if others follow.
    """

    kind: str = ""
    items: list[FeedItem] = field(default_factory=list)
    further: list[str] = field(default_factory=list)
    problem: str = ""
    language: str = ""
    title: str = ""
    rest: int = 0


class Gathering:
    """Collects links as they are read. *url* is the URL of the feed; raises `BadUrl` if it is invalid."""

    def __init__(self, url: str, now: float) -> None:
        self.url = url
        self._base = parsed(url)
        self._own_url = absolute(self._base, "", None)
        self._latest = now + _DAY_S
        self._items: dict[str, FeedItem] = {}
        self._further: dict[str, float | None] = {}

    @property
    def is_full(self) -> bool:
        """Return whether no more items are accepted."""
        return max(len(self._items), len(self._further)) >= MAX_ITEMS

    def __bool__(self) -> bool:
        return bool(self._items or self._further)

    def item(
        self,
        href: str,
        date: str | float | None,
        title: str = "",
        *,
        is_article: bool = True,
        languages: Sequence[str] = (),
    ) -> None:
        """Add the item at *href*, if that is a web URL; a duplicate only adds values that the first one lacks.

        See `read_date` for the *languages* of its *date*.
        """
        url = self._absolute(href)
        if url is None or (self.is_full and url not in self._items):
            return
        new = FeedItem(url, self._seconds(date, languages), plain(title), is_article)
        old = self._items.get(url)
        if old is not None:
            published_at = new.published_at if old.published_at is None else old.published_at
            new = FeedItem(url, published_at, old.title or new.title, old.is_article or is_article)
        self._items[url] = new

    def more(self, href: str, date: str | None = None) -> None:
        """Add another sitemap, or another page of the feed, at *href*."""
        url = self._absolute(href)
        if url is not None and url != self._own_url and not self.is_full:
            self._further.setdefault(url, self._seconds(date))

    def content(self, kind: str, problem: str = "", language: str = "", title: str = "") -> FeedContent:
        """Return everything collected."""
        return FeedContent(
            kind,
            sorted(self._items.values(), key=lambda one: _newest_first(one.published_at)),
            sorted(self._further, key=lambda url: _newest_first(self._further[url])),
            problem,
            plain(language).replace("_", "-")[:LANGUAGE_CHARS],
            plain(title),
        )

    def _absolute(self, href: str) -> str | None:
        try:
            url = absolute(self._base, href, None) if href else ""
        except BadUrl:
            return None
        return url if url.startswith(WEB) else None

    def _seconds(self, date: str | float | None, languages: Sequence[str] = ()) -> float | None:
        if isinstance(date, str):
            from crawlers.sites.date_notations import seconds_of  # with the names of months of many languages

            seconds = seconds_of(date, languages)
        else:
            seconds = date
        # Programs write 1970 for an unknown date.
        return seconds if seconds is not None and 0 < seconds <= self._latest else None


def plain(title: str) -> str:
    """Return *title* without markup, on one line, at most `TITLE_CHARS` long.

    >>> plain(" <b>Tom</b> &amp; Jerry ")
    'Tom & Jerry'
    """
    text = html.unescape(_TAG.sub("", title[:_RAW_TITLE_CHARS]))
    return collapse(_UNWRITABLE.sub(" ", text))[:TITLE_CHARS].rstrip()


def _newest_first(published_at: float | None) -> float:
    return 0.0 if published_at is None else -published_at


_CHUNK = 1024  # lost before a damaged position
_GZIP_WINDOW = 31  # makes zlib expect a gzip header, with any window size
_NOT_XML = bytes(code for code in range(32) if code not in b"\t\n\r")
# Some programs write feeds behind the DOCTYPE of their pages: it counts only if no root of a feed follows it.
_FEED_FOLLOWS = rb"[^<>]*>(?>\s|<!--.*?-->|<\?.*?>)*+<(?:[\w.-]+:)?(?:rss|rdf|feed|urlset|sitemapindex)[\s/>]"
_ROOT = re.compile(
    rb"<(?:!doctype\s+(html)\b(?!"
    + _FEED_FOLLOWS
    + rb")|(?:[\w.-]+:)?(rss|rdf|feed|channel|urlset|sitemapindex|html|head|body)(?=[\s/>]|\Z))",
    re.I | re.S,
)
# Ampersands that do not begin an XML entity (common in addresses), and numeric references. In CDATA they are text.
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!(?:amp|lt|gt|quot|apos);)"
    rb"(?:#(?P<code>\d{1,7}|x[0-9a-fA-F]{1,6});|(?P<name>(?=[a-zA-Z][\w.-]*;)))?",
    re.S,
)


def inflated(body: bytes, limit: int = MAX_INFLATED) -> tuple[bytes, str]:
    """Return *body* without gzip, at most *limit* bytes of it, and a description of the problem, if any.

    Truncated or damaged data is returned up to that point.
    """
    problem = ""
    for _ in range(2):  # servers compress files that are .gz already
        try:
            body = decompressed(body, ["gzip"], limit)
        except DamagedBody as error:
            body, problem = error.begun, Reason.GZIP_DAMAGED if error.__cause__ else Reason.GZIP_CUT
        except BadBody as error:
            body = error.begun
    return body[:limit], Reason.GZIP_LARGE.of(limit) if len(body) > limit else problem


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """Return *body* as well-formed UTF-8 without the characters that XML forbids."""
    utf8, _ = decode(body, content_type)
    try:
        utf8.decode()
    except UnicodeDecodeError:
        utf8 = utf8.decode("utf-8", "replace").encode()
    return utf8.translate(None, _NOT_XML).replace(b"\xef\xbf\xbe", b"").replace(b"\xef\xbf\xbf", b"").strip()


def root_of(utf8: bytes) -> str:
    """Return the local name of the root element of a feed, sitemap or HTML page in lower case; empty if there is none.

    >>> root_of(b"<?xml version='1.0'?><rdf:RDF>")
    'rdf'
    """
    found = _ROOT.search(utf8)
    return "" if found is None else (found[1] or found[2]).decode().lower()


def element(utf8: bytes, undeclared: bytes = b"&amp;") -> bytes:
    """Return only the root element, which must be known to `root_of`, with its ampersands repaired.

    Everything before it (output of scripts, a DOCTYPE with growing entities) and after it is removed, and so is a
    truncated text, because half an address would be a wrong one. *undeclared* replaces the ampersand of references to
    entities that XML does not know.
    """
    found = _ROOT.search(utf8)
    if found is None:
        return b""
    end = utf8.lower().rfind(b"</" + found[0][1:].lower())
    end = utf8.rfind(b">") if end < 0 else utf8.find(b">", end)
    xml = utf8[found.start() : end + 1] if end >= 0 else utf8[found.start() :]
    return _REFERENCE.sub(partial(_repaired, undeclared), xml) if b"&" in xml else xml


def _repaired(undeclared: bytes, found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return found[1] if found[1].endswith(b"]]>") else found[1].replace(b"&", b"&amp;")
    if found["code"] is None:
        return b"&amp;" if found["name"] is None else undeclared
    code = int(found["code"][1:], 16) if found["code"][:1] == b"x" else int(found["code"])
    is_character = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
    return found[0] if is_character else b""
