"""Frontiers on one store, one after the other, and a writer that loses what a killed process would lose."""

from concurrent.futures import Future
from typing import TypeVar

from sqlalchemy import text

from crawlers.bandits.arms import NO_PATIENCE
from crawlers.bandits.turns import RoundRobin
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import Frontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.ranking.page_orders import BREADTH_FIRST
from crawlers.store.reading import crawls
from crawlers.store.schema.tables import crawl
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from tests.support.stored_rows import add_sites, begin, committed, execute

T = TypeVar("T")


class HeldWriter:
    """Commits on demand, so that a kill loses a known number of the last change sets."""

    def __init__(self, database):
        self._database = database
        self._pending = []
        self.committed = 0  # change sets

    @property
    def pending(self):
        return len(self._pending)

    @property
    def submitted(self):
        return self.committed + self.pending

    def submit(self, changes):
        self._pending.append(changes)

    def wait_for(self, number):
        self.commit(max(0, number - self.committed))

    def is_committed(self, number):
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
        with self._database.write() as connection:
            write_changes(connection, batch)

    def lose(self):
        self._pending.clear()

    def run(self, job):
        result = Future()
        result.set_result(committed(job, self._database))
        return result


class Engine:
    """The store of a crawl; `held` has the changes that may be lost."""

    def __init__(self, database):
        self.database = database
        self.held = HeldWriter(database)
        self._sites = 0
        self.begin_crawl()

    def begin_crawl(self):
        """Begin another crawl, whose frontiers and sites are those from now on."""
        self.held.flush()
        execute(self.database, crawl.update().values(state=crawls.FINISHED))
        self.crawl_id = begin(self.database).id
        return self

    def frontier(self, order=None, rule=None, page_budget=0, patience=NO_PATIENCE, *, records_pulls=False, **limits):
        """Return a frontier, breadth first without an *order*, with all of its page budget, like a lone worker.

        The previous one counts as killed after its last commit, which has everything that is not lost.
        """
        self.held.flush()
        order = order or BREADTH_FIRST
        looks_back = not order.finishes_each_priority
        store = SqlFrontierStore(self.database, self.held, self.crawl_id, looks_back=looks_back)
        budget = PullBudget(rule or RoundRobin(), page_budget, patience, records=records_pulls)
        budget.grant(page_budget)
        return Frontier(store, order, budget, **limits)

    def new_site(self):
        """Return the id of a new site."""
        self._sites += 1
        return add_sites(self.database, self.crawl_id, f"http://host{self._sites}.test")[0].id

    def stored(self, table, condition="true"):
        """Return rows of a table."""
        self.held.flush()
        with self.database.read() as connection:
            return [
                dict(row) for row in connection.execute(text(f"SELECT * FROM {table} WHERE {condition}")).mappings()
            ]

    def rows(self, site_id):
        """Return the stored pages of the site."""
        return self.stored("page", f"site_id = {site_id}")

    def links(self):
        """Return the number of links by source and target."""
        return {(row["source_id"], row["target_id"]): row["count"] for row in self.stored("link")}
