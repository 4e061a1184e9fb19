"""Writes the two CSV logs of RCCrawler: all responses in one, all errors in the other."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from crawlers.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.items import Page

COLUMNS = ("time", "state", "status", "level", "url", "reason")
FLUSH_S = 1.0


class CsvLogs:
    """Appends one line per page; a path of None disables that log. Raises `ConfigError` if a file can't be written."""

    def __init__(self, common: Path | None, errors: Path | None) -> None:
        self._files: list[IO[str]] = []
        self._common = self._open(common, "COMMON_LOG_FILE")
        self._errors = self._open(errors, "ERROR_LOG_FILE")
        self._flushed_at = 0.0

    def _open(self, path: Path | None, setting: str) -> Any:
        if path is None:
            return None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a", encoding="utf-8", errors="backslashreplace", newline="")
        except OSError as error:
            raise ConfigError(f"{setting}={path}: {error.strerror}; make it writable or name another file") from error
        self._files.append(file)
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(COLUMNS)
        return writer

    def write(self, page: Page, now: float, *, is_error: bool, reason: str = "") -> None:
        """Log *page* at *now*, seconds since 1970. Raises `StoreError` when the disk is full."""
        try:
            self._write(page, now, is_error, reason)
        except OSError as error:
            raise _full(error) from error

    def _write(self, page: Page, now: float, is_error: bool, reason: str) -> None:
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        row = (moment, page.state.name.lower(), page.status, page.level, page.url, reason or page.reason)
        if self._common is not None:
            self._common.writerow(row)
        if is_error and self._errors is not None:
            self._errors.writerow(row)
        if now - self._flushed_at > FLUSH_S:
            self._flushed_at = now
            self.flush()

    def flush(self) -> None:
        for file in self._files:
            file.flush()

    def close(self) -> None:
        """Close both files. Raises `StoreError` when the disk is full."""
        files, self._files = self._files, []
        self._common = self._errors = None
        try:
            with ExitStack() as stack:
                for file in files:
                    stack.enter_context(file)
        except OSError as error:
            raise _full(error) from error


def _full(error: OSError) -> StoreError:
    return StoreError(f"the logs can't be written: {error.strerror}; free some space and resume the crawl")
