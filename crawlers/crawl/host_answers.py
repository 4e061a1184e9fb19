"""What hosts answer besides pages: their robots.txt, certificates, and the networks where they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlers.errors import StoreError
from crawlers.pages.robots_groups import is_unreachable
from crawlers.sites.robots_rules import sitemaps_of_robots
from crawlers.store.schema.tables import PrivateSeedHost, SeedHostRow, SiteCertificate, SiteRest, SiteRobots
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.robots_policy import RobotsPolicy
    from crawlers.crawl.run import Run
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_sitemaps import SiteSitemaps
    from crawlers.crawl.start_urls import StartUrls
    from crawlers.crawl.stats import CrawlStats
    from crawlers.store.schema.rows import Row


@dataclass(eq=False)
class HostAnswers:
    """Stores and applies them."""

    session: CrawlSession
    mission: Run
    sites: OpenSites
    robots: RobotsPolicy
    starts: StartUrls
    sitemaps: SiteSitemaps
    stats: CrawlStats
    _certificates: set[str] = field(default_factory=set)  # addresses whose certificates were checked
    _badly_certified: set[int] = field(default_factory=set)  # sites with a bad one

    def record_robots(self, site_id: int, status: int, text: str | None, rest_s: float | None = None) -> None:
        """Store and apply the robots.txt of a site; its pages may be fetched now.

        *text* is that of the file, or the reason why there was no response (*status* 0). If it is requested again after
        *rest_s* seconds, the URLs of the site wait until then.
        """
        now = self.session.clock()
        address = self.robots.address(site_id)
        try:
            if is_unreachable(status):
                self.stats.count_robots_failure(address, status, text or "", now)
            if rest_s is not None:
                self.robots_waits(site_id, status, text, rest_s)
                self.stats.inc_value("robots/rests")
                self.session.frontier.schedule.pause(site_id)
                return
            changes = ChangeSet()
            if address == self.sites.row(site_id).site:  # that of a further address is not stored
                changes.add(SiteRobots(site_id, status, text, now))
            self.robots.record(site_id, status, text)
            named = sitemaps_of_robots(text, address) if status == 200 and text else []
            self.sitemaps.record_robots(site_id, address, named)
            self.session.frontier.site(site_id).gate.record_request(now)
            self.session.frontier.schedule.resume(site_id, now)
            # In one transaction: who knows the robots.txt does not read the names of sitemaps in it again.
            self.starts.add(self.mission.found_by_robots(named), now, changes)
        except StoreError as error:
            self.session.control.abort(error)

    def certificate_received(self, address: str, problem_of_it: Callable[[], str | None]) -> None:
        """Store what is wrong with the certificate of an *address* of a site, once in a run."""
        if address in self._certificates:  # as for all but one of the responses of a site
            return
        site_id = self.sites.open_site_id(address)
        if site_id is None or site_id in self._badly_certified:
            return
        self._certificates.add(address)
        if (problem := problem_of_it()) is not None:
            self._badly_certified.add(site_id)
        self._store(SiteCertificate(site_id, problem))

    def _store(self, *rows: Row) -> None:
        try:
            self.session.writer.submit(ChangeSet(*rows))
        except StoreError as error:
            self.session.control.abort(error)

    def store_networks(self, host: str, networks: frozenset[str]) -> None:
        """Store where a host that a person named was found, before anything of it."""
        kind = PrivateSeedHost if networks else SeedHostRow
        self._store(kind(self.session.row.id, host, ",".join(sorted(networks))))

    def robots_waits(self, site_id: int, status: int, text: str | None, wait_s: float) -> None:
        """Store why the robots.txt of a site could not be read, and that it is requested again in *wait_s* seconds."""
        if self.robots.address(site_id) != self.sites.row(site_id).site:
            return
        now = self.session.clock()
        self._store(SiteRobots(site_id, status, text, now), SiteRest(site_id, now + wait_s))
