"""The single writer: a thread that commits change sets in batches, in the order of submission.

A change set is never divided between two transactions, so whenever the process is killed, the database holds a
prefix of the change sets, each of them complete.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from crawlers.errors import StoreError
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet

if TYPE_CHECKING:
    from crawlers.storage.database import Database

logger = logging.getLogger(__name__)


class Writer:
    """Commits change sets in the background.

    A batch is written when it holds *batch_size* change sets, or *batch_s* seconds after its first. When the
    database is slower than the crawl, `submit` waits as soon as four batches are pending, so that the
    memory stays bounded. After a failure every call raises `StoreError`, and nothing more is written.
    """

    def __init__(self, database: Database, *, batch_size: int = 200, batch_s: float = 1.0) -> None:
        self._database = database
        self._batch_size = batch_size
        self._batch_s = batch_s
        self._open = ChangeSet()
        self._open_count = 0
        self._submitted = 0
        self._committed = 0
        self._failure: BaseException | None = None
        self._closing = False
        self._hurry = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, changes: ChangeSet) -> None:
        """Queue *changes*."""
        with self._changed:
            self._check()
            while self._open_count >= 4 * self._batch_size:
                self._changed.wait()
                self._check()
            self._open.extend(changes)
            self._open_count += 1
            self._submitted += 1
            if self._open_count == 1 or self._open_count == self._batch_size:
                self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything submitted is committed."""
        with self._changed:
            target = self._submitted
            self._hurry = True
            self._changed.notify_all()
            while self._committed < target:
                self._check()
                self._changed.wait()
            self._check()

    def close(self) -> None:
        """Commit what is pending and end the thread. The second call does nothing, whatever the first one raised."""
        try:
            if not self._closing:
                self.flush()
        finally:
            with self._changed:
                self._closing = True
                self._changed.notify_all()
            self._thread.join()

    def store_error(self, error: BaseException) -> StoreError:
        """What to tell the user about *error* of the database."""
        if isinstance(error, StoreError):
            return StoreError(str(error))  # a new one: what is raised twice drags both its tracebacks along
        cause = getattr(error, "orig", None) or error
        lines = str(cause).strip().splitlines() or [type(cause).__name__]
        return StoreError(
            f"{self._database.name} can't be written: {lines[0]}; committed "
            "data is safe: free some space or repair the database, then run the same command again"
        )

    def _check(self) -> None:
        if self._failure is not None:
            raise self.store_error(self._failure) from self._failure
        if self._closing:
            raise StoreError("the store is already closed")

    def _run(self) -> None:
        try:
            while (batch := self._next_batch()) is not None:
                changes, number = batch
                with self._database.write() as connection:
                    write_changes(connection, changes)
                with self._changed:
                    self._committed = number
                    self._changed.notify_all()
        except (SQLAlchemyError, StoreError) as error:
            self._fail(error)
        except BaseException as error:
            logger.exception("The store's writer stopped")
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def _next_batch(self) -> tuple[ChangeSet, int] | None:
        with self._changed:
            while not self._open_count:
                if self._closing:
                    return None
                self._hurry = False
                self._changed.wait()
            if self._open_count < self._batch_size and not self._hurry:
                self._changed.wait_for(
                    lambda: self._hurry or self._closing or self._open_count >= self._batch_size, self._batch_s
                )
            batch, self._open, self._open_count = self._open, ChangeSet(), 0
            self._hurry = False  # everything that `flush` waits for is in this batch
            self._changed.notify_all()
            return batch, self._submitted
