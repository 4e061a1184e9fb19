"""The single writer: a thread that commits change sets in batches, in the order of submission.

A change set is never split between two transactions, so whenever the process is killed, the database contains a
prefix of the change sets, each of them complete. Writes that depend on reads are jobs: functions that the thread calls,
each in its own transaction.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from crawlers.errors import StoreError
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from crawlers.store.database import Database

logger = logging.getLogger(__name__)

T = TypeVar("T")

CHECK_S = 10.0  # between two checks of the store, also while nothing is written


class Commits(NamedTuple):
    """The commits of a writer."""

    number: int = 0
    seconds: float = 0.0  # of all, from the begin of their transactions
    last_s: float = 0.0


@dataclass(slots=True, eq=False)
class _Batch:
    """Change sets that are committed together."""

    changes: ChangeSet = field(default_factory=ChangeSet)
    size: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A function to be called with the connection of a transaction."""

    call: Callable[[Connection], Any]
    result: Future[Any] = field(default_factory=Future)
    size: int = 1


class Writer:
    """Commits change sets in the background.

    A batch is written when it has *batch_size* change sets, or *batch_s* seconds after its first. If the
    database is slower than the crawl, `submit` waits as soon as four batches are pending, so that the
    memory stays bounded. After a failure every call raises `StoreError`, and nothing more is written.

    *check* is called in the thread every few seconds; it raises `StoreError` if the store is lost. *fence* is called
    first in every transaction, with the changes of its batch; if it raises `StoreError`, nothing of it is written.
    """

    def __init__(
        self,
        database: Database,
        *,
        batch_size: int = 200,
        batch_s: float = 1.0,
        check: Callable[[], None] = lambda: None,
        fence: Callable[[Connection, ChangeSet], None] = lambda _connection, _changes: None,
    ) -> None:
        self._database = database
        self._check_store = check
        self._fence = fence
        self._checked_at = float("-inf")  # by the monotonic clock
        self._batch_size = batch_size
        self._batch_s = batch_s
        self._queue: deque[_Batch | _Job] = deque()
        # Numbers of change sets and jobs; a batch is not delayed if a caller waits for one of its change sets.
        self.submitted = 0
        self._taken = 0
        self._awaited = 0
        self.committed = 0  # always the first ones
        self.commits = Commits()  # written by the thread only
        self._failure: BaseException | None = None
        self.is_closed = False  # by `close`: nothing more can be submitted
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def has_failed(self) -> bool:
        """Whether nothing can be written any more; then every call raises the reason."""
        return self._failure is not None

    def submit(self, changes: ChangeSet) -> None:
        """Queue *changes*."""
        with self._changed:
            self._check()
            while self.submitted - self._taken >= 4 * self._batch_size:
                self._changed.wait()
                self._check()
            batch = self._queue[-1] if self._queue else None
            if not isinstance(batch, _Batch):
                batch = _Batch()
                self._queue.append(batch)
            batch.changes.extend(changes)
            batch.size += 1
            self.submitted += 1
            if batch.size == 1 or batch.size == self._batch_size:
                self._changed.notify_all()

    def run(self, job: Callable[[Connection], T]) -> Future[T]:
        """Queue *job*, and return its future result. Everything submitted before is committed before it is called.

        Its transaction is committed when it returns, and rolled back when it raises. Callbacks of the future are called
        in the writer's thread.
        """
        queued = _Job(job)
        with self._changed:
            self._check()
            self._queue.append(queued)
            self.submitted += 1
            self._awaited = self.submitted
            self._changed.notify_all()
        return queued.result

    def call(self, job: Callable[[Connection], T]) -> T:
        """Return the result of *job*, as of `run`."""
        return self.run(job).result()

    def flush(self) -> None:
        """Wait until everything submitted is committed."""
        self.wait_for(self.submitted)

    def wait_for(self, number: int) -> None:
        """Wait until the first *number* change sets and jobs are committed."""
        with self._changed:
            while not self.is_committed(number):
                self._changed.wait()

    def is_committed(self, number: int) -> bool:
        """Return whether the first *number* change sets and jobs are committed; they are from now on, without delay."""
        with self._changed:
            self._check()
            if self.committed < number:
                self._awaited = max(self._awaited, number)
                self._changed.notify_all()
            return self.committed >= number

    def close(self) -> None:
        """Commit what is pending and end the thread. A second call does nothing, whatever the first one raised."""
        try:
            if not self.is_closed:
                self.flush()
        finally:
            with self._changed:
                self.is_closed = True
                self._changed.notify_all()
            self._thread.join()

    def store_error(self, error: BaseException) -> StoreError:
        """Return what an *error* of the database is for callers, with its remedy."""
        if isinstance(error, StoreError):
            return type(error)(str(error))  # a new one, because an exception raised twice keeps both tracebacks
        cause = getattr(error, "orig", None) or error
        lines = str(cause).strip().splitlines() or [type(cause).__name__]
        return StoreError(
            f"{self._database.name} can't be written: {lines[0]}; committed data is safe: "
            "repair the database, then run the same command again"
        )

    def _check(self) -> None:
        if self._failure is not None:
            raise self.store_error(self._failure) from self._failure
        if self.is_closed:
            raise StoreError("the store is already closed")

    def _run(self) -> None:
        try:
            while (work := self._next()) is not None:
                if isinstance(work, _Job):
                    self._do(work)
                elif work.size:
                    with self._transaction(work.changes) as connection:
                        write_changes(connection, work.changes)
                else:
                    self._check_at_times()
                with self._changed:
                    self.committed += work.size
                    self._changed.notify_all()
        except (SQLAlchemyError, StoreError) as error:
            self._fail(error)
        except BaseException as error:
            logger.exception("The store's writer stopped")
            self._fail(error)

    @contextmanager
    def _transaction(self, changes: ChangeSet) -> Iterator[Connection]:
        self._check_at_times()
        began = time.monotonic()
        with self._database.write() as connection:
            self._fence(connection, changes)
            yield connection
        took_s = time.monotonic() - began
        self.commits = Commits(self.commits.number + 1, self.commits.seconds + took_s, took_s)

    def _check_at_times(self) -> None:
        if time.monotonic() - self._checked_at >= CHECK_S:
            self._check_store()
            self._checked_at = time.monotonic()

    def _do(self, job: _Job) -> None:
        if not job.result.set_running_or_notify_cancel():
            return
        try:
            with self._transaction(ChangeSet()) as connection:
                result = job.call(connection)
        except (SQLAlchemyError, StoreError) as error:
            job.result.set_exception(self.store_error(error))
            raise
        except Exception as error:
            job.result.set_exception(error)  # of the job, not of the database: the writer continues
        else:
            job.result.set_result(result)

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failure = error
            jobs = [work for work in self._queue if isinstance(work, _Job)]
            self._changed.notify_all()
        for job in jobs:
            if job.result.set_running_or_notify_cancel():
                job.result.set_exception(self.store_error(error))

    def _next(self) -> _Batch | _Job | None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._queue or self.is_closed, CHECK_S):
                return _Batch()  # nothing to write: an opportunity for a check
            if not self._queue:
                return None
            self._changed.wait_for(self._is_due, self._batch_s)
            work = self._queue.popleft()
            self._taken += work.size
            self._changed.notify_all()
            return work

    def _is_due(self) -> bool:
        first = self._queue[0]
        if isinstance(first, _Job):
            return True
        return self._taken < self._awaited or self.is_closed or first.size >= self._batch_size
