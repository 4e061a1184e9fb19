"""Who may work on which site of a crawl: what this process holds.

A process that is `Alone` holds all sites. Others may join it, but hold nothing before this process gives something up.
So nothing changes for it until it learns of them in its next round; then `workers.shared.Shared` takes over.
"""

from __future__ import annotations

from asyncio import wrap_future
from functools import partial
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import update

from crawlers.frontier.values import NOTHING_SENT
from crawlers.store import worker_rows
from crawlers.store.schema import tables
from crawlers.store.worker_rows import Round

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Decision, Lease, OutgoingLinks
    from crawlers.items import Hint, Target
    from crawlers.store.schema.rows import Row
    from crawlers.store.worker import Worker
    from crawlers.store.writing.writer import Writer


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
        self.last = await wrap_future(self._writer.run(partial(self._look, status, len(self._frontier.leases))))
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
