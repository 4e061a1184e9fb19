"""Adds the URLs of a running crawl to which no page has led: start URLs, roots, and those that robots.txt names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.values import Candidate
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.items import Target
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.urls.url_filter import UrlFilter


class StartUrls:
    """They are on level 0, and *url_filter* selects all of them."""

    def __init__(self, session: CrawlSession, sites: OpenSites, url_filter: UrlFilter, spec: CrawlSpec) -> None:
        self._session = session
        self._sites = sites
        self._url_filter = url_filter
        self._roots = spec.roots
        self._hint = spec.start_hint

    def add_for(self, rows: Sequence[SiteRow], now: float) -> None:
        """Add the start URLs and roots of sites that were opened."""
        listed = (row for row in rows if self._sites.is_in_host_list(row.site))
        self._add([(row.id, row.start_url or f"{row.site}/") for row in listed], now, ChangeSet())
        held = {row.site for row in rows}
        is_shared = self._session.claims.is_divided  # then the other roots are added with their sites
        urls = [url for url in self._roots if not is_shared or site_of(url) in held]
        changes = ChangeSet()
        self._add([(self._sites.id_of(site_of(url), now, changes), url) for url in urls], now, changes)

    def add(self, urls: Iterable[str], now: float, changes: ChangeSet) -> None:
        """Add URLs of any sites with *changes*; those of sites that this worker does not hold are sent."""
        here: list[tuple[int, str]] = []
        away: list[Target] = []
        for url in urls:
            site_id = self._sites.open_site_id(site_of(url))
            if site_id is None and not self._session.claims.is_divided:
                site_id = self._sites.id_of(site_of(url), now, changes)
            if site_id is not None:
                here.append((site_id, url))
            else:
                away.append(resolve(url, "", self._session.options))
        if away:
            self._sites.add_sites(dict.fromkeys(target.site for target in away), now, changes)
            changes.add(*self._session.claims.roots(away, self._hint, now))
        self._add(here, now, changes)

    def _add(self, urls: Iterable[tuple[int, str]], now: float, changes: ChangeSet) -> None:
        found = [(site_id, resolve(url, "", self._session.options)) for site_id, url in urls]
        for _, target in found:
            self._url_filter.select(target)
        self._session.frontier.add([Candidate(*one, hint=self._hint) for one in found], now, changes)
