"""Two transactions that run at the same time in PostgreSQL.

The first one stops before its n-th statement, or its commit; the second one runs meanwhile, and again after the first
one if it had to wait for a lock of it. SQLite admits one writer at a time, so there is nothing to interleave.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from sqlalchemy import event

from crawlers.errors import StoreError
from crawlers.store.database import Database

PATIENCE_S = 60.0  # a test that waits longer fails


class Stopping:
    """Stops a thread before a statement of its connections, or before the commit."""

    def __init__(self, database, statement):
        self.is_stopped, self.goes_on = threading.Event(), threading.Event()
        self._left = statement
        event.listen(database.engine, "before_cursor_execute", lambda *_: self._pass())
        event.listen(database.engine, "commit", lambda connection: self._pass())

    def _pass(self):
        self._left -= 1
        if self._left == 0:
            self.is_stopped.set()
            assert self.goes_on.wait(PATIENCE_S)


class Interleaved(NamedTuple):
    """What the two got, and whether the first one was stopped before that statement."""

    first: Any
    second: Any
    was_stopped: bool


def interleaved(url, statement, one, other):
    """Stop *one* before its n-th *statement*, n >= 1, and run the *other* meanwhile; *url* is that of the store."""
    database, meanwhile = Database(url), Database(url)
    stopping = Stopping(database, statement)
    event.listen(meanwhile.engine, "begin", lambda connection: connection.exec_driver_sql("SET lock_timeout = '10ms'"))
    results = []
    waited = object()

    def run():
        try:
            results.append(one(database))
        finally:
            stopping.is_stopped.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert stopping.is_stopped.wait(PATIENCE_S)
    was_stopped = thread.is_alive() and not results
    try:
        got = other(meanwhile)
    except StoreError as error:
        if "lock timeout" not in str(error):
            raise
        got = waited
    finally:
        stopping.goes_on.set()
        thread.join(PATIENCE_S)
    meanwhile.close()
    if got is waited:
        got = other(database)
    database.close()
    assert results, "the first one has failed"
    return Interleaved(results[0], got, was_stopped)
