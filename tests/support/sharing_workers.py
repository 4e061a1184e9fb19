"""Workers of one crawl, as rows of a store."""

from sqlalchemy import select, update

from crawlers.store import worker_rows
from crawlers.store.schema.tables import SiteRelease, site, worker
from crawlers.workers import exchange
from crawlers.workers.exchange import Report
from tests.support.stored_rows import begin, committed, ended_page, execute, new_page, write_rows


class Crawl:
    """A crawl of *sites*, with one waiting page each, whose workers do what the test says."""

    def __init__(self, database, sites=4, budget=0):
        self.database = database
        self.budget = budget
        begun = begin(database, *(f"http://s{number}.test" for number in range(sites)), PAGE_BUDGET=budget)
        self.id, self.first = begun.id, begun.worker_id
        self.sites = [row.id for row in begun.sites]
        self.write(*(new_page(number, number) for number in self.sites))
        execute(database, update(worker).values(beat_at=0.0, granted=0))

    def write(self, *rows):
        write_rows(self.database, *rows)

    def join(self, now=0.0):
        return committed(worker_rows.join, self.database, self.id, "a", 7, "1.0", now)

    def round(self, worker_id, now=1.0, **report):
        return committed(exchange.exchange, self.database, Report(worker_id, self.id, self.budget, **report), now)

    def lose(self, now, dead=(), me=0):
        return committed(worker_rows.lose_dead, self.database, self.id, now, set(dead).intersection, me)

    def fence(self, worker_id, now=1.0, **ended):
        committed(worker_rows.fence, self.database, worker_id, now, **ended)

    def leave(self, worker_id, now=1.0):
        return committed(worker_rows.leave, self.database, worker_id, now)

    def give_up(self, *sites, asked_at=0.5):
        self.write(*(SiteRelease(number, asked_at, None) for number in sites))

    def end(self, *sites):
        """End the waiting page of each of the *sites*."""
        self.write(*map(ended_page, sites))

    def holders(self):
        return self.database.scalars(select(site.c.worker_id).order_by(site.c.id))

    def states(self):
        return dict(self.database.rows(select(worker.c.id, worker.c.state)))
