"""Counts the results of pages, and writes the two CSV logs of RCCrawler: all responses in one, all errors in the other.

To look for a file and to append to it takes longer than to make a line: lines are written many at a time.
"""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from logging import LogRecord, makeLogRecord
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError
from crawlers.files.csv_tables import csv_text
from crawlers.items import Page, State
from crawlers.pages.retries import error_class
from crawlers.reasons import Reason, code_of, sentence
from crawlers.store.reading.url_counts import kind_of

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

    from crawlers.files.csv_tables import Value
    from crawlers.frontier.values import Lease


logger = logging.getLogger(__name__)

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


UNAVAILABLE = (State.REFUSED, State.FAILED, State.REJECTED)


class CrawlStats:
    """Counts pages, and logs them. *inc_value* adds 1, or a second argument, to a stat of Scrapy.

    With *warns_of_home_pages*, unavailable sites are logged as warnings, because the user listed them.
    """

    def __init__(self, inc_value: Callable[..., None], logs: CsvLogs, *, warns_of_home_pages: bool) -> None:
        self.inc_value = inc_value
        self.logs = logs
        self._warns = warns_of_home_pages

    def count_retry(self, page: Page, now: float) -> None:
        """Count a *page* that will be requested again."""
        self.inc_value("pages/retried")
        self._count_error(page)
        self.logs.write(page, now, is_error=True, reason=f"{sentence(page.reason)}; will be retried")

    def count_page(self, lease: Lease, page: Page, new: int, now: float, *, is_reported: bool = False) -> None:
        """Count a *page* whose *lease* has ended, with its number of *new* URLs; the mission may have *reported* it."""
        if page.is_unchanged:
            self.inc_value("pages/not_modified")
        else:
            state = State.MOVED if page.state is State.WAITING else page.state  # it redirects to another variant
            self.inc_value(f"pages/{state.name.lower()}")
        if page.state in (State.REFUSED, State.FAILED):
            self._count_error(page)
        if code_of(page.reason) is Reason.LINKS_CUT:
            self.inc_value("pages/cut")
            logger.warning("%s: %s", page.url, sentence(page.reason))
        if lease.is_revisit:
            self.inc_value("pages/again")
        if new:
            self.inc_value("pages/found", new)
        if page.state is not State.REJECTED or lease.level == 0:
            self.logs.write(page, now, is_error=page.state in UNAVAILABLE)
        if lease.level == 0 and self._warns and page.state in UNAVAILABLE and not lease.is_revisit and not is_reported:
            logger.warning("%s is not available: %s", page.url, sentence(page.reason))

    def _count_error(self, page: Page) -> None:
        self.inc_value(f"errors/{error_class(page.status, page.reason)}")

    def count_robots_failure(self, site: str, status: int, reason: str, now: float) -> None:
        """Count a robots.txt that can't be read; *status* is 0 if there was no response."""
        self.inc_value("robots/failed")
        url = f"{site}/robots.txt"
        self.logs.write(Page(0, url, 0, State.FAILED, status, reason or Reason.STATUS.of(status)), now, is_error=True)
