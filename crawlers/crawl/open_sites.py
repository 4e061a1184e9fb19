"""The open sites of a run: how they are opened and closed, which are on trial, and their URLs to which no page has led.

These are start URLs, roots, and those that robots.txt names. The home page of a site may redirect to https, to www, or
to another host of its domain: the site keeps its name, its limits and its files, and its pages are those of all these
addresses.

Downloads are left to the sites that respond: those that may hang get a part of them only. A site is on trial until it
has responded, and again after each download without a response. A hundred sites that accept connections and never
answer would otherwise occupy all downloads until they time out.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.frontier.values import Candidate
from crawlers.items import REDIRECT, ExternalLink, State
from crawlers.reasons import Reason
from crawlers.store.schema.tables import SiteHome
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.domains import is_same_domain
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease, SiteStart
    from crawlers.items import Page, SiteLimits, Target
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.urls.url_filter import UrlFilter

logger = logging.getLogger(__name__)


class OpenSites:
    """The open sites by id. *listed* are the sites of the host list, also those that this process has not opened."""

    def __init__(self, session: CrawlSession, listed: Iterable[SiteLimits] = ()) -> None:
        self._session = session
        self._addresses = session.addresses
        self._is_full = False
        self.listed = {limits.site for limits in listed}
        for limits in listed:
            self._addresses.set(limits.site, (limits.site, *limits.aliases), limits.site)
        self.rows: dict[int, SiteRow] = {}  # with their limits
        self.ids: dict[str, int] = {}
        self._sources: dict[int, set[int]] = {}  # the open sites of sources with several, by the leading site
        self._elsewhere: set[str] = set()  # sites of the crawl that are not open here, as far as they were needed
        self.fetching: set[int] = set()  # sites whose robots.txt or sitemap was requested, and is not known yet

    def open(self, row: SiteRow, now: float, start: SiteStart | None = None) -> None:
        """Open a site, in the frontier as well, which reads its *start* from the store if that is not given."""
        self.rows[row.id] = row
        self.ids[row.site] = row.id
        if row.source_id is not None:
            self._sources.setdefault(row.source_id, {row.source_id}).add(row.id)
        self._elsewhere.discard(row.site)
        self._addresses.set(row.site, row.addresses, row.address)
        self._session.frontier.open_site(row, now, start)

    def close(self, site_id: int) -> None:
        """Forget a site that the frontier has closed; it may be opened again."""
        row = self.rows.pop(site_id)
        del self.ids[row.site]
        self._sources.pop(row.source_id or row.id, None)  # which is closed as a whole
        self._elsewhere.add(row.site)

    def id_of(self, site: str, now: float, changes: ChangeSet) -> int:
        """Return the id of *site* (scheme://host[:port]) in this crawl.

        A new site is opened. Its row is added to *changes*, which must have a page of the site, too: nobody would know
        how to begin with a site that a kill left without pages.
        """
        if site not in self.ids:
            self.open(self._session.add_site(site, self.ids, changes), now)
        return self.ids[site]

    def source(self, site_id: int) -> int:
        """Return the number of the site that leads the source of an open site."""
        return self.rows[site_id].source_id or site_id

    def sites_of(self, source: int) -> list[int]:
        """Return the open sites of a source, in order."""
        return sorted(number for number in self._sources.get(source, {source}) if number in self.rows)

    def open_site_id(self, address: str) -> int | None:
        """Return the id of the site to which *address* belongs; None if it is not open."""
        return self.ids.get(self._addresses.site(address))

    def is_site_of_crawl(self, address: str) -> bool:
        """Return whether *address* is that of a site of the crawl, even of one that is not open."""
        site = self._addresses.site(address)
        return site in self.listed or self._is_known(site) or address in self._session.row.excluded

    def _is_known(self, site: str) -> bool:
        return site in self.ids or site in self._elsewhere

    def home_moved(self, site_id: int, address: str) -> SiteHome:
        """Let the pages of a site be requested from *address*, to which its home page redirects; return the row."""
        row = self.rows[site_id]
        homes = (*(home for home in row.home_addresses if home != address), address)
        row = self.rows[site_id] = replace(row, home_addresses=homes)
        self._addresses.set(row.site, row.addresses, row.address)
        return SiteHome(site_id, " ".join(homes))

    def open_cross_site(self, page: Page, now: float, changes: ChangeSet, *, adds_sites: bool = True) -> Page:
        """Open the sites of the scope to which *page* leads, and return it; rows are added to *changes*.

        Links to other sites become external ones: to those that the host list omits, those beyond the most sites, and
        without *adds_sites*, all new ones: of an unchanged page, no links are stored that could begin a site.
        """
        if page.moved_to is None and not page.cross_site_links:
            return page
        names = dict.fromkeys(target.site for target, _ in page.cross_site_links)
        if page.moved_to is not None:
            names[page.moved_to.site] = None
        are_open = self.add_sites(names, now, changes) if adds_sites else not self._unknown(names)[0]
        return page if are_open else self._without_closed_sites(page)

    def add_sites(self, names: Iterable[str], now: float, changes: ChangeSet) -> bool:
        """Make *names* sites of the crawl, as far as possible; return whether all are.

        They are opened, or if several workers work on the crawl, added to *changes* as sites that nobody holds.
        """
        unknown, number = self._unknown(names)
        new = [name for name in unknown if name not in self._session.row.excluded]
        room = max(0, self._session.most_sites - number)
        for name in new[:room]:
            if self._session.claims.is_divided:
                changes.extend(self._session.add_site_elsewhere(name))
                self._elsewhere.add(name)
            else:
                self.id_of(name, now, changes)
        if len(new) > room:
            self._warn_of_most_sites(new[room])
        return len(new) == len(unknown) <= room

    def _unknown(self, names: Iterable[str]) -> tuple[list[str], int]:
        """Return those of *names* that are not sites of this run of the crawl, and the number of those that are."""
        unknown = [name for name in names if not self._is_known(name)]
        if not unknown or not self._session.claims.is_divided:
            return unknown, len(self.ids)
        # Other workers discover sites, too.
        found, number = self._session.sites_elsewhere(
            [name for name in unknown if name not in self._session.row.excluded]
        )
        self._elsewhere.update(found)
        return [name for name in unknown if name not in found], number

    def _warn_of_most_sites(self, name: str) -> None:
        if not self._is_full:
            logger.warning(
                "%s and other new sites are not opened, because a crawl has at most %d sites; links to them are stored "
                "as external ones. Further occurrences are not logged",
                name,
                self._session.most_sites,
            )
        self._is_full = True

    def _without_closed_sites(self, page: Page) -> Page:
        """Return *page* with the links to sites that are not open as external ones."""
        links = list(page.cross_site_links)
        if page.moved_to is not None and not self._is_known(page.moved_to.site):
            links.append((page.moved_to, 1))
            reason = Reason.REDIRECT_TO_OTHER_SITE.of(page.moved_to.url)
            page = replace(page, state=State.REFUSED, reason=reason, moved_to=None)
        outside = [(target, count) for target, count in links if not self._is_known(target.site)]
        external = [(ExternalLink(to.url, to.key, to.site, "", "", "", "", ""), count) for to, count in outside]
        return replace(
            page,
            cross_site_links=[(target, count) for target, count in links if self._is_known(target.site)],
            external=[*page.external, *external],
        )


class StartUrls:
    """They are on level 0, as the pages to which they redirect, and *url_filter* selects all of them."""

    def __init__(self, session: CrawlSession, sites: OpenSites, url_filter: UrlFilter) -> None:
        self._session = session
        self._sites = sites
        self._url_filter = url_filter
        self._moving: dict[int, str] = {}  # new addresses of sites that are not logged yet, by site id

    def add_for(self, rows: Sequence[SiteRow], now: float) -> None:
        """Add the start URLs and roots of sites that were opened."""
        listed = (row for row in rows if row.site in self._sites.listed)
        self._add([(row.id, row.start_url or f"{row.site}/") for row in listed], now, ChangeSet())
        held = {row.site for row in rows}
        is_shared = self._session.claims.is_divided  # then the other roots are added with their sites
        urls = [url for url in self._session.spec.roots if not is_shared or site_of(url) in held]
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
            changes.add(*self._session.claims.roots(away, self._session.spec.start_hint, now))
        self._add(here, now, changes)

    def _add(self, urls: Iterable[tuple[int, str]], now: float, changes: ChangeSet) -> None:
        found = [(site_id, resolve(url, "", self._session.options)) for site_id, url in urls]
        for _, target in found:
            self._url_filter.select(target)
        self._session.frontier.add([Candidate(*one, hint=self._session.spec.start_hint) for one in found], now, changes)

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
        site = self._sites.rows[lease.site_id].site
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
                self._sites.rows[site_id].site,
                address,
            )


def _redirect(page: Page, site: str) -> str | None:
    """Return the URL to which *page* redirects within its *site*, or to a site outside of the scope of the crawl."""
    if page.moved_to is not None:
        return page.moved_to.url if page.moved_to.site == site else None
    if page.state is State.REFUSED:
        return next((link.url for link, _ in page.external if link.tag == REDIRECT), None)
    return None


class Trials:
    """Admits pages of sites on trial: at most half of the *most* downloads, and no second one while others wait.

    Together with the robots.txt files in flight, which are limited to half as well, they are at most three quarters.
    """

    def __init__(self, most: float) -> None:
        is_limited = math.isfinite(most)  # infinity // 2 is not a number
        self._half = most // 2 if is_limited else most
        self._three_quarters = most * 3 // 4 if is_limited else most
        self._responding: set[int] = set()  # sites that responded last
        self._pages: set[int] = set()  # in flight, of sites on trial
        self._sites: Counter[int] = Counter()  # their numbers
        self._waiting: deque[int] = deque()  # sites

    def _room(self, robots: int) -> float:
        return max(1, min(self._half, self._three_quarters - robots)) - len(self._pages)

    def admits(self, site_id: int, robots: int) -> bool:
        """Return whether a page of the site may be requested while *robots* robots.txt are in flight."""
        if site_id in self._responding:
            return True
        return self._room(robots) > 0 and not (site_id in self._sites and self._waiting)

    def wait(self, site_id: int) -> None:
        """Let the site wait until there is room."""
        self._waiting.append(site_id)

    def admit_waiting(self, robots: int) -> list[int]:
        """Return the sites that need not wait any longer, the first first."""
        if not self._waiting:
            return []
        return [self._waiting.popleft() for _ in range(int(min(self._room(robots), len(self._waiting))))]

    def record_request(self, site_id: int, page_id: int) -> None:
        """Note the request for a page."""
        if site_id not in self._responding:
            self._pages.add(page_id)
            self._sites[site_id] += 1

    def forget_site(self, site_id: int) -> None:
        """Forget a site of which no page is in flight."""
        self._responding.discard(site_id)
        if site_id in self._waiting:
            self._waiting.remove(site_id)

    def record_result(self, site_id: int, page_id: int, *, responded: bool | None) -> None:
        """Note the end of the request for a page; *responded* is None if no request was sent to the site."""
        if responded:
            self._responding.add(site_id)
        elif responded is not None:
            self._responding.discard(site_id)
        if page_id in self._pages:
            self._pages.remove(page_id)
            self._sites[site_id] -= 1
            if not self._sites[site_id]:
                del self._sites[site_id]
