"""Follows the home page of a site that redirects to https, to www, or to another host of its domain.

The site keeps its name, its limits and its files, and its pages are those of all these addresses.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.items import REDIRECT, State
from crawlers.urls.domains import is_same_domain
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease
    from crawlers.items import Page
    from crawlers.store.schema.tables import SiteHome
    from crawlers.urls.url_filter import UrlFilter

logger = logging.getLogger(__name__)


class HomeAddresses:
    """The redirects of pages on level 0, which are start URLs and pages to which these redirect."""

    def __init__(self, session: CrawlSession, sites: OpenSites, url_filter: UrlFilter) -> None:
        self._session = session
        self._sites = sites
        self._url_filter = url_filter
        self._moving: dict[int, str] = {}  # new addresses of sites that are not logged yet, by site id

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
