"""Engines that lose uncommitted changes, as a kill does, and keep the changes between the visits of a page."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from crawlers.storage.schema.score_tables import LinkChangeRow, PageChangeRow
from crawlers.storage.schema.tables import EndedPage, NewPage, UnchangedPage, WaitingPage
from tests.contracts.engines import HeldMemoryEngine, HeldSqlEngine, HeldStore, SqlEngine

CHANGES = {"page_change": PageChangeRow._fields, "link_change": LinkChangeRow._fields}


class ScoredStore(HeldStore):
    """Commits the changes of a page before it returns the page, like the store, and keeps the rows of changes."""

    def __init__(self):
        super().__init__()
        self.changes: dict[str, list[Any]] = {name: [] for name in CHANGES}

    def write(self, changes):
        super().write(changes)
        self.changes["page_change"] += changes[PageChangeRow]
        self.changes["link_change"] += changes[LinkChangeRow]

    def entries(self, page_ids):
        self._look(page_ids)
        return self.store.entries(page_ids)

    def previous(self, page_id):
        self._look([page_id])
        return self.store.previous(page_id)

    def _look(self, page_ids):
        for changes in self._pending:
            kinds = (NewPage, WaitingPage, EndedPage, UnchangedPage)
            if any(row.id in page_ids for kind in kinds for row in changes[kind]):
                self.flush()
                return


class ScoredMemoryEngine(HeldMemoryEngine):
    def __init__(self):
        super().__init__()
        self.held: Any = ScoredStore()
        self._store = self.held.store


@contextmanager
def opened(request):
    """Return the engine named by the parameter of a fixture, which loses uncommitted changes."""
    if request.param == "memory":
        yield ScoredMemoryEngine()
        return
    engine = HeldSqlEngine(request.getfixturevalue(f"{request.param}_url"))
    yield engine
    engine.close()


def changes(engine, name):
    """Return the rows of a table of changes, in order of time."""
    columns = CHANGES[name]
    if isinstance(engine, SqlEngine):
        engine._flush()
        with engine.database.read() as connection:
            rows = list(connection.execute(text(f"SELECT {', '.join(columns)} FROM {name}")))
    else:
        engine.held.flush()
        rows = engine.held.changes[name]
    return sorted((dict(zip(columns, row, strict=True)) for row in rows), key=lambda row: row["changed_at"])
