"""Checks that the store is still the one that was opened: a process goes on writing to a file that was deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from crawlers.errors import StoreError
from crawlers.store.schema.tables import metadata

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.store.database import Database


class StoreCheck:
    """Compares the store with what it was at first. Raises `StoreError`.

    The files of SQLite are compared by `stat` only. Opening and closing them would drop the locks that SQLite holds on
    them (sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._identities: dict[str, tuple[int, int]] = {}
        self._size = 0
        self()

    def __call__(self) -> None:
        """Raise `StoreError` if files or tables of the store are lost. Takes less than a millisecond."""
        path = self._database.path
        if path is not None:
            # As long as a connection is open, SQLite neither removes nor replaces any of these files.
            for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                self._compare(part)
            self._check_size(path)
        with self._database.read() as connection:
            missing = metadata.tables.keys() - set(inspect(connection).get_table_names())
        if missing:
            raise StoreError(self._lost(f"has no table {min(missing)} any more"))

    def _compare(self, part: Path) -> None:
        try:
            status = part.stat()
        except OSError:
            if part.name in self._identities:
                raise StoreError(self._lost(f"is lost: {part} was removed")) from None
            return
        identity = status.st_dev, status.st_ino
        if self._identities.setdefault(part.name, identity) != identity:
            raise StoreError(self._lost(f"is lost: {part} was replaced by another file"))

    def _check_size(self, path: Path) -> None:
        size = path.stat().st_size
        if size < self._size and size < self._wanted_size():
            raise StoreError(self._lost(f"is damaged: {path} was cut from {self._size:,} to {size:,} bytes"))
        self._size = size

    def _wanted_size(self) -> int:
        """Return the size of the file after a checkpoint, which is smaller after a vacuum by another process."""
        try:
            with self._database.read() as connection:
                pages = connection.execute(
                    text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                )
                return int(pages.scalar_one())
        except StoreError:
            return self._size  # not even the first page can be read

    def _lost(self, what: str) -> str:
        return (
            f"{self._database.name} {what}, so the crawl was stopped; restore it and run the same command again, or "
            "remove what is left of it to begin anew"
        )
