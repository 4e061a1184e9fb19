"""The sites that this worker claimed while the crawl runs, and those that it gives up to others."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from crawlers.store.schema.tables import SiteRelease, SourceRelease
from crawlers.store.sites.site_rows import networks_of_seeds
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import host_of
from crawlers.workers.sharing import to_give
from crawlers.workers.worker_status import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlers.crawl.home_addresses import HomeAddresses
    from crawlers.crawl.policy import CrawlPolicy
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_policies import SitePolicies
    from crawlers.crawl.site_sitemaps import SiteSitemaps
    from crawlers.crawl.start_urls import StartUrls
    from crawlers.crawl.trials import Trials
    from crawlers.frontier.frontier import QueuedFrontier
    from crawlers.frontier.values import SiteStart
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.urls.addresses import AddressGuard

GIVING_ROUNDS = 2  # until the others have claimed what was given up, and no longer say that they have nothing to do


# Sources are read together until they have so many sites, because each statement takes as long as some 50 URLs; or so
# many URLs, which take a second, so that the first ones are soon crawled. Opening a small site takes 0.2 ms.
SITES_AT_ONCE, URLS_AT_ONCE = 100, 100_000
# While the crawl goes on, they have fewer URLs: taking up what news taught costs the reactor 9 to 22 us for each.
CLAIMED_URLS_AT_ONCE = 10_000


def batches_of_sources(
    frontier: QueuedFrontier, sources: Iterable[list[SiteRow]], most_urls: int
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
class SiteClaims:
    """Opens and closes sites in all parts of a running crawl, always all sites of a source together."""

    session: CrawlSession
    policy: CrawlPolicy
    sites: SitePolicies
    starts: StartUrls
    trials: Trials
    homes: HomeAddresses
    sitemaps: SiteSitemaps
    addresses: AddressGuard

    def __post_init__(self) -> None:
        self._claimed: deque[list[SiteRow]] = deque()  # by source, those that are not open yet
        self._is_opening = False
        self._parting: set[int] = set()  # sources that are given up when nothing of them is in flight
        self._pause_rounds = 0  # before more is given up
        self.ahead_s = 0.0  # of our clock to that of the server, by which the times of requests are stored

    def begin(self, rows: Sequence[SiteRow], now: float) -> None:
        """Open the sites with which this worker begins, and report the pulls until now. Raises `StoreError`."""
        session = self.session
        for some in self._batches(rows):
            stored = [row.id for row in some if not row.is_new]
            starts = dict(zip(stored, session.frontier.load_sites(stored), strict=True)) if stored else {}
            for row in some:
                session.send_heartbeat()
                self._open_site(row, now, starts.get(row.id))
            self.addresses.recall(self._networks(some))
        for row in rows:
            session.send_heartbeat()
            session.adopt_links(row, now)
        session.recall_pulls()
        for some in self._batches(rows):
            session.send_heartbeat()
            self.policy.load_sites(some)(now)
            self.sitemaps.load(some)()
        self.starts.add_for(rows, now)

    def _batches(self, rows: Sequence[SiteRow]) -> Iterator[list[SiteRow]]:
        for sources in batches_of_sources(self.session.frontier, [[row] for row in rows], URLS_AT_ONCE):
            yield [row for its in sources for row in its]

    def _open_site(self, row: SiteRow, now: float, start: SiteStart | None) -> None:
        self.sites.open(row, now, start)

    @property
    def are_all_open(self) -> bool:
        """Whether all claimed sites are open."""
        return not self._claimed

    def add_claimed(self, rows: Sequence[SiteRow]) -> None:
        """Note sites that this worker has claimed; see `open`."""
        by_source: dict[int, list[SiteRow]] = {}
        for row in rows:
            by_source.setdefault(row.source_id or row.id, []).append(row)
        held = {row.id for its in (*self._claimed, rows) for row in its}
        for source, its in by_source.items():
            # Else they are new sites of a source that was given up after the claim, together with them.
            if self.sites.is_open(source) or source in held:
                self._claimed.append(its)

    async def open(self) -> None:
        """Open the claimed sites, some sources at a time, read in another thread. Raises `StoreError`."""
        if self._is_opening:
            return
        self._is_opening = True
        try:
            while self._claimed:
                some = list(islice(self._claimed, SITES_AT_ONCE))
                loaded, take_up = await self.session.reader.run(partial(self._load, some))
                opened = list(islice(self._claimed, len(loaded)))
                if any(one is not other for one, other in zip_longest(opened, loaded)):
                    continue  # some were given up in the meantime
                take_up()
                for rows in opened:
                    self._claimed.popleft()
                    if (source := self.sites.source(rows[0].id)) in self._parting:
                        self._pause(source)
        finally:
            self._is_opening = False

    def _load(self, sources: Sequence[list[SiteRow]]) -> tuple[list[list[SiteRow]], Callable[[], None]]:
        """Read the first of *sources*; return them, and the function that opens their sites."""
        frontier = self.session.frontier
        some = next(batches_of_sources(frontier, sources, CLAIMED_URLS_AT_ONCE))
        rows = [row for its in some for row in its]
        starts = frontier.load_sites([row.id for row in rows])
        open_policy, open_sitemaps = self.policy.load_sites(rows), self.sitemaps.load(rows)
        networks = self._networks(rows)

        def take_up() -> None:
            now = self.session.clock()
            for row, start in zip(rows, starts, strict=True):
                self._open_site(row, now, start)
            for row in rows:
                self.session.adopt_links(row, now)
            self.addresses.recall(networks)
            open_policy(now)
            open_sitemaps()
            self.starts.add_for(rows, now)
            self.session.control.resume()

        return some, take_up

    def _networks(self, rows: Sequence[SiteRow]) -> dict[str, frozenset[str]]:
        hosts = self.addresses.seeds.intersection(host_of(address) for row in rows for address in row.addresses)
        with self.session.database.read() as connection:
            return networks_of_seeds(connection, self.session.row.id, hosts)

    def give_up_sources(self, idle: int, active: int) -> None:
        """Give up some sources, if *idle* of the *active* workers have nothing to do. Raises `StoreError`."""
        self._pause_rounds = max(0, self._pause_rounds - 1)
        if not idle or self._pause_rounds or self._parting:
            return
        for source in self._spare(to_give(self._waiting_sources(), idle, active)):
            self._pause(source)
            self._parting.add(source)
            self._release_if_idle(source)
        self._pause_rounds = GIVING_ROUNDS

    def _waiting_sources(self) -> int:
        frontier = self.session.frontier
        waiting = (sum(not frontier.is_drained(number) for number in its) for its in self.sites.sources)
        return frontier.schedule.waiting_sites - sum(max(0, number - 1) for number in waiting)

    def _spare(self, count: int) -> list[int]:
        """Return up to *count* sources that others may crawl instead."""
        if not count:
            return []
        fetching = self.sites.fetching
        further = sum(len(its) - 1 for its in self.sites.sources)
        found = self.session.frontier.schedule.spare(count + further, fetching)
        sources = dict.fromkeys(self.sites.source(site_id) for site_id in found)
        free = (source for source in sources if fetching.isdisjoint(self.sites.sites_of(source)))
        return [source for source, _ in zip(free, range(count), strict=False)]

    def _pause(self, source: int) -> None:
        for site_id in self.sites.sites_of(source):
            self.session.frontier.pause(site_id, wait=Wait.RESPONSE)
            self.trials.forget_site(site_id)

    def release(self, site_id: int) -> None:
        """Give up a site that is to be given up, if nothing of its source is in flight. Raises `StoreError`."""
        if self._parting and (source := self.sites.source(site_id)) in self._parting:
            self._release_if_idle(source)

    def _release_if_idle(self, source: int) -> None:
        frontier, its = self.session.frontier, self.sites.sites_of(source)
        if any(frontier.gate(site_id).in_flight for site_id in its):
            return
        self._parting.discard(source)
        # New sites of the source may have been claimed, and are free with it.
        self._claimed = deque(rows for rows in self._claimed if (rows[0].source_id or rows[0].id) != source)
        changes = ChangeSet(SourceRelease(source))
        for site_id in its:
            changes.extend(frontier.close_site(site_id))
            self.trials.forget_site(site_id)
            self.homes.forget_site(site_id)
            self.sitemaps.forget_site(site_id)
            self.sites.close(site_id)
        self.policy.close_sites(its)
        given = changes[SiteRelease]
        given[:] = [self._by_server(row) for row in given]
        self.session.writer.submit(changes)

    def _by_server(self, row: SiteRelease) -> SiteRelease:
        return row if row.asked_at is None else row._replace(asked_at=row.asked_at - self.ahead_s)
