"""A worker of a crawl at work: its rounds, its transactions, and what people read about it."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.store.schema.tables import EndedPage, PullRow
from crawlers.store.worker_rows import (
    LONE_DEADLINES,
    STOP,
    WorkerStatus,
    ask,
    fence,
    free_locks,
    leave,
    lose_dead,
    server_time,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from crawlers.store.database import Database
    from crawlers.store.reading.crawls import CrawlRow
    from crawlers.store.worker_rows import Wait, WorkerLock
    from crawlers.store.writing.change_set import ChangeSet

ROUND_S = 1.0  # between two rounds
ROUNDS_PER_DEADLINE = 5  # at least, so that a slow round is no reason to be declared lost


class RecentRate:
    """Averages a count over the last *window_s* seconds; O(1) on average, one number per reading in memory."""

    def __init__(self, window_s: float = 60.0) -> None:
        self._window_s = window_s
        self._readings: deque[tuple[float, int]] = deque()  # (time, total), oldest first

    def at(self, now: float, total: int) -> float:
        """Return the events per second until *now*, when there have been *total* events; 0 at the first call.

        >>> rate = RecentRate(window_s=60.0)
        >>> rate.at(0.0, 5), rate.at(10.0, 25), rate.at(70.0, 85)
        (0.0, 2.0, 1.0)
        """
        self._readings.append((now, total))
        while len(self._readings) > 2 and self._readings[1][0] <= now - self._window_s:
            self._readings.popleft()
        since, before = self._readings[0]
        return (total - before) / (now - since) if now > since else 0.0


class Worker:
    """A worker from `join` on; the crawl counts in `leased` and `ended`, and sets `has_room`.

    One that has no round for *deadline_s* loses its *lock*, if that is one of a server, and then its sites. *clock* is
    that of the crawl, which is never set. Methods that use the store are called in the writer's thread.
    """

    def __init__(
        self, database: Database, row: CrawlRow, lock: WorkerLock, deadline_s: float, clock: Callable[[], float]
    ) -> None:
        self.id = row.worker_id
        self.crawl_id = row.id
        self.deadline_s = deadline_s
        self.round_s = min(ROUND_S, deadline_s / ROUNDS_PER_DEADLINE)  # between two rounds; with a budget often fewer
        self.is_stopping = False  # then it takes nothing more
        self.has_room = False  # nothing could be leased although more downloads may run, since the last round
        self.leased = 0  # pages, since the last round
        self.ended = 0  # pages, of this process
        self.fenced_at = 0.0  # when the latest transaction began
        self._database = database
        self._lock = lock
        self._clock = clock
        self._began_at = clock()  # of the latest round
        self.sure_until = self._began_at + deadline_s / 2  # nobody else can hold its sites: it reached the store
        self._rate = RecentRate()

    def fence(self, connection: Connection, changes: ChangeSet) -> None:
        """Begin a transaction that writes *changes*. Raises `ClaimsLost` if this worker was declared lost."""
        self.fenced_at = self._clock()
        now = server_time(connection)
        requested = len([one for one in changes[EndedPage] if one.state != State.REJECTED])
        fence(connection, self.id, now, len(changes[PullRow]), requested, idle_s=self.deadline_s)

    def hold(self, *, is_alone: bool = False) -> None:
        """Show the server that this worker is alive, which is to be done in each round."""
        self._lock.hold(self.deadline_s * (LONE_DEADLINES if is_alone else 1))

    def lose_others(self, connection: Connection, *, waits: bool = False) -> None:
        """Declare those lost that are not alive."""
        now, find_dead = server_time(connection), partial(free_locks, self._database)
        lose_dead(connection, self.crawl_id, now, find_dead, self.id, waits=waits)

    def leave(self, connection: Connection) -> bool:
        """Give up everything; return whether this worker ends the crawl, as the last one. Raises `ClaimsLost`.

        Workers that died a moment ago do not count: nobody would be the last one.
        """
        self.lose_others(connection, waits=True)
        is_last = leave(connection, self.id, server_time(connection))
        if is_last:
            self._lock.hold(None)  # it has no more rounds, and its outputs may take long
        return is_last

    def ask_to_stop(self, reason: str, connection: Connection) -> None:
        """Let all workers of the crawl stop for *reason*."""
        ask(connection, self.crawl_id, STOP, reason)

    # Rounds -----------------------------------------------------------------------------------------

    def is_due(self, pause_s: float) -> bool:
        """Return whether the latest round began *pause_s* seconds ago."""
        return self._clock() - self._began_at >= pause_s

    def begin_round(self) -> None:
        """Note that a round begins."""
        self._began_at = self._clock()
        self.has_room, self.leased = False, 0

    def end_round(self) -> None:
        """Note that the round succeeded that began last."""
        self.sure_until = self._began_at + self.deadline_s / 2

    def status(self, waits: Mapping[Wait, int]) -> str:
        """Return what people read about this worker, with the numbers of its sites by what they wait for."""
        return WorkerStatus(self._rate.at(self._clock(), self.ended), waits).to_json()
