"""The sites that this worker claimed while the crawl runs, and those that it gives up to others."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from crawlers.algorithms.workers.sharing import to_give
from crawlers.storage.schema.tables import GivenUpSite
from crawlers.storage.worker_status import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlers.crawl.home_addresses import HomeAddresses
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_policies import SitePolicies
    from crawlers.crawl.trials import Trials
    from crawlers.frontier.frontier_store import SiteStart
    from crawlers.storage.crawls import SiteRow

GIVING_ROUNDS = 2  # until the others have claimed what was given up, and no longer say that they have nothing to do


class HeldSites:
    """Opens and closes sites in all parts of a running crawl.

    *open_site* opens one of which the start was read; *clock* is that of the crawl.
    """

    def __init__(
        self,
        session: CrawlSession,
        sites: SitePolicies,
        trials: Trials,
        homes: HomeAddresses,
        open_site: Callable[[SiteRow, SiteStart], None],
        clock: Callable[[], float],
    ) -> None:
        self._session = session
        self._sites = sites
        self._trials = trials
        self._homes = homes
        self._open_site = open_site
        self._clock = clock
        self._claimed: deque[SiteRow] = deque()  # that are not open yet
        self._is_opening = False
        self._parting: set[int] = set()  # sites that are given up when nothing of them is in flight
        self._pause_rounds = 0  # before more is given up
        self.ahead_s = 0.0  # of our clock to that of the server, by which the times of requests are stored

    @property
    def are_all_open(self) -> bool:
        """Whether all claimed sites are open."""
        return not self._claimed

    def claimed(self, rows: Sequence[SiteRow]) -> None:
        """Note sites that this worker has claimed; see `open`."""
        self._claimed.extend(rows)

    async def open(self) -> None:
        """Open the claimed sites, one by one; the store is read in another thread. Raises `StoreError`."""
        if self._is_opening:
            return
        self._is_opening = True
        try:
            while self._claimed:
                row = self._claimed[0]
                start = await self._session.reader.run(partial(self._session.frontier.load_site, row.id))
                self._open_site(row, start)
                self._claimed.popleft()
        finally:
            self._is_opening = False

    def share(self, hungry: int, active: int) -> None:
        """Give up some sites, if *hungry* of the *active* workers have nothing to do. Raises `StoreError`."""
        self._pause_rounds = max(0, self._pause_rounds - 1)
        if not hungry or self._pause_rounds or self._parting:
            return
        frontier = self._session.frontier
        count = to_give(frontier.waiting_sites, hungry, active)
        for site_id in frontier.spare_sites(count, self._sites.fetching) if count else ():
            frontier.pause(site_id, wait=Wait.RESPONSE)
            self._trials.closed(site_id)
            self._parting.add(site_id)
            self.part(site_id)
        self._pause_rounds = GIVING_ROUNDS

    def part(self, site_id: int) -> None:
        """Give up a site that is to be given up, if nothing of it is in flight any more. Raises `StoreError`."""
        frontier = self._session.frontier
        if site_id not in self._parting or frontier.gate(site_id).in_flight:
            return
        self._parting.discard(site_id)
        changes = frontier.close_site(site_id, self._clock())
        self._trials.closed(site_id)
        self._homes.closed(site_id)
        self._session.rewards.forget(site_id)
        self._sites.close(site_id)
        given = changes[GivenUpSite]
        given[:] = [self._by_server(row) for row in given]
        self._session.writer.submit(changes)

    def _by_server(self, row: GivenUpSite) -> GivenUpSite:
        return row if row.asked_at is None else row._replace(asked_at=row.asked_at - self.ahead_s)
