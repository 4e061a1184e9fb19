"""The lock that a worker holds for its life: operating system or server release it when the process dies, however it
dies. So a worker whose lock is free is lost.

A server also ends the session of one that froze or was cut off, so that it says nothing for a time. A file stays locked
as long as the process exists, also while it is stopped.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from crawlers.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.store.database import Database

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
        if self._file is not None and self._store.exists() and not _is_at(self._path, self._file):
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
        if _is_at(path, file):
            return file
        file.close()  # its holder removed it between the two calls, so this lock excludes no other process


def _is_at(path: Path, file: IO[bytes]) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False
