"""The sites that this worker holds: opens and closes them in all parts of a running crawl."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawlers.store.schema.tables import SiteRelease, SourceRelease
from crawlers.store.sites.site_opening import networks_of_seeds
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlers.crawl.open_sites import OpenSites, StartUrls, Trials
    from crawlers.crawl.run import Run
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_files import RobotsPolicy, SiteSitemaps
    from crawlers.crawl.site_traps import SiteTraps
    from crawlers.frontier.frontier import Frontier
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.urls.addresses import AddressGuard

# Sources are read together until they have so many sites, because each statement takes as long as some 50 URLs; or so
# many URLs, which take a second, so that the first ones are soon crawled. Opening a small site takes 0.2 ms.
SITES_AT_ONCE, URLS_AT_ONCE = 100, 100_000
# While the crawl goes on, they have fewer URLs: taking up what news taught costs the reactor 9 to 22 us for each.
CLAIMED_URLS_AT_ONCE = 10_000


def batches_of_sources(
    frontier: Frontier, sources: Iterable[list[SiteRow]], most_urls: int
) -> Iterator[list[list[SiteRow]]]:
    """Divide *sources*, given by their sites, into those that are read together; may be called in any thread.

    Several sources together have at most *most_urls* known URLs.
    """
    waiting = iter(sources)
    while some := list(islice(waiting, SITES_AT_ONCE)):
        urls = frontier.store.numbers_known([row.id for its in some for row in its])
        batch: list[list[SiteRow]] = []
        sites = known = 0
        for its in some:
            sites, known = sites + len(its), known + sum(urls.get(row.id, 0) for row in its)
            if batch and (sites > SITES_AT_ONCE or known > most_urls):
                yield batch
                batch, sites, known = [], len(its), sum(urls.get(row.id, 0) for row in its)
            batch.append(its)
        yield batch


@dataclass(eq=False)
class HeldSites:
    """Opens and closes sites, always all sites of a source together."""

    session: CrawlSession
    mission: Run
    sites: OpenSites
    robots: RobotsPolicy
    traps: SiteTraps
    starts: StartUrls
    trials: Trials
    sitemaps: SiteSitemaps
    addresses: AddressGuard

    def __post_init__(self) -> None:
        self.ahead_s = 0.0  # of our clock to that of the server, by which the times of requests are stored

    def begin(self, rows: Sequence[SiteRow], now: float) -> None:
        """Report the pulls until now, and open the sites with which this worker begins. Raises `StoreError`."""
        self.session.recall_pulls()
        for some in batches_of_sources(self.session.frontier, [[row] for row in rows], URLS_AT_ONCE):
            self._load([row for its in some for row in its])(now)
        self.starts.add_for(rows, now)

    def load(self, sources: Sequence[list[SiteRow]]) -> tuple[list[list[SiteRow]], Callable[[], None]]:
        """Read the first of *sources*; return them, and the function that opens their sites.

        May be called in any thread.
        """
        some = next(batches_of_sources(self.session.frontier, sources, CLAIMED_URLS_AT_ONCE))
        rows = [row for its in some for row in its]
        open_all = self._load(rows)

        def take_up() -> None:
            now = self.session.clock()
            open_all(now)
            self.starts.add_for(rows, now)
            self.session.control.resume()

        return some, take_up

    def _load(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Read what is stored of sites; return the function of the time that opens them."""
        stored = [row.id for row in rows if not row.is_new]
        starts = dict(zip(stored, self.session.frontier.load_sites(stored), strict=True)) if stored else {}
        open_mission, open_sitemaps = self.mission.load_sites(rows), self.sitemaps.load(rows)
        networks = self._networks(rows)

        def open_all(now: float) -> None:
            for row in rows:
                self.sites.open(row, now, starts.get(row.id))
                self.robots.recall(row, now)
            for row in rows:
                self.session.adopt_links(row, now)
            self.addresses.recall(networks)
            open_mission(now)
            open_sitemaps()

        return open_all

    def _networks(self, rows: Sequence[SiteRow]) -> dict[str, frozenset[str]]:
        hosts = self.addresses.seeds.intersection(host_of(address) for row in rows for address in row.addresses)
        with self.session.database.read() as connection:
            return networks_of_seeds(connection, self.session.row.id, hosts)

    def close(self, source: int, its: Sequence[int]) -> None:
        """Close the sites of a source, of which nothing is in flight, and let others claim it. Raises `StoreError`."""
        changes = ChangeSet(SourceRelease(source))
        for site_id in its:
            changes.extend(self.session.frontier.close_site(site_id))
            for part in (self.trials, self.starts, self.sitemaps, self.robots, self.traps):
                part.forget_site(site_id)
            self.sites.close(site_id)
        self.mission.close_sites(its)
        given = changes[SiteRelease]
        given[:] = [self._by_server(row) for row in given]
        self.session.writer.submit(changes)

    def _by_server(self, row: SiteRelease) -> SiteRelease:
        return row if row.asked_at is None else row._replace(asked_at=row.asked_at - self.ahead_s)
