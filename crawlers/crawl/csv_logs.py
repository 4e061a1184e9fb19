"""Writes the two CSV logs of RCCrawler: all responses in one, all errors in the other.

To look for a file and to append to it takes longer than to make a line: lines are written many at a time.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from logging import LogRecord, makeLogRecord
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError
from crawlers.files.csv_tables import csv_text
from crawlers.reasons import sentence
from crawlers.store.reading.url_counts import kind_of

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

    from crawlers.files.csv_tables import Value
    from crawlers.items import Page

COLUMNS = ("time", "state", "status", "level", "url", "reason")


class _Log(WatchedFileHandler):
    """A log that is appended to, also by several processes: what is written is whole lines, in one piece.

    A file that was moved or removed, as by logrotate, is followed by a new one.
    """

    terminator = ""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", errors="backslashreplace")
        self.rows: list[tuple[Value, ...]] = []  # that are not written yet

    def _open(self) -> io.TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        stream = super()._open()
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)  # only one process writes the headings
            if os.fstat(stream.fileno()).st_size == 0:
                os.write(stream.fileno(), csv_text([COLUMNS]))
            fcntl.flock(stream, fcntl.LOCK_UN)
        except OSError:
            stream.close()
            raise
        return stream

    def handleError(self, record: LogRecord) -> None:
        """Raise the error that is being handled."""
        raise

    def write_rows(self) -> None:
        """Append the rows to the file. Raises `OSError`."""
        if self.rows:
            lines = csv_text(self.rows).decode()
            self.rows.clear()
            self.handle(makeLogRecord({"msg": lines}))


class CsvLogs:
    """Appends one line per page; a path of None disables that log. Raises `ConfigError` if a file can't be written."""

    def __init__(self, common: Path | None, errors: Path | None) -> None:
        self._common = _opened(common, "COMMON_LOG_FILE")
        self._errors = _opened(errors, "ERROR_LOG_FILE")

    def write(self, page: Page, now: float, *, is_error: bool, reason: str = "") -> None:
        """Log *page* at *now*, seconds since 1970; its lines are written by `flush`."""
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        reason = reason or (sentence(page.reason) if page.reason else "")
        row = (moment, kind_of(page.state, page.status), page.status, page.level, page.url, reason)
        for log in (*self._common, *(self._errors if is_error else ())):
            log.rows.append(row)

    def flush(self) -> None:
        """Write the lines of all pages so far. Raises `StoreError` if the logs can't be written."""
        self._call(_Log.write_rows)

    def close(self) -> None:
        """Close both files, with the lines of all pages. Raises `StoreError` if they can't be written."""
        self._call(_Log.close, _Log.write_rows)

    def _call(self, *methods: Callable[[_Log], None]) -> None:
        """Call *methods* of each log, the last one first."""
        try:
            with ExitStack() as stack:
                for log in (*self._common, *self._errors):
                    for method in methods:
                        stack.callback(method, log)
        except OSError as error:
            raise _failed(error) from error


def _opened(path: Path | None, setting: str) -> list[_Log]:
    try:
        return [] if path is None else [_Log(path)]
    except OSError as error:
        raise ConfigError(f"{setting}={path}: {error.strerror}; make it writable or name another file") from error


def _failed(error: OSError) -> StoreError:
    where = f" to {error.filename}" if error.filename else ""
    remedy = "free some space, or make their folder writable, and resume the crawl"
    return StoreError(f"the logs can't be written{where}: {error.strerror}; {remedy}")
