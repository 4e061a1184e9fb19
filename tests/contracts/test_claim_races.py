"""Two transactions of workers that run at the same time, see `interleaving`.

With CLAIMS_EXAMPLES in the environment, every statement is tried, otherwise every third one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import pytest
from sqlalchemy import func, select, update

from crawlers.errors import ClaimsLost, ConfigError, CrawlEnded
from crawlers.items import State
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import SiteRelease, crawl, page, site, worker
from crawlers.store.sites.site_opening import SiteList, SiteRow
from crawlers.store.worker_rows import Round, WorkerLock
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.workers import exchange
from crawlers.workers.exchange import Report
from tests.support.interleaving import interleaved
from tests.support.stored_rows import committed, ended_page, new_page

STEP = 1 if os.environ.get("CLAIMS_EXAMPLES") else 3
SITES = 4
BUDGET = 3
GRANTED = 2  # to the first worker
NOW = 100.0


@dataclass
class Store:
    """A crawl with three workers: the first one holds all sites but one, and is dead for the others."""

    url: str
    all_end: bool  # nothing waits
    locks: list[WorkerLock] = field(default_factory=list)

    def __post_init__(self):
        database = Database(self.url)
        begun = self.begin(database)
        self.crawl_id, self.first = begun.id, begun.worker_id
        self.sites = [row.id for row in begun.sites]
        state = State.DONE if self.all_end else State.WAITING
        pages = [new_page(number, number, state) for number in self.sites]
        with database.write() as connection:
            write_changes(connection, ChangeSet(*pages, SiteRelease(self.sites[3], 1.0, None)))
            self.second, self.third = (worker_rows.join(connection, self.crawl_id, "b", 1, "1", NOW) for _ in range(2))
            led = update(site).where(site.c.id == self.sites[1])
            connection.execute(led.values(source_id=self.sites[0]))
            connection.execute(update(worker).values(is_idle=True))
            connection.execute(update(worker).where(worker.c.id == self.first).values(granted=GRANTED))
        self.locks += [WorkerLock(database, number) for number in (self.second, self.third)]
        self.database = database

    def begin(self, database):
        sites = SiteList([SiteRow(0, f"http://s{number}.test", 1, None, 1.0) for number in range(SITES)])
        command = Command("c", "extlinks", {"settings": {"PAGE_BUDGET": BUDGET}}, sites)
        return crawls.begin(database, command, 0.0, hold=lambda one: self.locks.append(WorkerLock(database, one)))

    def close(self):
        for lock in self.locks:
            lock.release()
        self.database.close()

    # What workers do; each returns what it has got ---------------------------------------------------

    def act(self, what, me, database):
        try:
            return getattr(self, what)(database, me)
        except (ClaimsLost, ConfigError, CrawlEnded) as error:
            return error

    def exchange(self, database, me, **report):
        return committed(exchange.exchange, database, Report(me, self.crawl_id, BUDGET, **report), NOW)

    def claim(self, database, me):
        return self.exchange(database, me, wanted_sites=SITES, is_idle=True)

    def be_granted(self, database, me):
        return self.exchange(database, me, best_index=1.0)

    def lose(self, database, me):
        with database.write() as connection:
            worker_rows.fence(connection, me, NOW)
            return worker_rows.lose_dead(connection, self.crawl_id, NOW, {self.first}.intersection, me)

    def commit(self, database, me):
        with database.write() as connection:
            worker_rows.fence(connection, me, NOW, pulls=1)
            write_changes(connection, ChangeSet(ended_page(self.sites[0])))
        return "committed"

    def give_up(self, database, me):
        with database.write() as connection:
            worker_rows.fence(connection, me, NOW)
            write_changes(connection, ChangeSet(*(SiteRelease(of, 1.0, None) for of in self.sites[:2])))

    def leave(self, database, me):
        return committed(worker_rows.leave, database, me, NOW)

    def join(self, database, me):
        return self.begin(database).others


def check(store):
    """Check what holds after any two transactions."""
    rows = store.database.rows(select(worker.c.id, worker.c.state, worker.c.granted, worker.c.used))
    holders = dict(store.database.rows(select(site.c.id, site.c.worker_id)))
    finisher = store.database.scalar(select(crawl.c.finisher_id))
    done = store.database.scalar(select(func.count()).where(page.c.state == int(State.DONE)))
    active = {row.id for row in rows if row.state == "active"}
    assert set(holders.values()) <= active | {None}
    assert holders[store.sites[0]] == holders[store.sites[1]]
    assert sum(row.granted if row.state == "active" else row.used for row in rows) <= BUDGET
    assert finisher is None or finisher in active
    assert sum(row.used for row in rows) == (0 if store.all_end else done)


IN_BOTH_ORDERS = [("lose", "commit"), ("lose", "be_granted"), ("leave", "join")]
PAIRS = [
    *((what, what) for what in ("be_granted", "claim", "lose", "leave", "join")),
    *IN_BOTH_ORDERS,
    *((other, one) for one, other in IN_BOTH_ORDERS),
    *(("give_up", "claim"), ("leave", "claim"), ("claim", "join")),
]
AT_THE_END = [("claim", "claim"), ("leave", "leave"), ("leave", "claim"), ("claim", "leave"), ("claim", "join")]
OF_THE_FIRST = ("commit", "give_up")  # these need its sites


@pytest.mark.parametrize(
    ("one", "other", "all_end"), [*((*pair, False) for pair in PAIRS), *((*pair, True) for pair in AT_THE_END)]
)
def test_two_transactions_at_once(postgresql_store, one, other, all_end):
    for statement in count(1, STEP):
        postgresql_store.clear()
        store = Store(postgresql_store.url, all_end)
        first, second = (
            store.first if what in OF_THE_FIRST else own for what, own in ((one, store.second), (other, store.third))
        )
        if one == other == "leave":
            store.lose(store.database, store.third)  # so that one of the two is the last
        acts = (partial(store.act, one, first), partial(store.act, other, second))
        got = interleaved(store.url, statement, *acts)
        check(store)
        rounds = [result for result in got[:2] if isinstance(result, Round)]
        assert sum(result.is_elected for result in rounds) <= 1
        claimed = [number for result in rounds for number in result.claimed]
        assert len(claimed) == len(set(claimed)), "a site was claimed twice"
        if one == other == "leave":
            assert sorted(got[:2]) == [False, True], "exactly one is the last"
        if one == other == "lose":
            assert sorted(got[:2]) in ([[], [store.first]],), "it is lost once"
        store.close()
        if not got[2]:
            break
    assert statement > 3
