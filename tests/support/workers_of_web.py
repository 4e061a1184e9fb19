"""Several workers, in one process, that crawl a web of several sites and exchange messages; they can be killed.

What a worker has not committed is lost when it is killed.
"""

import json
import math

from sqlalchemy import select

from crawlers.bandits.index_rule import Best
from crawlers.crawl.leasing import fail_loop
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import Frontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import GONE, Page, State
from crawlers.ranking.opic import OPIC, OPICTotals
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.reading.importance import parts_of
from crawlers.store.schema.tables import importance, link, message, page, site
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.resolution import resolve
from crawlers.workers.exchange import hand_out, links_to
from crawlers.workers.shared import SentLinks, incoming, receive
from tests.support.frontier_engine import HeldWriter
from tests.support.stored_rows import add_sites, begin, committed, execute

ROUND_S = 1.0


def host(place):
    return f"http://host{place}.test"


def url_of(name):
    return f"{host(name[0])}/{name[1] or ''}"


def name_of(url):
    start, _, number = url.removeprefix("http://host").partition(".test/")
    return int(start), int(number or 0)


class RandomWeb:
    """*sites* with *pages* each, which link to each other; some redirect, also to other sites."""

    def __init__(self, rng, sites, pages, moved_p=0.1):
        self.names = [(place, number) for place in range(sites) for number in range(pages)]
        self.links = {}
        self.moved = {}
        for name in self.names:
            near = [other for other in self.names if other[0] == name[0]]
            targets = rng.sample(near, 2) + rng.sample(self.names, rng.randint(0, 4))
            self.links[name] = {target: rng.randint(1, 3) for target in targets}
            if name[1] and rng.random() < moved_p:
                self.moved[name] = rng.choice([other for other in self.names if other != name and other[1] == 0])

    def page(self, lease):
        name = name_of(lease.url)

        def target(other):
            return resolve(lease.url, url_of(other))

        if name in self.moved:
            return Page(lease.id, lease.url, lease.level, State.MOVED, 301, moved_to=target(self.moved[name]))
        found = [], []  # on the site of the page, and elsewhere
        for other, count in self.links[name].items():
            found[other[0] != name[0]].append((target(other), count))
        read = {"content_hash": str(name).encode(), "links": found[0], "cross_site_links": found[1]}
        return Page(lease.id, lease.url, lease.level, State.DONE, 200, **read)


class Worker:
    """A worker with its frontier; *held* contains what it has not committed yet."""

    def __init__(self, number, frontier, order, held, database):
        self.number = number
        self.frontier = frontier
        self.scores = order.scores
        self.held = held
        self.links = SentLinks(frontier, database)
        self.sites = set()


def _untaken(parts, scores):
    """Return the cash of the virtual page, of all workers and of each, and what was given but not taken."""
    stored = {number: one.part for number, one in parts.items()}
    cash = [scores.pooled(stored)]
    for part in stored.values():
        own = OPICTotals(*part.totals)
        if part.is_active:
            cash += [own.virtual, part.given - own.taken]
    return math.fsum(cash)


def stored_cash(database, crawl_id):
    """Return the cash of all pages, messages and workers of a crawl, and of the virtual page of all workers.

    As of one commit: workers may write meanwhile.
    """
    level = "SERIALIZABLE" if database.is_sqlite else "REPEATABLE READ"
    with database.engine.connect().execution_options(isolation_level=level) as connection, connection.begin():
        parts = parts_of(connection, crawl_id)
        sent = connection.execute(select(message.c.carried).where(message.c.crawl_id == crawl_id)).scalars().all()
        holders = select(site.c.id, site.c.base, site.c.worker_id).where(site.c.crawl_id == crawl_id)
        bases = {
            row.id: json.loads(row.base) if row.base is not None else parts[row.worker_id].base
            for row in connection.execute(holders)
            if row.base is not None or row.worker_id in parts
        }
        columns = (importance.c.site_id, importance.c.queue, importance.c.cash)
        rows = connection.execute(select(*columns).where(importance.c.queue != GONE)).all()
    return math.fsum([*(row.cash + bases[row.site_id][row.queue] for row in rows), *sent, _untaken(parts, OPIC())])


class Workers:
    """Workers on one store, which holds all *sites*."""

    def __init__(self, web, make_order, sites, url):
        self.web = web
        self.make_order = make_order
        self.workers = {}
        self.now = 1000.0
        self.database = Database(url)
        self.crawl_id = begin(self.database, mission="broad", now=self.now).id
        with self.database.write() as connection:  # else all would wait for its part
            now = worker_rows.server_time(connection)
            assert worker_rows.lose_dead(connection, self.crawl_id, now, set)
        rows = add_sites(self.database, self.crawl_id, *(host(place) for place in range(sites)))
        self.site_ids = {row.site: row.id for row in rows}

    def join(self):
        number = committed(worker_rows.join, self.database, self.crawl_id, "test", 1, "1", self.now)
        order = self.make_order()
        held = HeldWriter(self.database)
        looks_back = not order.finishes_each_priority
        store = SqlFrontierStore(self.database, held, self.crawl_id, looks_back=looks_back)
        budget = PullBudget(Best(), 0, records=False, worker_id=number)
        frontier = Frontier(store, order, budget, is_divided=order.scores is not None)
        self.workers[number] = Worker(number, frontier, order, held, self.database)
        return self.workers[number]

    def free_sites(self):
        return self.database.scalars(select(site.c.id).where(site.c.worker_id.is_(None)).order_by(site.c.id))

    def waiting_messages(self):
        return len(self.database.rows(select(message.c.id)))

    def result(self):
        rows = self.database.rows(select(page.c.id, page.c.url, page.c.state, page.c.moved_to))
        links = self.database.rows(select(link))
        names = {row.id: name_of(row.url) for row in rows}
        pages = {names[row.id]: (row.state, names.get(row.moved_to)) for row in rows}
        return pages, {(names[source], names[target]): count for source, target, count in links}

    def committed_cash(self):
        return stored_cash(self.database, self.crawl_id)

    def close(self):
        self.database.close()

    # What a worker does -------------------------------------------------------------------------------

    def claim(self, worker, number):
        worker.held.flush()
        execute(self.database, site.update().where(site.c.id == number).values(worker_id=worker.number))
        place = next(name for name, one in self.site_ids.items() if one == number)
        worker.frontier.open_site(SiteRow(number, place, 1, None, 0.0), self.now)
        worker.sites.add(number)
        worker.frontier.add([Candidate(number, resolve(place + "/", place + "/"))], self.now)

    def give_up(self, worker, number):
        worker.frontier.store.submit(worker.frontier.close_site(number))
        worker.held.flush()
        worker.sites.discard(number)

    def round(self, worker):
        worker.held.flush()
        parts = None
        with self.database.write() as connection:
            worker_rows.fence(connection, worker.number, self.now)
            found = links_to(connection, self.crawl_id, worker.number, 1000)
            if worker.scores is not None:
                parts = hand_out(connection, self.crawl_id, self.now, ROUND_S, worker.scores.hand_out)
        receive(worker.frontier, map(incoming, found), self.now)
        if parts is not None:
            worker.frontier.scoring.apply_parts(parts)
            worker.frontier.submit(ChangeSet(), self.now)

    def kill(self, worker):
        """Lose what is not committed."""
        worker.held.lose()
        del self.workers[worker.number]
        with self.database.write() as connection:
            worker_rows.lose_dead(connection, self.crawl_id, self.now, {worker.number}.intersection)

    def fetch(self, worker):
        leases = worker.frontier.lease(self.now, 1)
        for lease in leases:
            decision = Decision(fail_loop(lease, self.web.page(lease)))
            sent = worker.links.of_page(lease, decision, self.now)
            worker.frontier.acknowledge(lease, decision, self.now, sent)
        return bool(leases)

    def finish(self, rng):
        """Crawl until nothing waits, with the workers that there are."""
        while True:
            for number in self.free_sites():
                self.claim(rng.choice(list(self.workers.values())), number)
            works = [self.fetch(worker) for worker in self.workers.values()]
            for worker in self.workers.values():
                self.round(worker)
            for worker in self.workers.values():
                worker.held.flush()
            if not any(works) and not self.waiting_messages():
                return
