"""The feeds of a news crawl: known ones, those named on pages or at usual paths, their sources, and removed ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlers.missions.news.stored.news_tables import DiscoveredFeed
from crawlers.reasons import Reason
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlers.items import Page, Target
    from crawlers.missions.news.feeds.sources import SourceOwners
    from crawlers.pages.html import ParsedPage
    from crawlers.store.writing.change_set import ChangeSet

USUAL_PLACES = ("/feed", "/rss.xml")  # tried once if a site names no feeds
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
            feeds.setdefault(href)
    return list(feeds)[:MAX_FEEDS]


class FeedRegistry:
    """The feeds of all sources. *resolve* returns the target of a base URL and a path.

    *homes* are the start URLs; *known* the kinds of feeds and sitemaps by URL. The URLs *removed*, and all on
    the sites *left_out*, are not requested. *owners* returns the source of other feeds.
    """

    def __init__(
        self,
        resolve: Callable[[str, str], Target],
        homes: Iterable[str],
        known: Mapping[str, str],
        removed: Iterable[str],
        left_out: Iterable[str],
        owners: SourceOwners,
    ) -> None:
        self._resolve = resolve
        self._owners = owners
        self._homes = {resolve(url, "").key for url in homes}
        self._kinds = {resolve(url, "").key: kind for url, kind in known.items()}
        self._kept = set(self._kinds)  # those in the store
        self._removed = {resolve(url, "").key for url in removed}
        self._left_out = frozenset(left_out)
        self._fed: set[str] = set()  # domains of which a feed is known, or was searched
        for url in known:
            self.add(url)

    def is_start_page(self, key: int) -> bool:
        """Return whether *key* is that of a start URL."""
        return key in self._homes

    def kind(self, key: int) -> str:
        """Return the kind of poll of a URL that was not fetched yet, by its *key*; "" if it is unknown."""
        return self._kinds.get(key, "")

    def move(self, key: int, target: int) -> None:
        """Note that the page with that *key* has moved."""
        if key in self._homes:
            self._homes.add(target)
        if key in self._kinds:
            self._kinds[target] = self._kinds[key]

    def owner(self, url: str, named_by: Iterable[str] = ()) -> str | None:
        """Return the source of the site of a feed, or else that of a site that it is *named_by*; None: none."""
        return next(filter(None, map(self._owners.of, (site_of(url), *named_by))), None)

    def is_unowned(self, url: str, key: int) -> bool:
        """Return whether *url* may be that of a new feed on a site of no source: it belongs to one that names it."""
        return key not in self._kept and self.owner(url) is None

    def keep(self, page: Page, key: int, kind: str, changes: ChangeSet, named_by: Iterable[str] = ()) -> None:
        """Add the feed *page* to *changes*, unless it is stored already; pages of the sites *named_by* link to it."""
        owner = None if key in self._kept else self.owner(page.url, named_by)
        if owner is not None:
            self._kept.add(key)
            self._fed.add(rule_domain(site_of(page.url)))
            changes.add(DiscoveredFeed(owner, page.url, kind))

    def reason_against(self, key: int) -> str | None:
        """Return why the URL with that *key* must not be requested."""
        return Reason.FEED_REMOVED if key in self._removed else None

    def add(self, url: str) -> bool:
        """Note that there may be a feed or sitemap at *url*; return whether it may be requested."""
        self._fed.add(rule_domain(site_of(url)))
        return self._resolve(url, "").key not in self._removed

    def of_home(self, url: str, named: Sequence[Target], *, is_read: bool) -> list[Target]:
        """Return the possible feeds of the start URL *url*: those *named* there, or usual ones if it can't be read."""
        if not named and not is_read:
            return self.usual(url)
        if named:
            self._fed.add(rule_domain(site_of(url)))
        return self.requestable(named)

    def usual(self, url: str) -> list[Target]:
        """Return the usual URLs of feeds on the site of *url*, unless a feed of its domain is known or was searched.

        Those that an earlier run has tried are known to the frontier.
        """
        domain = rule_domain(site_of(url))
        if domain in self._fed:
            return []
        self._fed.add(domain)
        return self.requestable([self._resolve(url, place) for place in USUAL_PLACES])

    def requestable(self, feeds: Iterable[Target]) -> list[Target]:
        """Return those of *feeds* that may be requested."""
        return [one for one in feeds if one.key not in self._removed and one.site not in self._left_out]
