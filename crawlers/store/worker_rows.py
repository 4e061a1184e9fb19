"""The rows of the workers of a crawl, and their locks: who is active, who ended, and who ends the crawl.

A process that works on a crawl is a worker, also a lone one. Each function runs in a transaction of the caller, and
takes the time as *now*: the clock of the server (`server_time`) in a crawl, any clock in a test.

A worker begins each of its transactions with `fence`, which locks its row. So nobody declares it lost while one of them
is open, and none begins after that. The row of a worker is locked before that of its crawl, and sites come last.

What a worker reports about itself in its rounds is stored in `worker.status`.

A worker holds a lock for its life: operating system or server release it when the process dies, however it dies. So a
worker whose lock is free is lost. A server also ends the session of one that froze or was cut off, so that it says
nothing for a time. A file stays locked as long as the process exists, also while it is stopped.
"""

from __future__ import annotations

import fcntl
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, NamedTuple

from sqlalchemy import func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from crawlers.errors import ClaimsLost, StoreError
from crawlers.files.atomic import identity_of
from crawlers.store.reading.crawl_settings import setting_of
from crawlers.store.schema.tables import crawl, order_totals, site, worker

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.store.database import Database
    from crawlers.store.writing.pulls import Pull

_ADVISORY_SPACE = 0x6372_6177  # "craw": keeps our advisory locks apart from those of other programs
_LOCK = "SELECT pg_try_advisory_lock(:space, :worker)"
_LIMIT = "SELECT set_config('idle_session_timeout', :limit_ms, false)"
MOST_IDLE_MS = 2**31 - 1  # that PostgreSQL accepts
LONE_DEADLINES = 20  # of a worker alone: its rounds wait for long jobs, and others for it only if they join later
_HELD = """
    SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
    AND classid::bigint = :space AND objid::bigint = ANY (:workers)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


class WorkerLock:
    """The lock of a worker, held from construction until `release`. Raises `StoreError` if another process holds it.

    Take it before the row of the worker is committed: whoever sees an active worker with a free lock declares it lost.
    """

    def __init__(self, database: Database, worker_id: int) -> None:
        self._file: IO[bytes] | None = None
        self._connection: Connection | None = None
        with database.store_errors():
            if database.path:
                self._store, self._path = database.path, _path(database.path, worker_id)
                self._file = _locked(self._path)
                is_held = self._file is not None
            else:
                is_held = self._lock_server(database, worker_id)
        if not is_held:
            raise StoreError(f"{database.name}: another process holds the lock of worker {worker_id}; please report it")

    def _lock_server(self, database: Database, worker_id: int) -> bool:
        self._connection = database.engine.connect()
        held = self._connection.execute(text(_LOCK), {"space": _ADVISORY_SPACE, "worker": worker_id}).scalar()
        self._connection.commit()  # the lock belongs to the session, not to the transaction
        if not held:
            self._connection.close()
            self._connection = None
        return bool(held)

    def hold(self, limit_s: float | None) -> None:
        """Let a server release the lock if it hears nothing of it for *limit_s* seconds; with None, it waits for ever.

        Raises `StoreError` if others no longer see the lock, and `DBAPIError` if the server is not accessible.
        """
        # If the store is gone as well, its own check says so.
        file = self._file
        if file is not None and self._store.exists() and identity_of(self._path) != identity_of(file.fileno()):
            raise StoreError(
                f"{self._path} was removed, which shows that this worker is alive, so the crawl was stopped; run the "
                "same command again"
            )
        if self._connection is not None:
            limit_ms = 0 if limit_s is None else min(round(1000 * limit_s), MOST_IDLE_MS)
            self._connection.execute(text(_LIMIT), {"limit_ms": str(limit_ms)})
            self._connection.commit()

    def release(self, *, is_reachable: bool = True) -> None:
        """Release the lock, if it is held; a server that is not *is_reachable* finds out by itself."""
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None
        if self._connection is not None:
            if is_reachable:  # at once: the server notices the end of a connection a moment later
                with suppress(SQLAlchemyError):
                    self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
            self._connection.invalidate()  # a connection returned to the pool would keep the lock
            self._connection.close()
            self._connection = None


def free_locks(database: Database, worker_ids: Collection[int]) -> set[int]:
    """Return those workers whose locks nobody holds; a server is asked once for all of them. Raises `StoreError`."""
    if database.path:
        return {worker_id for worker_id in worker_ids if _is_file_free(_path(database.path, worker_id))}
    if not worker_ids:
        return set()
    # Whoever tried to take one would seem to be its holder to others for a moment.
    return set(worker_ids).difference(database.scalars(text(_HELD), space=_ADVISORY_SPACE, workers=list(worker_ids)))


def _is_file_free(path: Path) -> bool:
    if not path.exists():
        return True
    file = _locked(path)
    if file is None:
        return False
    with suppress(OSError):
        path.unlink()  # of a process that was killed
    file.close()
    return True


def _path(database: Path, worker_id: int) -> Path:
    return database.with_name(f"{database.name}.worker{worker_id}.lock")


def _locked(path: Path) -> IO[bytes] | None:
    """Return the locked file; None if another process has locked it."""
    while True:
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        if identity_of(path) == identity_of(file.fileno()):
            return file
        file.close()  # its holder removed it between the two calls, so this lock excludes no other process


class Wait(StrEnum):
    """What a site waits for, as people read it; each open site of a worker waits for one thing."""

    READY = "ready"  # its turn: a page may be requested now
    RESPONSE = "response"  # responses: as many pages are in flight as it allows, or as its order allows
    DELAY = "politeness delay"  # its politeness delay
    REST = "host's rest"  # a pause that the host requested
    ROBOTS = "robots.txt"
    SITEMAP = "its sitemaps"  # which are read before pages
    TRIAL = "responses of other sites"  # room among the sites that did not respond yet
    RETRY = "retry"  # the retry of a failed download
    REVISIT = "revisit"  # a scheduled revisit
    NOTHING = "nothing waits"


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The pages per second of a worker over the last minute, and the numbers of its sites by what they wait for."""

    pages_per_s: float = 0.0
    waits: Mapping[Wait, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the status as text.

        >>> WorkerStatus(1.5, {Wait.READY: 2}).to_json()
        '{"pages_per_s": 1.5, "waits": {"ready": 2}}'
        """
        waits = {wait.value: number for wait, number in self.waits.items() if number}
        return json.dumps({"pages_per_s": round(self.pages_per_s, 3), "waits": waits})


def read_status(text: str | None) -> WorkerStatus:
    """Return the status in *text*; None: there is none yet.

    >>> read_status('{"pages_per_s": 1.5, "waits": {"ready": 2}}')
    WorkerStatus(pages_per_s=1.5, waits={<Wait.READY: 'ready'>: 2})
    """
    if text is None:
        return WorkerStatus()
    found = json.loads(text)
    return WorkerStatus(found["pages_per_s"], {Wait(name): number for name, number in found["waits"].items()})


ACTIVE, LEFT, LOST = "active", "left", "lost"
PAUSE, STOP = "pause", "stop"  # the values of `crawl.control`


class WorkerRow(NamedTuple):
    """An active worker; times are those of the server."""

    id: int
    machine: str
    process: int
    version: str
    joined_at: float
    beat_at: float
    granted: int
    used: int
    pages: int
    leases: int
    best_index: float | None
    is_idle: bool
    status: str | None

    @property
    def name(self) -> str:
        """Its process, for messages."""
        return f"process {self.process} on {self.machine}"


class Round(NamedTuple):
    """What a worker learns in a round; before the first one, nothing is known of others."""

    now: float = 0.0
    claimed: Sequence[int] = ()  # sites, in the order of their numbers
    others: int = 0  # further active workers
    idle: int = 0  # further workers without anything to do, while no site with something to do is free
    granted: int = -2  # pulls over its life; -1: no limit, -2: not known yet
    pulls: Sequence[Pull] = ()  # of other workers
    last_pulls: Mapping[int, int] = MappingProxyType({})  # the last pull that it knows now, by worker
    control: str | None = None
    reason: str | None = None  # why it is to stop
    is_over: bool = False  # nothing waits
    is_elected: bool = False  # this worker ends the crawl
    is_budget_exhausted: bool = False  # every pull of the budget has ended
    is_first: bool = False  # of the active workers, this one joined first


def server_time(connection: Connection) -> float:
    """Return the time in seconds since 1970, by the clock that all workers of the database share."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def join(
    connection: Connection, crawl_id: int, machine: str, process: int, version: str, now: float, granted: int = 0
) -> int:
    """Add an active worker without sites, which may make *granted* pulls of the budget; return its number.

    Take its `WorkerLock` before the transaction is committed.
    """
    row = {"crawl_id": crawl_id, "machine": machine, "process": process, "version": version, "state": ACTIVE}
    values = insert(worker).values(**row, joined_at=now, beat_at=now, granted=granted)
    inserted = connection.execute(values).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def claim_all(connection: Connection, crawl_id: int, worker_id: int) -> None:
    """Let a lone worker hold all sites of the run."""
    connection.execute(update(site).where(site.c.crawl_id == crawl_id, site.c.is_open).values(worker_id=worker_id))


def fence(
    connection: Connection, worker_id: int, now: float, pulls: int = 0, pages: int = 0, *, idle_s: float | None = None
) -> None:
    """Begin a transaction of a worker, which ends *pulls* and *pages*. Raises `ClaimsLost` if it is no longer active.

    This is heartbeat, fence and account at once: until the transaction ends, nobody can declare the worker lost. So
    PostgreSQL ends it when nothing has happened in it for *idle_s* seconds.
    """
    counted = {"used": worker.c.used + pulls, "pages": worker.c.pages + pages}
    beats = update(worker).where(worker.c.id == worker_id, worker.c.state == ACTIVE).values(beat_at=now, **counted)
    if idle_s is not None and connection.dialect.name == "postgresql":
        # A process that is stopped in this transaction, or cut off, would keep its locks, and so its sites, for ever.
        idle_ms = min(round(1000 * idle_s), MOST_IDLE_MS)
        idle = func.set_config("idle_in_transaction_session_timeout", f"{idle_ms}ms", True)
        beats = beats.where(idle.is_not(None))
    check_active(worker_id, connection.execute(beats).rowcount)


def check_active(worker_id: int, rows: int) -> None:
    """Raise `ClaimsLost` if an update found no *rows* of an active worker of that number."""
    if not rows:
        raise ClaimsLost(
            f"worker {worker_id} was declared lost, because it did not respond in time; others may crawl its sites now"
        )


def active(connection: Connection, crawl_id: int) -> list[WorkerRow]:
    """Return the active workers of a crawl, in the order in which they joined."""
    columns = [worker.c[name] for name in WorkerRow._fields]
    rows = select(*columns).where(worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE).order_by(worker.c.id)
    return [WorkerRow(*row) for row in connection.execute(rows)]


def count_others(connection: Connection, crawl_id: int, worker_id: int) -> int:
    """Return how many further workers of a crawl are active."""
    others = (worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE, worker.c.id != worker_id)
    return connection.execute(select(func.count()).where(*others)).scalar_one()


def lose_dead(
    connection: Connection,
    crawl_id: int,
    now: float,
    find_dead: Callable[[Sequence[int]], Collection[int]],
    me: int | None = None,
    *,
    waits: bool = False,
) -> list[int]:
    """Declare those active workers lost that *find_dead* returns, free their sites, and return their numbers.

    *me* is never lost. A worker with an open transaction is skipped, or with *waits* awaited.
    """
    active = select(worker.c.id).where(
        worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE, worker.c.id != (me or 0)
    )
    numbers = connection.execute(active).scalars().all()
    lost = []
    for number in sorted(find_dead(numbers)):
        row = active.where(worker.c.id == number).with_for_update(skip_locked=not waits)
        if connection.execute(row).scalar() is not None:
            end_worker(connection, crawl_id, number, LOST, now)
            lost.append(number)
    return lost


def leave(connection: Connection, worker_id: int, now: float) -> bool:
    """End a worker and free its sites; return False. If it is the last one, it stays, and True is returned.

    The last one becomes the finisher of the crawl: it writes the outputs, and ends with `crawls.end`. If a finisher
    has ended the crawl already, the others only leave. Raises `ClaimsLost`.
    """
    fence(connection, worker_id, now)
    crawl_id = connection.execute(select(worker.c.crawl_id).where(worker.c.id == worker_id)).scalar_one()
    lock_crawl(connection, crawl_id)
    elected, has_ended = ending(connection, crawl_id)
    is_last = elected == worker_id or not count_others(connection, crawl_id, worker_id)
    if is_last and not has_ended:
        connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(finisher_id=worker_id))
        return True
    end_worker(connection, crawl_id, worker_id, LEFT, now)
    return False


def end_worker(connection: Connection, crawl_id: int, worker_id: int, state: str, now: float) -> None:
    """Record that a worker of a crawl is `LEFT` or `LOST`, and free its sites."""
    connection.execute(update(worker).where(worker.c.id == worker_id).values(state=state, ended_at=now))
    held = update(site).where(site.c.crawl_id == crawl_id, site.c.worker_id == worker_id)
    base = select(order_totals.c.base).where(order_totals.c.crawl_id == crawl_id, order_totals.c.worker_id == worker_id)
    # Scores stay relative to the last totals of this worker; those of a site that it had not opened, to former ones.
    bases = func.coalesce(site.c.base, base.scalar_subquery())
    connection.execute(held.values(worker_id=None, asked_at=now, base=bases))


# The crawl ------------------------------------------------------------------------------------------


def ask(connection: Connection, crawl_id: int, control: str | None, reason: str | None = None) -> None:
    """Ask all workers of a crawl to `PAUSE` or to `STOP`, or with None to crawl on; they see it in their next round.

    The first *reason* why they stop is that of the crawl, whichever worker ends it; None if a command asked for it.
    """
    asked = {"control": control, "reason": func.coalesce(crawl.c.reason, reason)}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(asked))


def asked(connection: Connection, crawl_id: int) -> tuple[str | None, str | None]:
    """Return what the workers of a crawl were asked to do, and why."""
    control = select(crawl.c.control, crawl.c.reason).where(crawl.c.id == crawl_id)
    return tuple(connection.execute(control).one())


def lock_crawl(connection: Connection, crawl_id: int) -> None:
    """Lock the row of a crawl until the end of the transaction; what is read after that is up to date."""
    connection.execute(select(crawl.c.id).where(crawl.c.id == crawl_id).with_for_update())


def budget_of(connection: Connection, crawl_id: int) -> tuple[int, int]:
    """Return the page budget of a crawl, 0 if it has no limit, and how much all its runs have used."""
    used = select(func.coalesce(func.sum(worker.c.used), 0)).where(worker.c.crawl_id == crawl_id)
    all_runs = select(crawl.c.earlier_pulls + used.scalar_subquery()).where(crawl.c.id == crawl_id)
    limit = connection.scalar(setting_of(crawl_id, "PAGE_BUDGET"))
    return int(limit or 0), int(connection.execute(all_runs).scalar_one())


def finisher(connection: Connection, crawl_id: int) -> int | None:
    """Return the active worker that ends the crawl; None if there is none."""
    return ending(connection, crawl_id)[0]


def ending(connection: Connection, crawl_id: int) -> tuple[int | None, bool]:
    """Return the `finisher`, and whether that of this run has recorded its end, while others are about to leave."""
    is_finisher = (worker.c.id == crawl.c.finisher_id) & (worker.c.state == ACTIVE)
    of_crawl = select(worker.c.id, crawl.c.ended_at).select_from(crawl.outerjoin(worker, is_finisher))
    elected, ended_at = connection.execute(of_crawl.where(crawl.c.id == crawl_id)).one()
    return elected, ended_at is not None
