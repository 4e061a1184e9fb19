"""A worker beats, has rounds in time, and knows what they said of the others."""

from concurrent.futures import Future

import pytest
from sqlalchemy import select, text, update

from crawlers.crawl.spec import CrawlSpec
from crawlers.reasons import Reason
from crawlers.store.database import Database
from crawlers.store.schema.tables import PullRow, site, worker
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.pulls import Pull
from crawlers.workers import membership, workers
from crawlers.workers.membership import ROUND_S, SOON_S, Membership
from crawlers.workers.new_sites import SiteLimit
from tests.support.stored_rows import begin, committed, execute, write_rows

AHEAD_S = 100.0  # of the clock of the worker to that of the server


class Worker:
    """A worker of a crawl of two sites, and further ones that the test moves; `now` is the time of the server."""

    def __init__(self, database, monkeypatch, page_budget=0, deadline_s=30.0):
        self.database = database
        self.now = 0.0
        self.locks = []  # the workers whose locks were looked up
        self.jobs = 0  # of the writer
        monkeypatch.setattr(workers, "server_time", lambda connection: self.now)
        monkeypatch.setattr(membership, "is_free", lambda database, number: bool(self.locks.append(number)))
        begun = begin(database, "http://a.test", "http://b.test", mission="extlinks")
        self.slowness_s = 0.0  # of the database in a transaction
        self.id, self.crawl_id, self.sites = begun.worker_id, begun.id, [row.id for row in begun.sites]
        spec, limit = CrawlSpec("extlinks", page_budget=page_budget), SiteLimit(begun.id, 9)
        clock = lambda: self.now + AHEAD_S  # noqa: E731
        self.membership = Membership(database, begun, spec, None, limit, deadline_s, clock)

    def run(self, job):
        """Run a job as the writer does."""
        self.jobs += 1
        done = Future()
        with self.database.write() as connection:
            self.membership.fence(connection, ChangeSet())
            self.now += self.slowness_s
            done.set_result(job(connection))
        return done

    def round(self, took_s=0.0, *, lacks_pulls=False, **report):
        said = self.membership.report._replace(**report)
        found = self.membership.submit(self, said, lacks_pulls=lacks_pulls).result()
        self.now += took_s
        self.membership.record_round(found.round, found.took_s)
        return found

    def join(self):
        return committed(workers.join, self.database, self.crawl_id, "a", 7, "1.0", self.now)

    def ask(self, control, reason=None):
        committed(workers.ask, self.database, self.crawl_id, control, reason)

    def states(self):
        return dict(self.database.rows(select(worker.c.id, worker.c.state)))


@pytest.fixture
def made(database, monkeypatch):
    return lambda **options: Worker(database, monkeypatch, **options)


# Times ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "others", "best_index", "took_s", "pause_s"),
    [
        ({}, 0, 1.0, 0.0, ROUND_S),  # or five times in a deadline
        ({"deadline_s": 5.0}, 0, 1.0, 0.0, 1.0),
        ({"page_budget": 10}, 0, 1.0, 0.0, ROUND_S),
        ({"page_budget": 10}, 1, 1.0, 0.0, 2 / 12),  # of all workers together, 12 a second
        ({"page_budget": 10}, 2, 1.0, 0.0, 3 / 12),
        ({"page_budget": 10}, 1, 1.0, 0.003, 0.3),  # a hundredth of the time at most
        ({"page_budget": 10}, 1, 1.0, 0.5, ROUND_S),
        ({"page_budget": 10}, 1, None, 0.0, ROUND_S),  # without an index
        ({"page_budget": 10}, 1, 0.0, 0.0, ROUND_S),
    ],
)
def test_rounds_are_due_every_second_and_quickly_if_sites_of_a_budget_are_compared(
    made, options, others, best_index, took_s, pause_s
):
    one = made(**options)
    for _ in range(others):
        one.join()
    found = one.round(best_index=best_index)
    one.membership.record_round(found.round, took_s)
    started = one.now
    while not one.membership.is_round_due(lacks_pulls=False):
        one.now += 0.001
    assert one.now - started == pytest.approx(pause_s, abs=0.002)


def test_worker_that_lacks_pulls_asks_soon_and_at_least_as_often_as_others(made):
    one = made()
    one.round()
    one.now += SOON_S + 0.01
    assert one.membership.is_round_due(lacks_pulls=True)
    assert not one.membership.is_round_due(lacks_pulls=False)
    hasty = made(deadline_s=0.25)
    hasty.round()
    hasty.now += 0.06
    assert hasty.membership.is_round_due(lacks_pulls=True)


def test_worker_asks_less_often_after_each_round_that_grants_nothing(made):
    one = made(page_budget=10)
    granted = one.round()
    pauses = []
    for _ in range(6):
        one.membership.submit(one, one.membership.report, lacks_pulls=True)
        one.membership.record_round(granted.round, 0.0)
        pauses.append(round(next_s(one), 2))
    assert pauses == [0.2, 0.4, 0.8, 1.0, 1.0, 1.0]
    one.membership.submit(one, one.membership.report, lacks_pulls=True)
    one.membership.record_round(granted.round._replace(granted=granted.round.granted + 1), 0.0)
    assert next_s(one) == pytest.approx(SOON_S), "it was granted something"
    one.membership.record_round(granted.round._replace(granted=1), 0.0)
    assert next_s(one) > SOON_S
    one.round()
    assert next_s(one) == pytest.approx(SOON_S), "it had enough in the meantime"


def next_s(one):
    """Return the seconds until a round is due if pulls are lacking."""
    return one.membership._soon_s


def test_worker_beats_when_its_last_transaction_is_as_old_as_a_round(made):
    one = made()
    for seconds, jobs in ((0.0, 0), (0.9, 0), (0.2, 1), (0.9, 1), (0.2, 2)):
        one.now += seconds
        one.membership.send_heartbeat(one)
        assert one.jobs == jobs


def test_worker_requests_nothing_when_its_last_beat_is_older_than_half_of_the_deadline(made):
    one = made()
    one.round()
    one.now += 15.0
    assert one.membership.may_lease
    one.now += 0.01
    assert not one.membership.may_lease
    one.round(took_s=14.0)
    assert one.membership.may_lease
    one.now += 2.0
    assert not one.membership.may_lease, "the beat is as old as the beginning of the round"


def test_only_silent_workers_are_suspected(made):
    one = made()
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
def test_worker_that_was_frozen_itself_declares_nobody_lost(made, silent_s, is_lost):
    one = made()
    other = one.join()
    execute(one.database, update(worker).where(worker.c.id == other).values(beat_at=-100.0))
    one.now += silent_s
    one.round()
    assert (one.states()[other] == "lost") == is_lost


# Transactions ---------------------------------------------------------------------------------------


def test_server_ends_a_transaction_of_a_process_that_is_stopped_in_it(postgresql_url, monkeypatch):
    database = Database(postgresql_url)
    one = Worker(database, monkeypatch, deadline_s=45.0)
    with database.write() as connection:
        one.membership.fence(connection, ChangeSet())
        assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "45s"
    database.close()


# What rounds say ------------------------------------------------------------------------------------


def test_crawl_stays_divided_when_the_others_have_left(made):
    one = made()
    one.round()
    assert not one.membership.is_divided
    other = one.join()
    one.round()
    committed(workers.leave, one.database, other, one.now)
    one.round()
    assert (one.membership.last.others, one.membership.is_divided) == (0, True)


@pytest.mark.both_stores
def test_claimed_sites_were_asked_by_the_clock_of_the_worker(made):
    one = made()
    one.join()
    execute(one.database, update(site).values(worker_id=None, asked_at=7.0))
    found = one.round(wanted_sites=9)
    assert found.ahead_s == AHEAD_S
    assert [(row.id, row.asked_at) for row in found.claimed] == [(number, 107.0) for number in one.sites]


@pytest.mark.both_stores
def test_pulls_of_others_are_read_once_if_they_are_wanted(made):
    one = made()
    other = one.join()
    write_rows(one.database, PullRow(one.sites[0], 1, 5.0, 1.0, other))
    assert one.round().round.pulls == []
    one.membership.after_pulls = {}
    assert one.round().round.pulls == [Pull(one.sites[0], 5.0)]
    assert one.round().round.pulls == []


def test_workers_are_asked_to_pause_and_to_stop(made):
    one = made()
    one.round()
    assert one.membership.may_lease
    one.ask(workers.PAUSE)
    one.round()
    assert (one.membership.may_lease, one.membership.stop_reason) == (False, None)
    one.ask(workers.STOP)
    one.round()
    assert (one.membership.may_lease, one.membership.stop_reason) == (True, Reason.SHUTDOWN)
    one.run(lambda connection: one.membership.ask_to_stop("timeout", connection))
    one.round()
    assert one.membership.stop_reason == "timeout"
