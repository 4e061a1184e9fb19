"""A crawl of one process holds all its sites alone, until another process joins it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import select, text

from crawlers.crawl.claims import Alone
from crawlers.items import SiteLimits
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.schema.tables import worker
from crawlers.store.worker import RecentRate, Worker
from crawlers.store.worker_rows import WorkerLock, free_locks
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import rounds, target
from tests.support.stored_rows import begin, committed

SITES = [f"http://s{number}.test" for number in range(4)]
A, B = SITES[:2]


@pytest.fixture
def begun(begin):
    """Begins or joins the crawl of all sites; *mission* has further fields of its specification."""

    def begin_worker(number=4, **mission):
        sites = [SiteLimits(site) for site in SITES[:number]]
        return begin(None, {"sites": sites, **mission}, WORKER_DEADLINE_SECONDS=30.0)

    return begin_worker


def is_alone(crawl):
    return isinstance(crawl.crawl.session.claims, Alone)


def held(crawl):
    its = crawl.crawl.session.row.worker_id
    return [site for (site,) in crawl.rows(f"SELECT site FROM site WHERE worker_id = {its} ORDER BY id")]


def test_lone_crawl_imports_nothing_that_workers_share(sqlite_url):
    program = f"""
import sys
from tests.support.opened_crawl import OpenedCrawl
crawl = OpenedCrawl({sqlite_url!r})
crawl.round()
crawl.end(crawl.lease(), "/1")
crawl.end(crawl.lease())
crawl.close()
assert crawl.states() == [("finished", "finished")]
print(*[name for name in sys.modules if name.startswith("crawlers.workers")])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""


def test_lone_crawl_holds_all_sites_until_another_process_joins(begun):
    one = begun()
    rounds(one)
    assert is_alone(one)
    assert held(one) == SITES
    two = begun()
    two.round()
    assert held(two) == [], "the first one does not know yet"
    rounds(one, two)
    assert not is_alone(one)
    assert [len(held(one)), len(held(two))] == [2, 2]


def test_no_page_of_a_crawl_that_is_joined_is_lost_or_fetched_twice(begun):
    one, fetched = begun(), []
    first = one.leases()
    for lease in first[:2]:
        fetched.append(lease.url)
        one.end(lease, *(f"{lease.url}{number}" for number in range(3)))
    two = begun()  # while pages are in flight
    two.round()
    for lease in first[2:]:
        fetched.append(lease.url)
        one.end(lease, *(f"{lease.url}{number}" for number in range(3)))
    for _ in range(8):
        rounds(one, two, number=1)
        for crawl in (one, two):
            for lease in crawl.leases():
                fetched.append(lease.url)
                crawl.end(lease)
    assert sorted(fetched) == sorted(f"{site}/{path}" for site in SITES for path in ("", "0", "1", "2"))
    assert one.rows("SELECT count(*), count(DISTINCT url) FROM page WHERE state = 1") == [(16, 16)]


def test_links_to_a_site_that_was_given_up_become_messages(begun):
    scope = {"scope": Scope("test", [A, B])}
    one = begun(2, **scope)
    (lease, other) = one.leases()
    one.end(lease, f"{lease.url}1", cross_site_links=[(target(f"{other.url}x"), 1)])
    assert (other.url + "x", 0) in one.rows("SELECT url, state FROM page"), "both are its own"
    one.crawl.frontier.release(other, one.now)
    two = begun(2, **scope)
    rounds(two, one, two)
    (site,) = held(two)
    one.end(one.lease(), cross_site_links=[(target(f"{site}/y"), 1)])
    assert one.rows("SELECT url FROM message") == [(f"{site}/y",)]
    rounds(two)
    assert f"{site}/y" in [lease.url for lease in two.leases()]


def test_sites_that_a_lone_crawl_discovers_before_it_knows_of_another_are_its_own(begun):
    scope = {"scope": Scope("all", [A])}
    one, two = begun(1, **scope), begun(1, **scope)
    one.end(one.lease(), f"{A}/1", cross_site_links=[(target("http://new.test/"), 1)])
    one.crawl.session.writer.flush()
    assert held(one) == [A, "http://new.test"]
    rounds(one, two)
    assert sorted(held(one) + held(two)) == ["http://new.test", A]
    assert len(held(two)) == 1


def test_lone_worker_that_was_declared_lost_stores_nothing(begun):
    one = begun()
    lease = one.lease()
    two = begun()
    committed(worker_rows.lose_dead, two.crawl.session.database, 1, 1e12, set, 2)
    two.round()
    assert held(two) == SITES
    one.end(lease, "/1")
    one.round()
    assert one.stopped == ["store_failed"]
    assert two.rows("SELECT count(*) FROM page WHERE state = 1") == [(0,)]


def test_budget_is_the_lone_workers_and_divided_when_another_joins(begun):
    one = begun(page_budget=10)
    assert one.rows("SELECT granted FROM worker") == [(10,)]
    one.end(one.lease())
    two = begun(page_budget=10)
    two.round()
    assert two.crawl.frontier.budget.is_exhausted
    fetched = 1
    for _ in range(12):
        rounds(one, two, number=2)
        for crawl in (one, two):
            for lease in crawl.leases():
                fetched += 1
                crawl.end(lease, *(f"{lease.url}{number}" for number in range(3)))
    assert fetched == 10
    assert one.rows("SELECT sum(used) FROM worker") == [(10,)]


def test_lone_worker_is_shown_and_asked_to_pause_and_stop(begun):
    one = begun()
    lease = one.lease()
    one.round()
    assert one.rows("SELECT leases FROM worker") == [(1,)]
    committed(worker_rows.ask, one.crawl.session.database, 1, worker_rows.PAUSE)
    one.round()
    assert not one.crawl.leasing.may_lease(one.now)
    assert one.stopped == []
    one.end(lease)
    committed(worker_rows.ask, one.crawl.session.database, 1, worker_rows.STOP)
    one.round()
    one.round()
    assert one.stopped == ["shutdown"], "once"


def test_messages_of_an_earlier_run_reach_a_lone_worker(begun):
    scope = {"scope": Scope("test", [A, B])}
    one = begun(2, **scope)
    two = begun(2, **scope)
    rounds(two, one, two)
    sender, other = (one, two) if held(one) == [A] else (two, one)
    (site,) = held(other)
    sender.end(sender.lease(), cross_site_links=[(target(f"{site}/x"), 1)])
    for crawl in (one, two):
        crawl.close(reason="shutdown")
    again = begun(2, **scope)
    again.round()
    assert again.rows("SELECT count(*) FROM message") == [(0,)]
    assert f"{site}/x" in again.pages()


class OneWorker:
    """A worker of a crawl, and further ones that the test moves; `now` is the time of the server, and its own."""

    def __init__(self, database, monkeypatch, deadline_s=30.0):
        self.database = database
        self.now = 0.0
        monkeypatch.setattr(worker_rows, "server_time", lambda connection: self.now)
        self.row = begin(database, "http://a.test")
        self.lock = WorkerLock(database, self.row.worker_id)
        self.worker = Worker(database, self.row, self.lock, deadline_s, lambda: self.now)

    def round(self):
        self.worker.begin_round()
        with self.database.write() as connection:
            self.worker.fence(connection, ChangeSet())
            self.worker.hold()
            self.worker.lose_others(connection)
        self.worker.end_round()

    def join(self):
        return committed(worker_rows.join, self.database, self.row.id, "a", 7, "1.0", self.now)

    def states(self):
        return dict(self.database.rows(select(worker.c.id, worker.c.state)))


@pytest.fixture
def one(database, monkeypatch):
    made = OneWorker(database, monkeypatch)
    yield made
    made.lock.release()


def test_worker_is_sure_of_its_sites_for_half_of_the_deadline(one):
    one.round()
    one.now += 15.0
    assert one.now <= one.worker.sure_until
    one.now += 0.01
    assert one.now > one.worker.sure_until
    one.worker.begin_round()
    one.now += 14.0
    one.worker.end_round()
    assert one.now <= one.worker.sure_until
    one.now += 2.0
    assert one.now > one.worker.sure_until, "the beat is as old as the beginning of the round"


@pytest.mark.both_stores
def test_worker_is_lost_when_its_lock_is_free(one):
    dead, alive = one.join(), one.join()
    lock = WorkerLock(one.database, alive)
    one.now = 1000.0
    one.round()
    assert one.states() == {one.worker.id: "active", dead: "lost", alive: "active"}
    lock.release()
    one.round()
    assert one.states()[alive] == "lost"


@pytest.mark.parametrize("ends", [True, False])
def test_server_waits_for_the_worker_that_ends_the_crawl_or_is_alone(postgresql, monkeypatch, ends):
    one = OneWorker(postgresql, monkeypatch, deadline_s=1.0)
    one.round()
    with postgresql.write() as connection:
        if ends:
            assert one.worker.leave(connection)
        else:
            one.worker.hold(is_alone=True)
        connection.execute(text("SELECT pg_sleep(1.2)"))
    assert not free_locks(postgresql, [one.worker.id])
    one.lock.release()


def test_server_ends_a_transaction_of_a_process_that_is_stopped_in_it(postgresql_url, monkeypatch):
    database = Database(postgresql_url)
    one = OneWorker(database, monkeypatch, deadline_s=45.0)
    with database.write() as connection:
        one.worker.fence(connection, ChangeSet())
        assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "45s"
    one.lock.release()
    database.close()


def test_memory_is_bounded_by_the_window():
    rate = RecentRate(10.0)
    for second in range(1000):
        rate.at(float(second), second)
    assert len(rate._readings) <= 12
