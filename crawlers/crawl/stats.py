"""Counts the results of pages, and writes the two CSV logs of RCCrawler: all responses, and all errors."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError
from crawlers.files.csv_tables import CsvLog
from crawlers.items import Page, State
from crawlers.pages.retries import error_class
from crawlers.reasons import Reason, code_of, sentence
from crawlers.store.reading.url_counts import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlers.frontier.values import Lease

logger = logging.getLogger(__name__)

UNAVAILABLE = (State.REFUSED, State.FAILED, State.REJECTED)
COLUMNS = ("time", "state", "status", "level", "url", "reason")


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
        """Write the lines of all pages so far, of each log. Raises `StoreError` if one can't be written."""
        failures = []
        for log in (*self._common, *self._errors):
            try:
                log.write_rows()
            except OSError as error:
                failures.append(error)
        if failures:
            where = f" to {failures[0].filename}" if failures[0].filename else ""
            remedy = "free some space, or make their folder writable, and resume the crawl"
            raise StoreError(f"the logs can't be written{where}: {failures[0].strerror}; {remedy}") from failures[0]


def _opened(path: Path | None, setting: str) -> list[CsvLog]:
    try:
        return [] if path is None else [CsvLog(path, COLUMNS)]
    except OSError as error:
        raise ConfigError(f"{setting}={path}: {error.strerror}; make it writable or name another file") from error


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
        if page.reason and code_of(page.reason) is Reason.LINKS_CUT:
            self.inc_value("pages/cut")
            logger.warning("%s: %s", page.url, sentence(page.reason))
        if lease.previous is not None:
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
