"""The open sites of a run, and those that pages lead to."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.items import ExternalLink, State
from crawlers.reasons import Reason
from crawlers.store.schema.tables import SiteHome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import SiteStart
    from crawlers.items import Page, SiteLimits
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.store.writing.change_set import ChangeSet


logger = logging.getLogger(__name__)


class OpenSites:
    """The open sites by id. *listed* are the sites of the host list, also those that this process has not opened."""

    def __init__(self, session: CrawlSession, listed: Iterable[SiteLimits] = ()) -> None:
        self._session = session
        self._addresses = session.addresses
        self._is_full = False
        self._listed = {limits.site for limits in listed}
        for limits in listed:
            self._addresses.set(limits.site, (limits.site, *limits.aliases), limits.site)
        self._rows: dict[int, SiteRow] = {}
        self.ids: dict[str, int] = {}
        self._sources: dict[int, set[int]] = {}  # the open sites of sources with several, by the leading site
        self._elsewhere: set[str] = set()  # sites of the crawl that are not open here, as far as they were needed
        self.fetching: set[int] = set()  # sites whose robots.txt or sitemap was requested, and is not known yet

    def open(self, row: SiteRow, now: float, start: SiteStart | None = None) -> None:
        """Open a site, in the frontier as well, which reads its *start* from the store if that is not given."""
        self._rows[row.id] = row
        self.ids[row.site] = row.id
        if row.source_id is not None:
            self._sources.setdefault(row.source_id, {row.source_id}).add(row.id)
        self._elsewhere.discard(row.site)
        self._addresses.set(row.site, row.addresses, row.address)
        self._session.frontier.open_site(row, now, start)

    def close(self, site_id: int) -> None:
        """Forget a site that the frontier has closed; it may be opened again."""
        row = self._rows.pop(site_id)
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
        return self._rows[site_id].source_id or site_id

    def is_open(self, site_id: int) -> bool:
        """Return whether the site with that id is open."""
        return site_id in self._rows

    def sites_of(self, source: int) -> list[int]:
        """Return the open sites of a source, in order."""
        return sorted(number for number in self._sources.get(source, {source}) if number in self._rows)

    @property
    def rows(self) -> list[SiteRow]:
        """All open sites."""
        return list(self._rows.values())

    def row(self, site_id: int) -> SiteRow:
        """Return the site with that id, with its limits."""
        return self._rows[site_id]

    def open_site_id(self, address: str) -> int | None:
        """Return the id of the site to which *address* belongs; None if it is not open."""
        return self.ids.get(self._addresses.site(address) if self._addresses else address)

    def is_in_host_list(self, site: str) -> bool:
        """Return whether the host list names *site*."""
        return site in self._listed

    def is_site_of_crawl(self, address: str) -> bool:
        """Return whether *address* is that of a site of the crawl, even of one that is not open."""
        site = self._addresses.site(address)
        return site in self._listed or self._is_known(site) or address in self._session.row.excluded

    def _is_known(self, site: str) -> bool:
        return site in self.ids or site in self._elsewhere

    def home_moved(self, site_id: int, address: str) -> SiteHome:
        """Let the pages of a site be requested from *address*, to which its home page redirects; return the row."""
        row = self._rows[site_id]
        homes = (*(home for home in row.home_addresses if home != address), address)
        row = self._rows[site_id] = replace(row, home_addresses=homes)
        self._addresses.set(row.site, row.addresses, row.address)
        return SiteHome(site_id, " ".join(homes))

    def open_cross_site(self, page: Page, now: float, changes: ChangeSet, *, adds_sites: bool = True) -> Page:
        """Open the sites of the scope to which *page* leads, and return it; rows are added to *changes*.

        Links to other sites become external ones: to those that the host list omits, those beyond the most sites, and
        without *adds_sites*, all new ones: of an unchanged page, no links are stored that could begin a site.
        """
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
