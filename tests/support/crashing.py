"""Add-ons that let a crawl fail at an exact place, from within: `-s ADDONS={"tests.support.crashing.X": 0}`."""

from __future__ import annotations

import itertools
import os
import re
import resource
import signal
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event

from crawlers.frontier.backends import sql

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class KillBeforeCommit:
    """kill -9 when the `KILL_BEFORE_COMMIT`-th transaction of the process is about to be committed."""

    def update_settings(self, settings: BaseSettings) -> None:
        last = settings.getint("KILL_BEFORE_COMMIT")
        numbers = itertools.count(1)

        @event.listens_for(Engine, "commit")
        def _count(connection: Any) -> None:
            if connection.get_execution_options().get("writes") and next(numbers) >= last:
                os.kill(os.getpid(), signal.SIGKILL)


class KillAtStatement:
    """kill -9 when the first statement that matches `KILL_AT_STATEMENT`, with its values, was executed."""

    def update_settings(self, settings: BaseSettings) -> None:
        wanted = re.compile(settings.get("KILL_AT_STATEMENT"), re.DOTALL)

        @event.listens_for(Engine, "after_cursor_execute")
        def _look(connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
            if wanted.match(f"{statement} {values}"):
                os.kill(os.getpid(), signal.SIGKILL)


class SmallDisk:
    """The database can't grow beyond `SMALL_DISK_PAGES` pages of 4 KiB: SQLite says that the disk is full."""

    def update_settings(self, settings: BaseSettings) -> None:
        pages = settings.getint("SMALL_DISK_PAGES")

        @event.listens_for(Engine, "connect")
        def _limit(connection: Any, _record: Any) -> None:
            connection.execute(f"PRAGMA max_page_count={pages}")


class FullWhenNumbersAreReserved:
    """The `FULL_AT_RESERVATION`-th reservation of page numbers (small ones) finds the database full."""

    def update_settings(self, settings: BaseSettings) -> None:
        full_at = settings.getint("FULL_AT_RESERVATION")
        numbers = itertools.count(1)
        sql.ID_BLOCK = 50

        @event.listens_for(Engine, "before_cursor_execute")
        def _fill(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if statement.startswith(("UPDATE id_block", "INSERT INTO id_block")) and next(numbers) >= full_at:
                cursor.execute("PRAGMA max_page_count=1")
                cursor.execute("CREATE TABLE filler AS SELECT randomblob(1000000)")


class NoRoomForGraphs:
    """From the end of the crawl on, no file may grow beyond 10,000 bytes."""

    def update_settings(self, settings: BaseSettings) -> None:
        @event.listens_for(Engine, "before_cursor_execute")
        def _limit(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if "content_hash, url, level" in statement:  # the graph is read
                resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
