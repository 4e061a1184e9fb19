"""Collects the contents of a feed or sitemap: absolute links without duplicates, newest first, undated last."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import BadUrl
from crawlers.pages.link_context import collapse
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
    *further* are the sitemaps that an index names, or the next pages of a feed (RFC 5005).
    """

    kind: str = ""
    items: list[FeedItem] = field(default_factory=list)
    further: list[str] = field(default_factory=list)
    problem: str = ""
    language: str = ""
    title: str = ""


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
