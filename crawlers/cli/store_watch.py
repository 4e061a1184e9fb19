"""Reads the store for the command that started several workers, in a thread of its own: a server that does not respond
must not keep the command from obeying signals."""

from __future__ import annotations

import logging
import platform
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from crawlers.cli.child_process import StoreView
from crawlers.errors import CrawlersError
from crawlers.store.database import Database
from crawlers.workers.worker_table import Course, course, processes_of, time_of_server

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlers.cli.child_process import Events
    from crawlers.cli.workers_display import WorkersDisplay

logger = logging.getLogger(__name__)

CLOSING_FAILED_S = 0.5  # to give the terminal back; otherwise that happens at the exit


class _Request(NamedTuple):
    processes: Collection[int]
    crawl_id: int | None


class StoreWatch:
    """Looks at the store *url* when it is asked to, and then refreshes the *display*, until `close`."""

    def __init__(self, url: str, display: WorkersDisplay, events: Events) -> None:
        self._url = url
        self._display = display
        self._events = events
        self._database: Database | None = None  # None: no worker has created it yet, or it failed
        self._began_at = time.monotonic()
        self._since: float | None = None  # the same by the clock of the server; None: not known yet
        self._has_failed = False  # in the last look
        self._requests: SimpleQueue[_Request | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def look(self, processes: Collection[int], crawl_id: int | None) -> None:
        """Let the thread look, put a `StoreView` into the events, and refresh the display."""
        self._requests.put(_Request(processes, crawl_id))

    def close(self, limit_s: float) -> None:
        """Close display and store, and wait for that at most *limit_s* seconds, or shortly if the store has failed."""
        self._requests.put(None)
        self._thread.join(min(limit_s, CLOSING_FAILED_S) if self._has_failed else limit_s)

    def _run(self) -> None:
        while (request := self._requests.get()) is not None:
            looked = StoreView({}, has_failed=True)
            try:
                looked = self._look(request)
            except CrawlersError:  # workers find a broken store themselves, and report that
                self._forget()
            except Exception:  # the command waits for an event
                logger.exception("Internal error")
            self._has_failed = looked.has_failed
            self._events.put(looked)
            if request.crawl_id is not None:
                self._refresh(request.crawl_id)
        try:
            self._display.close()  # it reads the store once more
        except Exception:  # the outcome of the command does not depend on it
            logger.exception("Internal error")
        finally:
            self._forget()

    def _refresh(self, crawl_id: int) -> None:
        try:
            self._display.refresh(crawl_id)
        except Exception:  # the thread must go on
            logger.exception("Internal error")

    def _look(self, request: _Request) -> StoreView:
        database = self._opened()
        if self._since is None:  # processes of earlier commands may have had the same numbers
            self._since = time_of_server(database) - (time.monotonic() - self._began_at)
        seen = processes_of(database, platform.node(), request.processes, self._since)
        crawl_id = request.crawl_id or next((one.crawl_id for one in seen.values()), None)
        return StoreView(seen, Course() if crawl_id is None else course(database, crawl_id))

    def _opened(self) -> Database:
        if self._database is None:
            self._database = Database(self._url, create=False)
        return self._database

    def _forget(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
