"""Frontiers on one store, one after the other, and a writer that loses what a killed process would lose."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import text

from crawlers.algorithms.bandits.patience import NO_PATIENCE, Patience
from crawlers.algorithms.bandits.site_rules import RoundRobin
from crawlers.algorithms.ranking.page_orders import BREADTH_FIRST
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import QueuedFrontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.tables import crawl
from tests.support.stored_rows import add_sites

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.storage.database import Database

T = TypeVar("T")


class HeldWriter:
    """Commits on demand, so that a kill loses a known number of the last change sets.

    *fence* is called first in the transaction of a batch, as by `Writer`.
    """

    def __init__(self, database: Database, fence: Callable[[Connection, ChangeSet], None] = lambda *_: None) -> None:
        self._database = database
        self._fence = fence
        self._pending: list[ChangeSet] = []
        self.committed = 0  # change sets

    @property
    def pending(self) -> int:
        return len(self._pending)

    @property
    def submitted(self) -> int:
        return self.committed + self.pending

    def submit(self, changes: ChangeSet) -> None:
        self._pending.append(changes)

    def wait_for(self, number: int) -> None:
        self.commit(max(0, number - self.committed))

    def has_committed(self, number: int) -> bool:
        self.wait_for(number)
        return True

    def flush(self) -> None:
        self.wait_for(self.submitted)

    def commit(self, number: int) -> None:
        """Write the first *number* change sets, as one transaction."""
        batch, first = ChangeSet(), self._pending[:number]
        for changes in first:
            batch.extend(changes)
        del self._pending[:number]
        self.committed += len(first)
        with self._database.write() as connection:
            self._fence(connection, batch)
            write_changes(connection, batch)

    def lose(self) -> None:
        self._pending.clear()

    def run(self, job: Callable[[Connection], T]) -> Future[T]:
        result: Future[T] = Future()
        with self._database.write() as connection:
            result.set_result(job(connection))
        return result


class Engine:
    """The store of a crawl; `held` has the changes that may be lost."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.held = HeldWriter(database)
        self._sites = 0
        self.begin_crawl()

    def begin_crawl(self) -> Engine:
        """Begin another crawl, whose frontiers and sites are those from now on."""
        self.held.flush()
        with self.database.write() as connection:
            connection.execute(crawl.update().values(state=crawls.FINISHED))
        self.crawl_id = crawls.begin(self.database, "test", "test", (), {}, 0.0).id
        return self

    def frontier(
        self,
        order: PageOrder | None = None,
        rule: SiteRule | None = None,
        page_budget: int = 0,
        patience: Patience = NO_PATIENCE,
        *,
        records_pulls: bool = False,
        **limits: Any,
    ) -> QueuedFrontier:
        """Return a frontier, breadth first without an *order*, with all of its page budget, like a lone worker.

        The previous one counts as killed after its last commit, which has everything that is not lost.
        """
        self.held.flush()
        order = order or BREADTH_FIRST
        looks_back = not order.finishes_each_priority
        store = SqlFrontierStore(self.database, self.held, self.crawl_id, looks_back=looks_back)  # type: ignore[arg-type]
        budget = PullBudget(rule or RoundRobin(), page_budget, patience, records=records_pulls)
        budget.grant(page_budget)
        return QueuedFrontier(store, order, budget, **limits)

    def new_site(self) -> int:
        """Return the id of a new site."""
        self._sites += 1
        return add_sites(self.database, self.crawl_id, f"http://host{self._sites}.test")[0].id

    def stored(self, table: str, condition: str = "true") -> list[dict[str, Any]]:
        """Return rows of a table."""
        self.held.flush()
        with self.database.read() as connection:
            return [
                dict(row) for row in connection.execute(text(f"SELECT * FROM {table} WHERE {condition}")).mappings()
            ]

    def rows(self, site_id: int) -> list[dict[str, Any]]:
        """Return the stored pages of the site."""
        return self.stored("page", f"site_id = {site_id}")

    def links(self) -> dict[tuple[int, int], int]:
        """Return the number of links by source and target."""
        return {(row["source_id"], row["target_id"]): row["count"] for row in self.stored("link")}
