"""Writes the two CSV logs of RCCrawler: all responses in one, all errors in the other."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError
from crawlers.reasons import sentence
from crawlers.storage.files.cells import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlers.items import Page

COLUMNS = ("time", "state", "status", "level", "url", "reason")
FLUSH_S = 1.0
MAX_CHARS = 1 << 16  # of lines that are not written yet


class _Log:
    """A log that is appended to, also by several processes: what is written is whole lines, in one piece.

    A file that was moved or removed, as by logrotate, is followed by a new one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = io.StringIO(newline="")  # not written yet
        self.writerow = csv.writer(self._rows).writerow
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("ab", buffering=0)
        try:
            with _locked(self._file):  # only one process writes the headings
                if os.fstat(self._file.fileno()).st_size == 0:
                    headings = io.StringIO(newline="")
                    csv.writer(headings).writerow(COLUMNS)
                    self._append(headings.getvalue())
        except OSError:
            self._file.close()
            raise

    @property
    def is_full(self) -> bool:
        return self._rows.tell() >= MAX_CHARS

    def flush(self) -> None:
        rows = self._rows.getvalue()
        self._rows.seek(0)
        self._rows.truncate()
        self._append(rows)
        try:
            is_there = os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except OSError:
            is_there = False
        if not is_there:
            self._file.close()
            self._open()

    def close(self) -> None:
        if not self._file.closed:
            with self._file:
                self._append(self._rows.getvalue())

    def _append(self, text: str) -> None:
        rest = memoryview(text.encode("utf-8", "backslashreplace"))
        while rest:
            rest = rest[self._file.write(rest) or 0 :]


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Let no other process into the block with the same *file*."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


class CsvLogs:
    """Appends one line per page; a path of None disables that log. Raises `ConfigError` if a file can't be written."""

    def __init__(self, common: Path | None, errors: Path | None) -> None:
        self._files: list[_Log] = []
        self._common = self._open(common, "COMMON_LOG_FILE")
        self._errors = self._open(errors, "ERROR_LOG_FILE")
        self._flushed_at = 0.0

    def _open(self, path: Path | None, setting: str) -> _Log | None:
        if path is None:
            return None
        try:
            log = _Log(path)
        except OSError as error:
            raise ConfigError(f"{setting}={path}: {error.strerror}; make it writable or name another file") from error
        self._files.append(log)
        return log

    def write(self, page: Page, now: float, *, is_error: bool, reason: str = "") -> None:
        """Log *page* at *now*, seconds since 1970. Raises `StoreError` if the logs can't be written."""
        try:
            self._write(page, now, is_error, reason)
        except OSError as error:
            raise _failed(error) from error

    def _write(self, page: Page, now: float, is_error: bool, reason: str) -> None:
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        row = (
            moment,
            page.state.name.lower(),
            page.status,
            page.level,
            guarded(page.url),
            guarded(reason or sentence(page.reason)),
        )
        if self._common is not None:
            self._common.writerow(row)
        if is_error and self._errors is not None:
            self._errors.writerow(row)
        if now - self._flushed_at > FLUSH_S or any(log.is_full for log in self._files):
            self._flushed_at = now
            self.flush()

    def flush(self) -> None:
        for file in self._files:
            file.flush()

    def close(self) -> None:
        """Close both files. Raises `StoreError` if they can't be written."""
        files, self._files = self._files, []
        self._common = self._errors = None
        try:
            with ExitStack() as stack:
                for log in files:
                    stack.callback(log.close)
        except OSError as error:
            raise _failed(error) from error


def _failed(error: OSError) -> StoreError:
    where = f" to {error.filename}" if error.filename else ""
    remedy = "free some space, or make their folder writable, and resume the crawl"
    return StoreError(f"the logs can't be written{where}: {error.strerror}; {remedy}")
