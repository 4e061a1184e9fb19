"""Measures a running crawl for its metrics, a little at a time: many sites or a large store must not hold it up."""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from crawlers import __version__
from crawlers.crawl.metrics import Snapshot
from crawlers.errors import StoreError
from crawlers.storage.oldest_waiting import oldest_waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlers.crawl.running_crawl import Crawl

LOOK_S = 1.0  # between two readings of the numbers that are at hand
SUM_S = 10.0  # between two counts of the pages of all sites
QUERY_S = 30.0  # between two queries of the store
PAUSE_FACTOR = 50  # the pause between two counts or queries, at least, as a multiple of the duration of the last one
# Beginnings of the names of stats that are read.
STATS = ("pages/", "errors/", "robots/", "downloader/", "harvest/", "news/")


class Measuring:
    """Keeps a *snapshot* of *crawl*, which is the only thing that other threads may see.

    *stats* returns the stats of the run; *timer* the seconds of any monotonic clock.
    """

    def __init__(
        self, crawl: Crawl, mission: str, stats: Callable[[], Mapping[str, Any]], timer: Callable[[], float]
    ) -> None:
        self._crawl = crawl
        self._stats = stats
        self._timer = timer
        self._look_at = self._sum_at = self._query_at = float("-inf")  # the next times
        self._is_querying = False
        self.snapshot = Snapshot((crawl.session.name, str(crawl.session.row.worker_id)), mission, __version__)
        self._work()

    def step(self, late_s: float) -> None:
        """Record how late it is, and do a part of the work; to be called often."""
        self.snapshot = replace(self.snapshot, lateness=self.snapshot.lateness.plus(late_s))
        self._work()

    def _work(self) -> None:
        now = self._timer()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._look()
        if now >= self._sum_at:
            self.snapshot = replace(self.snapshot, pages=self._crawl.frontier.page_counts())
            ended = self._timer()
            self._sum_at = ended + max(SUM_S, PAUSE_FACTOR * (ended - now))

    def _look(self) -> None:
        """Read the numbers that are at hand."""
        writer, frontier = self._crawl.session.writer, self._crawl.frontier
        self.snapshot = replace(
            self.snapshot,
            stats={name: value for name, value in self._stats().items() if name.startswith(STATS)},
            leases=frontier.leases,
            waits=dict(frontier.waits),
            rule_decisions=frontier.rule_decisions,
            unwritten=writer.submitted - writer.committed,
            commits=writer.commits,
        )

    @property
    def needs_query(self) -> bool:
        """Whether it is time for `query`."""
        return not self._is_querying and self._timer() >= self._query_at and not self._crawl.is_closed

    async def query(self) -> None:
        """Query the store in another thread; a store that can't be read is the business of the crawl."""
        session, began = self._crawl.session, self._timer()
        self._is_querying = True
        try:
            found_at = await session.reader.run(partial(oldest_waiting, session.database, session.row.id))
            self.snapshot = replace(self.snapshot, oldest_found_at=found_at)
        except (StoreError, CancelledError):  # the latter by the end of the crawl
            self.snapshot = replace(self.snapshot, oldest_found_at=None)
        finally:
            ended = self._timer()
            self._query_at = ended + max(QUERY_S, PAUSE_FACTOR * (ended - began))
            self._is_querying = False
