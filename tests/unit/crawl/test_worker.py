"""A worker is alive as long as it holds its lock, and knows when others may take it for lost.

The rate of the last minute.
"""

import pytest
from sqlalchemy import select, text

from crawlers.crawl.worker import RecentRate, Worker
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.locks import WorkerLock, free_locks
from crawlers.store.schema.tables import worker
from crawlers.store.writing.change_set import ChangeSet
from tests.support.stored_rows import begin, committed


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
    assert one.worker.is_sure
    one.now += 0.01
    assert not one.worker.is_sure
    one.worker.begin_round()
    one.now += 14.0
    one.worker.end_round()
    assert one.worker.is_sure
    one.now += 2.0
    assert not one.worker.is_sure, "the beat is as old as the beginning of the round"


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
