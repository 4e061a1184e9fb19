"""Where the feeds and sitemaps of a news crawl are, whose they are, and which of them nobody wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import site_of
from crawlers.extraction.feeds.feed_discovery import USUAL_PLACES
from crawlers.storage.schema.news_tables import FoundFeed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlers.algorithms.news.sources import SourceOwners
    from crawlers.items import Page, Target
    from crawlers.storage.change_set import ChangeSet

REMOVED = "a feed that was removed, or whose source is left out"


class FeedRegistry:
    """Of all sources. *resolve* makes a target of a base and a path.

    *homes* are the URLs of their start pages; *known* those of their feeds and sitemaps, with their kinds; *removed*
    those that are not to be asked for, nor is any at the sites *left_out*. *owners* knows whose the others are.
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
        self._kept = set(self._kinds)  # that the store has
        self._removed = {resolve(url, "").key for url in removed}
        self._left_out = frozenset(left_out)
        self._named: dict[int, str | None] = {}  # whose page named a feed on another's host
        self._fed: set[str] = set()  # domains whose feeds are known, or were looked for
        for url in known:
            self.found(url)

    def is_home(self, key: int) -> bool:
        """Whether *key* is that of a start page."""
        return key in self._homes

    def kind(self, key: int) -> str:
        """What sort of poll the URL of that *key* is, before it was ever had; "" if nobody knows."""
        return self._kinds.get(key, "")

    def moved(self, key: int, target: int) -> None:
        """What was at *key* is found under another address."""
        if key in self._homes:
            self._homes.add(target)
        if key in self._kinds:
            self._kinds[target] = self._kinds[key]

    def owner(self, url: str, key: int) -> str | None:
        """The site of the source whose feed *url* is; None if nobody knows."""
        return self._owners.of(site_of(url)) or self._named.get(key)

    def keep(self, page: Page, key: int, kind: str, changes: ChangeSet) -> None:
        """*page* is a feed: let the store have it with *changes*, unless it does."""
        owner = None if key in self._kept else self.owner(page.url, key)
        if owner is not None:
            self._kept.add(key)
            changes.add(FoundFeed(owner, page.url, kind))

    def reason_against(self, key: int) -> str | None:
        """Why the URL of that *key* is not to be asked for."""
        return REMOVED if key in self._removed else None

    def found(self, url: str) -> bool:
        """A feed or sitemap is said to be at *url*; whether it is wanted."""
        self._fed.add(rule_domain(site_of(url)))
        return self._resolve(url, "").key not in self._removed

    def of_home(self, url: str, named: Sequence[Target]) -> list[Target]:
        """Where to look, for the start page at *url* and the feeds *named* there: without any, in the usual places."""
        domain = rule_domain(site_of(url))
        if not named and domain not in self._fed:
            named = [self._resolve(url, place) for place in USUAL_PLACES]
        self._fed.add(domain)
        return self.wanted(url, named)

    def wanted(self, url: str, feeds: Iterable[Target]) -> list[Target]:
        """Those of *feeds*, which the page at *url* names, that may be asked for."""
        wanted = [one for one in feeds if one.key not in self._removed and one.site not in self._left_out]
        for target in wanted:
            if self._owners.of(target.site) is None:
                self._named.setdefault(target.key, self._owners.of(site_of(url)))
        return wanted
