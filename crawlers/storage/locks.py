"""Ensures that only one process at a time runs a crawl, by a lock that the operating system or the server
releases when the process dies."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from sqlalchemy import text

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

_ADVISORY_SPACE = 0x6372_6177  # "craw": keeps our advisory locks apart from those of other programs


class CrawlLock:
    """A lock, held from construction until `release`. Raises `ConfigError` if another process holds it."""

    def __init__(self, database: Database, crawl_id: int, name: str) -> None:
        self._file: IO[bytes] | None = None
        self._connection: Connection | None = None
        path = database.path
        held = self._lock_file(path, crawl_id) if path else self._lock_server(database, crawl_id)
        if not held:
            raise ConfigError(
                f"CRAWL={name} in {database.name} is being run by another process; wait for it, stop it, or "
                "give this crawl another name: -s CRAWL=another"
            )

    def _lock_file(self, path: Path, crawl_id: int) -> bool:
        self._path = path.with_name(f"{path.name}.crawl{crawl_id}.lock")
        try:
            import fcntl
        except ImportError:  # Windows: an exclusive open is not worth a dependency
            return True
        while True:
            file = self._path.open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                return False
            if _is_at(self._path, file):
                self._file = file
                return True
            file.close()  # its holder removed it between the two calls, so this lock excludes no other process

    def _lock_server(self, database: Database, crawl_id: int) -> bool:
        self._connection = database.engine.connect()
        held = self._connection.execute(
            text("SELECT pg_try_advisory_lock(:space, :crawl)"), {"space": _ADVISORY_SPACE, "crawl": crawl_id}
        ).scalar()
        self._connection.commit()  # the lock belongs to the session, not to the transaction
        if not held:
            self._connection.close()
            self._connection = None
        return bool(held)

    def is_held(self) -> bool:
        """Whether the lock still excludes other processes. Raises `DBAPIError` if the server is not accessible."""
        if self._file is not None:
            return _is_at(self._path, self._file)
        if self._connection is not None:  # the lock belongs to this session
            self._connection.execute(text("SELECT 1"))
            self._connection.commit()
        return True

    def release(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None
        if self._connection is not None:
            self._connection.invalidate()  # a connection returned to the pool would keep the lock
            self._connection.close()
            self._connection = None


def _is_at(path: Path, file: IO[bytes]) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False
