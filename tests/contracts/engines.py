"""Engines of a frontier with one interface, and writers that lose what a killed process would lose."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol, TypeVar

from sqlalchemy import text

from crawlers.algorithms.bandits.site_rules import RoundRobin
from crawlers.algorithms.ranking.page_orders import BREADTH_FIRST
from crawlers.frontier.frontier import QueuedFrontier, stored_frontier
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.writer import Writer
from tests.support.memory_frontier import MemoryFrontier, MemoryFrontierStore
from tests.support.stored_rows import add_sites

Links = dict[tuple[int, int], int]  # number of links by (source, target)

T = TypeVar("T")


def granted(frontier, limits):
    """Return *frontier* with all of its page budget, like that of a lone worker."""
    if "page_budget" in limits:
        frontier.budget.grant(limits["page_budget"])
    return frontier


class Engine(Protocol):
    """The interface of an engine."""

    def frontier(self, order=None, rule=None, **limits):
        """Return a frontier on this engine's store, breadth first without an *order*.

        The previous one counts as killed after its last commit.
        """

    def new_site(self):
        """Return the id of a new site."""

    def rows(self, site_id):
        """Return the stored pages of the site."""

    def links(self): ...

    def close(self): ...


class MemoryEngine:
    def __init__(self):
        self._store = MemoryFrontierStore()
        self._sites = 0

    def frontier(self, order=None, rule=None, **limits):
        frontier = MemoryFrontier(rule or RoundRobin(), order or BREADTH_FIRST, **limits)
        store = frontier.store
        assert isinstance(store, MemoryFrontierStore)
        self._store = store
        return granted(frontier, limits)

    def new_site(self):
        self._sites += 1
        return self._sites

    def rows(self, site_id):
        return [row for row in self._store.pages.values() if row["site_id"] == site_id]

    def links(self):
        return {(s, t): count for s, targets in self._store.links.items() for t, count in targets.items()}

    def close(self):
        pass


class SqlEngine:
    """Uses a database of either kind, and the writer of crawls or the given *writer*."""

    def __init__(self, url, writer=None):
        self.database = Database(url)
        self._crawl_id = crawls.begin(self.database, "test", "test", (), {}, 0.0).id
        self._sites = 0
        self._held = writer
        self._writer: Writer | None = None
        if writer is not None:
            writer.database = self.database

    def frontier(self, order=None, rule=None, **limits):
        choice = (rule or RoundRobin(), order or BREADTH_FIRST)
        if self._held is not None:
            self._held.lose()
            held = stored_frontier(self.database, self._held, self._crawl_id, *choice, **limits)  # type: ignore[arg-type]
            return granted(held, limits)
        self.close_writer()
        self._writer = Writer(self.database, batch_size=20, batch_s=0.01)
        return granted(stored_frontier(self.database, self._writer, self._crawl_id, *choice, **limits), limits)

    def new_site(self):
        self._sites += 1
        return add_sites(self.database, self._crawl_id, f"http://host{self._sites}.test")[0].id

    def rows(self, site_id):
        self._flush()
        with self.database.read() as connection:
            found = connection.execute(text("SELECT * FROM page WHERE site_id = :site"), {"site": site_id})
            return [dict(row) for row in found.mappings()]

    def links(self):
        self._flush()
        with self.database.read() as connection:
            found = connection.execute(text("SELECT source_id, target_id, count FROM link"))
            return {(source, target): count for source, target, count in found}

    def _flush(self):
        writer = self._writer or self._held
        if writer is not None:
            writer.flush()

    def close_writer(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def close(self):
        self.close_writer()
        self.database.close()


class Held:
    """Commits on demand, so that a kill loses a known number of the last change sets."""

    def __init__(self):
        self._pending: list[ChangeSet] = []
        self.committed = 0  # change sets

    @property
    def submitted(self):
        return self.committed + self.pending

    def wait_for(self, number):
        self.commit(max(0, number - self.committed))

    def submit(self, changes):
        self._pending.append(changes)

    def has_committed(self, number):
        self.wait_for(number)
        return True

    def flush(self):
        self.wait_for(self.submitted)

    def commit(self, number):
        """Write the first *number* change sets, as one transaction."""
        batch, first = ChangeSet(), self._pending[:number]
        for changes in first:
            batch.extend(changes)
        del self._pending[:number]
        self.committed += len(first)
        self.write(batch)

    def lose(self):
        self._pending.clear()

    @property
    def pending(self):
        return len(self._pending)

    def write(self, changes):
        raise NotImplementedError


class HeldWriter(Held):
    """Writes to a database; *fence* is called first in the transaction of a batch, as by `Writer`."""

    database: Database

    def __init__(self, fence=lambda _connection, _changes: None):
        super().__init__()
        self._fence = fence

    def write(self, changes):
        with self.database.write() as connection:
            self._fence(connection, changes)
            write_changes(connection, changes)

    def run(self, job):
        result: Future[T] = Future()
        with self.database.write() as connection:
            result.set_result(job(connection))
        return result


class HeldStore(Held):
    """A `MemoryFrontierStore` that holds uncommitted changes back."""

    def __init__(self):
        super().__init__()
        self.store = MemoryFrontierStore()

    def write(self, changes):
        self.store.submit(changes)

    def new_id(self):
        return self.store.new_id()

    def entries(self, page_ids):
        self.flush()  # as every store, it waits for their rows
        return self.store.entries(page_ids)

    def __getattr__(self, name):
        return getattr(self.store, name)  # queries see only committed rows


class HeldMemoryEngine(MemoryEngine):
    """Survives its frontiers like a store; `held` has the changes that may be lost."""

    def __init__(self):
        super().__init__()
        self.held = HeldStore()
        self._store = self.held.store

    def frontier(self, order=None, rule=None, **limits):
        self.held.lose()
        return granted(QueuedFrontier(self.held, rule or RoundRobin(), order or BREADTH_FIRST, **limits), limits)

    def rows(self, site_id):
        self.held.flush()
        return super().rows(site_id)


class HeldSqlEngine(SqlEngine):
    def __init__(self, url):
        self.held = HeldWriter()
        super().__init__(url, self.held)
