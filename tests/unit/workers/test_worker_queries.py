"""What people and supervisors read about workers, on both databases."""

import time

import pytest
from sqlalchemy import text, update

from crawlers.errors import StoreError
from crawlers.items import REVISIT, State
from crawlers.store import worker_rows
from crawlers.store.schema.message_rows import Message
from crawlers.store.schema.tables import ImportanceRow, crawl, message, page, site, worker
from crawlers.store.worker_rows import ACTIVE, PAUSE, STOP, Wait, WorkerStatus
from crawlers.workers.worker_table import (
    process_row,
    set_control,
    sites_with_workers,
    time_of_server,
    workers_of,
)
from tests.support.executed_statements import statements
from tests.support.stored_rows import begin, committed, execute, new_page, write_rows

MACHINE = "alpha"


class Shared:
    """A crawl of three sites with two workers; the last site belongs to nobody."""

    def __init__(self, database, budget=0):
        self.database = database
        begun = begin(database, *(f"http://s{number}.test" for number in range(3)), PAGE_BUDGET=budget)
        self.id, self.first = begun.id, begun.worker_id
        self.second = self.join(4711)
        self.sites = [row.id for row in begun.sites]
        write_rows(database, *(new_page(10 * number + n, number) for number in self.sites for n in range(number)))
        self.set(site, self.sites[1], worker_id=self.second)
        self.set(site, self.sites[2], worker_id=None)

    def join(self, process, machine=MACHINE):
        return committed(worker_rows.join, self.database, self.id, machine, process, "1.0", 5.0)

    def set(self, table, number, **values):
        execute(self.database, update(table).where(table.c.id == number).values(**values))


@pytest.fixture
def shared(database):
    return Shared(database)


@pytest.mark.both_stores
def test_workers_are_read_with_their_sites_and_status(shared):
    status = WorkerStatus(2.5, {Wait.DELAY: 1})
    stored = WorkerStatus(2.5, {Wait.DELAY: 1, Wait.READY: 0}).to_json()
    shared.set(worker, shared.second, pages=40, leases=3, beat_at=9.0, status=stored)
    found = workers_of(shared.database, shared.id)
    first, second = found.workers
    assert (first.number, first.state, first.sites, first.status) == (shared.first, ACTIVE, 1, WorkerStatus())
    assert second == (shared.second, MACHINE, 4711, ACTIVE, 5.0, 9.0, None, 0, 0, 40, 3, 1, status)
    assert (found.control, found.free_sites, found.budget, found.used) == (None, 1, 0, 0)
    assert found.now > 1_700_000_000


@pytest.mark.both_stores
def test_server_waits_longer_for_a_worker_alone_and_for_ever_for_one_that_writes_the_outputs(shared):
    def limit_s():
        return workers_of(shared.database, shared.id, 3.0).deadline_s

    assert limit_s() == (None if shared.database.is_sqlite else 3.0)
    assert not committed(worker_rows.leave, shared.database, shared.second, 9.0)
    assert limit_s() == (None if shared.database.is_sqlite else 60.0)
    assert committed(worker_rows.leave, shared.database, shared.first, 9.0)
    assert limit_s() is None


@pytest.mark.both_stores
def test_free_sites_are_those_on_which_a_worker_would_have_something_to_do(shared):
    free = shared.sites[2]
    shared.set(site, shared.sites[1], worker_id=None)
    execute(shared.database, page.delete().where(page.c.site_id == shared.sites[1]))
    execute(shared.database, update(page).where(page.c.site_id == free).values(state=int(State.DONE)))
    assert workers_of(shared.database, shared.id).free_sites == 1, "a new site has a start URL"
    sent = Message(shared.id, "http://s2.test", 1, None, 7, "http://s2.test/7", 1, 0, 1, 0.0, 0.0, 0.0, None)
    write_rows(shared.database, sent)
    assert workers_of(shared.database, shared.id).free_sites == 2, "a message waits to be taken up"
    execute(shared.database, message.delete())
    write_rows(shared.database, ImportanceRow(10 * free, free, REVISIT, 0.0, 0.0, 0.0, 0.0, 0))
    assert workers_of(shared.database, shared.id).free_sites == 2, "a page is fetched again"


def test_budget_is_that_of_the_crawl(database):
    shared = Shared(database, budget=500)
    assert workers_of(database, shared.id).budget == 500
    for pulls, is_used in ((499, False), (500, True)):
        shared.set(crawl, shared.id, earlier_pulls=pulls)
        assert {one.is_budget_used for one in sites_with_workers(database, shared.id)[1]} == {is_used}


@pytest.mark.both_stores
def test_sites_are_read_with_what_they_wait_for(shared):
    number = shared.sites[1]
    shared.set(site, number, rest_until=77.0, robots_status=404)
    shared.set(site, shared.sites[0], robots_status=0, robots_text="timeout")
    execute(shared.database, update(page).where(page.c.site_id == number).values(retry_at=88.0))
    _, (first, second, third) = sites_with_workers(shared.database, shared.id)
    assert [row.waiting for row in (first, second, third)] == shared.sites
    assert second == ("http://s1.test", shared.second, True, number, number, 88.0, 77.0, True, False)
    assert (first.worker, third.worker, first.has_robots, third.has_robots) == (shared.first, None, False, False)


def test_control_is_set_and_read(shared):
    database = shared.database
    assert workers_of(database, shared.id).control is None
    for control in (PAUSE, None, STOP):
        assert set_control(database, shared.id, control)
        assert workers_of(database, shared.id).control == control


def test_crawl_that_is_stopping_or_has_ended_is_not_asked(shared):
    set_control(shared.database, shared.id, STOP)
    assert not set_control(shared.database, shared.id, None)
    assert workers_of(shared.database, shared.id).control == STOP
    shared.set(crawl, shared.id, control=None, state="finished")
    assert not set_control(shared.database, shared.id, PAUSE)


@pytest.mark.both_stores
def test_process_is_one_of_the_machine_that_joined_lately(shared):
    database, now = shared.database, time.time()
    once, again, other = shared.join(4712), shared.join(4712), shared.join(4712, "beta")
    for number, pages, joined_at in ((once, 7, now - 60), (again, 2, now - 30), (other, 100, now)):
        shared.set(worker, number, pages=pages, joined_at=joined_at)
    assert process_row(database, MACHINE, 4712, 3600.0) == (again, shared.id, 9, True, True)
    assert process_row(database, MACHINE, 4712, 45.0).pages == 2
    assert process_row(database, MACHINE, 4712, 15.0) is None
    assert process_row(database, MACHINE, 4713, 3600.0) is None
    set_control(database, shared.id, STOP)
    assert process_row(database, MACHINE, 4712, 3600.0)[-2:] == (True, False)
    shared.set(crawl, shared.id, state="interrupted")
    assert process_row(database, MACHINE, 4712, 3600.0)[-2:] == (False, False)


@pytest.mark.both_stores
def test_time_is_that_of_the_server(database):
    before = time.time()
    assert before - 1 < time_of_server(database) < time.time() + 1


def test_lost_store_is_an_error_of_the_store(sqlite):
    execute(sqlite, text("DROP TABLE worker"))
    with pytest.raises(StoreError):
        process_row(sqlite, MACHINE, 1, 0.0)


def test_waiting_and_resting_pages_are_counted_along_indexes(sqlite):
    shared = Shared(sqlite)
    with statements(sqlite) as executed:
        sites_with_workers(sqlite, shared.id)
    values = (1,) * executed[-1].count("?")
    with sqlite.read() as connection:
        plan = [line[3] for line in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {executed[-1]}", values)]
    assert "SEARCH page USING COVERING INDEX page_of_site (site_id=? AND state=?)" in plan
    assert any(line.startswith("SCAN page USING INDEX page_retry") for line in plan)
