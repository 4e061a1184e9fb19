"""Add-ons that make a crawl fail at an exact point: `-s ADDONS={"tests.support.crashing.X": 0}`."""

import itertools
import os
import re
import resource
import signal
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine, event

from crawlers.frontier import sql_store
from crawlers.store import worker_rows
from crawlers.store.writing import writer


class KillBeforeCommit:
    """Sends SIGKILL just before the `KILL_BEFORE_COMMIT`-th commit of the process."""

    def update_settings(self, settings):
        last = settings.getint("KILL_BEFORE_COMMIT")
        numbers = itertools.count(1)

        @event.listens_for(Engine, "commit")
        def _count(connection):
            if connection.get_execution_options().get("writes") and next(numbers) >= last:
                os.kill(os.getpid(), signal.SIGKILL)


class KillAtStatement:
    """Sends SIGKILL after a statement that matches `KILL_AT_STATEMENT`, including its values.

    Only to the first of all processes in this folder that comes so far.
    """

    def update_settings(self, settings):
        wanted = settings.get("KILL_AT_STATEMENT")

        @event.listens_for(Engine, "after_cursor_execute")
        def _look(connection, cursor, statement, values, *_):
            if re.match(wanted, f"{statement} {values}", re.DOTALL):
                with suppress(FileExistsError):
                    Path(f"killed at {wanted}").touch(exist_ok=False)
                    os.kill(os.getpid(), signal.SIGKILL)


class FullWhenNumbersAreReserved:
    """Makes the database full at the `FULL_AT_RESERVATION`-th (small) reservation of page numbers."""

    def update_settings(self, settings):
        full_at = settings.getint("FULL_AT_RESERVATION")
        numbers = itertools.count(1)
        sql_store.ID_BLOCK = 50

        @event.listens_for(Engine, "before_cursor_execute")
        def _fill(connection, cursor, statement, *_):
            if statement.startswith("UPDATE id_block") and next(numbers) >= full_at:
                cursor.execute("PRAGMA max_page_count=1")
                cursor.execute("CREATE TABLE filler AS SELECT randomblob(1000000)")


class NoRoomForGraphs:
    """Limits files to 10,000 bytes from the end of the crawl on."""

    def update_settings(self, settings):
        @event.listens_for(Engine, "before_cursor_execute")
        def _limit(connection, cursor, statement, *_):
            if "END, duplicates" in statement:  # the graph is read
                resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))


class FrequentStoreChecks:
    """Lets each tenth of a second the store be checked, and a round begin."""

    def update_settings(self, settings):
        writer.CHECK_S = 0.1
        worker_rows.ROUND_S = 0.1
