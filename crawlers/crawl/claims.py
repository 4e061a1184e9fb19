"""Who may work on which site of a crawl: this process as a worker, and what it holds.

A process that is `Alone` holds all sites. Others may join it, but hold nothing before this process gives something up.
So nothing changes for it until it learns of them in its next round; then `workers.shared.Shared` takes over.
"""

from __future__ import annotations

from asyncio import wrap_future
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import update

from crawlers.frontier.values import NOTHING_SENT
from crawlers.items import State
from crawlers.store import worker_rows
from crawlers.store.schema import tables
from crawlers.store.schema.tables import EndedPage, PullRow
from crawlers.store.worker_rows import LONE_DEADLINES, Round, WorkerStatus, free_locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlalchemy import Connection

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Decision, Lease, OutgoingLinks
    from crawlers.items import Hint, Target
    from crawlers.store.database import Database
    from crawlers.store.reading.crawls import CrawlRow
    from crawlers.store.schema.rows import Row
    from crawlers.store.worker_rows import Wait, WorkerLock
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.writer import Writer


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


ROUND_S = 1.0  # between two rounds
ROUNDS_PER_DEADLINE = 5  # at least, so that a slow round is no reason to be declared lost


class Worker:
    """A worker from `worker_rows.join` on; the crawl counts in `leased` and `ended`, and sets `has_room`.

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
        self._began_at = self._beat_at = clock()  # of the latest round, and of the latest that succeeded
        self._rate = RecentRate()

    def fence(self, connection: Connection, changes: ChangeSet) -> None:
        """Begin a transaction that writes *changes*. Raises `ClaimsLost` if this worker was declared lost."""
        self.fenced_at = self._clock()
        now = worker_rows.server_time(connection)
        requested = sum(one.state != State.REJECTED for one in changes[EndedPage])
        worker_rows.fence(connection, self.id, now, len(changes[PullRow]), requested, idle_s=self.deadline_s)

    def hold(self, *, is_alone: bool = False) -> None:
        """Show the server that this worker is alive, which is to be done in each round."""
        self._lock.hold(self.deadline_s * (LONE_DEADLINES if is_alone else 1))

    def lose_others(self, connection: Connection, *, waits: bool = False) -> None:
        """Declare those lost that are not alive."""
        now, find_dead = worker_rows.server_time(connection), partial(free_locks, self._database)
        worker_rows.lose_dead(connection, self.crawl_id, now, find_dead, self.id, waits=waits)

    def leave(self, connection: Connection) -> bool:
        """Give up everything; return whether this worker ends the crawl, as the last one. Raises `ClaimsLost`.

        Workers that died a moment ago do not count: nobody would be the last one.
        """
        self.lose_others(connection, waits=True)
        is_last = worker_rows.leave(connection, self.id, worker_rows.server_time(connection))
        if is_last:
            self._lock.hold(None)  # it has no more rounds, and its outputs may take long
        return is_last

    def ask_to_stop(self, reason: str, connection: Connection) -> None:
        """Let all workers of the crawl stop for *reason*."""
        worker_rows.ask(connection, self.crawl_id, worker_rows.STOP, reason)

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
        self._beat_at = self._began_at

    @property
    def is_sure(self) -> bool:
        """Whether nobody else can hold its sites: it reached the store within half of the deadline."""
        return self._clock() - self._beat_at <= self.deadline_s / 2

    def status(self, waits: Mapping[Wait, int]) -> str:
        """Return what people read about this worker, with the numbers of its sites by what they wait for."""
        return WorkerStatus(self._rate.at(self._clock(), self.ended), waits).to_json()


class Claims(Protocol):
    """The claims of this process: `Alone`, or `workers.Shared`."""

    last: Round  # that succeeded
    is_shared: bool  # others take part in its rounds

    @property
    def is_divided(self) -> bool:
        """Whether others work on the crawl, or did so before in this run."""

    @property
    def is_due(self) -> bool:
        """Whether it is time for a round."""

    @property
    def are_all_open(self) -> bool:
        """Whether all claimed sites are open."""

    def begin(self) -> None:
        """Have the first round, and wait for it. Raises `StoreError`."""

    async def round(self) -> None:
        """Have a round: report to the others, and take up what they reported. Raises `StoreError`."""

    async def open(self) -> None:
        """Open the sites that were claimed. Raises `StoreError`."""

    def release(self, site_id: int) -> None:
        """Give up a site that is to be given up, if nothing of its source is in flight. Raises `StoreError`."""

    def links_of(self, lease: Lease, decision: Decision, now: float) -> OutgoingLinks:
        """Return what a page says to other workers; rows of it are added to *decision*."""

    def roots(self, targets: Iterable[Target], hint: Hint | None, now: float) -> Iterable[Row]:
        """Return the rows that let other workers queue *targets* on sites of theirs, on level 0."""


class Alone:
    """All sites are held by this process, which may make all pulls of the budget."""

    is_shared = is_divided = False
    are_all_open = True

    def __init__(self, worker: Worker, frontier: Frontier, writer: Writer, granted: int) -> None:
        self.last = Round(granted=granted, is_first=True)
        self._worker = worker
        self._frontier = frontier
        self._writer = writer

    @property
    def is_due(self) -> bool:
        return self._worker.is_due(self._worker.round_s)

    def begin(self) -> None:
        self._frontier.budget.grant(self.last.granted)

    async def round(self) -> None:
        """Let people see what this process does; learn what they ask for, and whether others have joined."""
        self._worker.begin_round()
        status = self._worker.status(self._frontier.schedule.wait_counts())
        self.last = await wrap_future(self._writer.run(partial(self._look, status, self._frontier.leases)))
        self._worker.end_round()

    def _look(self, status: str, leases: int, connection: Connection) -> Round:
        self._worker.hold(is_alone=True)
        me, crawl_id = self._worker.id, self._worker.crawl_id
        row = tables.worker
        connection.execute(update(row).where(row.c.id == me).values(status=status, leases=leases))
        control, reason = worker_rows.asked(connection, crawl_id)
        others = worker_rows.count_others(connection, crawl_id, me)
        return self.last._replace(control=control, reason=reason, others=others)

    async def open(self) -> None:
        pass

    def release(self, site_id: int) -> None:
        pass

    def links_of(self, lease: Lease, decision: Decision, now: float) -> OutgoingLinks:
        return NOTHING_SENT

    def roots(self, targets: Iterable[Target], hint: Hint | None, now: float) -> Iterable[Row]:
        return ()
