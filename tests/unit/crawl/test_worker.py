"""A worker is heard by its transactions, and knows for how long others may take it for lost."""

import pytest
from sqlalchemy import select, text, update

from crawlers.crawl import worker as worker_module
from crawlers.crawl.worker import ROUND_S, Worker
from crawlers.store import worker_rows
from crawlers.store.database import Database
from crawlers.store.schema.tables import worker
from crawlers.store.writing.change_set import ChangeSet
from tests.support.stored_rows import begin, committed, execute


class OneWorker:
    """A worker of a crawl, and further ones that the test moves; `now` is the time of the server, and its own."""

    def __init__(self, database, monkeypatch, deadline_s=30.0):
        self.database = database
        self.now = 0.0
        self.locks = []  # the workers whose locks were looked up
        monkeypatch.setattr(worker_rows, "server_time", lambda connection: self.now)
        monkeypatch.setattr(worker_module, "is_free", lambda database, number: bool(self.locks.append(number)))
        self.row = begin(database, "http://a.test")
        self.worker = Worker(database, self.row, deadline_s, lambda: self.now)

    def round(self):
        self.worker.begin_round()
        with self.database.write() as connection:
            self.worker.fence(connection, ChangeSet())
            self.worker.lose_others(connection, self.now, silent_s=2 * ROUND_S)
        self.worker.end_round()

    def join(self):
        return committed(worker_rows.join, self.database, self.row.id, "a", 7, "1.0", self.now)

    def states(self):
        return dict(self.database.rows(select(worker.c.id, worker.c.state)))


@pytest.fixture
def one(database, monkeypatch):
    return OneWorker(database, monkeypatch)


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


def test_only_silent_workers_are_suspected(one):
    one.join()
    one.now = 2 * ROUND_S - 0.1
    one.round()
    assert one.locks == []
    one.now = 2 * ROUND_S
    other = one.join()
    one.round()
    assert len(one.locks) == 1
    assert other not in one.locks


@pytest.mark.parametrize(("silent_s", "is_lost"), [(29.9, True), (30.0, False)])
def test_worker_that_was_frozen_itself_declares_nobody_lost(one, silent_s, is_lost):
    other = one.join()
    execute(one.database, update(worker).where(worker.c.id == other).values(beat_at=-100.0))
    one.now += silent_s
    one.round()
    assert (one.states()[other] == "lost") == is_lost


def test_server_ends_a_transaction_of_a_process_that_is_stopped_in_it(postgresql_url, monkeypatch):
    database = Database(postgresql_url)
    one = OneWorker(database, monkeypatch, deadline_s=45.0)
    with database.write() as connection:
        one.worker.fence(connection, ChangeSet())
        assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "45s"
    database.close()
