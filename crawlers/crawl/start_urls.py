"""The URLs of a running crawl to which no page has led: start URLs, roots, and those that robots.txt names.

The home page of a site may redirect to https, to www, or to another host of its domain: the site keeps its name, its
limits and its files, and its pages are those of all these addresses.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.frontier.values import Candidate
from crawlers.items import REDIRECT, State
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.domains import is_same_domain
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease
    from crawlers.items import Page, Target
    from crawlers.store.schema.tables import SiteHome
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.urls.url_filter import UrlFilter

logger = logging.getLogger(__name__)


class StartUrls:
    """They are on level 0, as the pages to which they redirect, and *url_filter* selects all of them."""

    def __init__(self, session: CrawlSession, sites: OpenSites, url_filter: UrlFilter) -> None:
        self._session = session
        self._sites = sites
        self._url_filter = url_filter
        self._roots = session.spec.roots
        self._hint = session.spec.start_hint
        self._moving: dict[int, str] = {}  # new addresses of sites that are not logged yet, by site id

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

    # Redirects --------------------------------------------------------------------------------------

    def follow(self, lease: Lease, page: Page) -> tuple[Page, SiteHome | None]:
        """Return *page* of level 0 as a redirect within its site, if it is one to another address of its domain.

        The second value is the row of a site with a new address.
        """
        page, row = self._followed(lease, page)
        if page.moved_to is not None and not self._url_filter.select(page.moved_to):
            logger.warning(
                "%s redirects to %s, which is not in the folder of the site: only that page is fetched; give its "
                "address in the list of sites",
                page.url,
                page.moved_to.url,
            )
        return page, row

    def _followed(self, lease: Lease, page: Page) -> tuple[Page, SiteHome | None]:
        site = self._sites.row(lease.site_id).site
        url = _redirect(page, site)
        if url is None:
            self._log(lease.site_id, page)
            return page, None
        address = site_of(url)
        if address == site_of(lease.url):
            return page, None
        if self._session.addresses.site(address) != site and (
            self._sites.is_site_of_crawl(address) or not is_same_domain(address, site)
        ):
            return page, None
        row = self._sites.home_moved(lease.site_id, address)
        self._moving[lease.site_id] = address
        target = self._session.addresses.of_site(resolve(url, "", self._session.options))
        return replace(page, state=State.MOVED, reason="", moved_to=target, external=()), row

    def forget_site(self, site_id: int) -> None:
        """Forget a site."""
        self._moving.pop(site_id, None)

    def _log(self, site_id: int, page: Page) -> None:
        address = self._moving.pop(site_id, None)
        if address is not None and page.state is State.DONE:
            logger.info(
                "The home page of %s redirects to %s: the site is crawled there, with the limits and the file name of "
                "its line in the list of sites",
                self._sites.row(site_id).site,
                address,
            )


def _redirect(page: Page, site: str) -> str | None:
    """Return the URL to which *page* redirects within its *site*, or to a site outside of the scope of the crawl."""
    if page.moved_to is not None:
        return page.moved_to.url if page.moved_to.site == site else None
    if page.state is State.REFUSED:
        return next((link.url for link, _ in page.external if link.tag == REDIRECT), None)
    return None
