"""The cash that all workers have in common is distributed once in a while, by one of them."""

import pytest
from sqlalchemy import event

from crawlers.store import worker_rows
from crawlers.store.reading.importance import parts_of
from crawlers.store.schema.tables import OrderTotalsRow
from crawlers.workers.exchange import hand_out
from tests.support.stored_rows import begin, committed, write_rows

EVERY_S = 2.0


class Parts:
    """Workers of a crawl, whose shares are what the test says."""

    def __init__(self, database):
        self.database = database
        begun = begin(database, name="one", mission="broad")
        self.crawl_id, self.first = begun.id, begun.worker_id
        self.shares = {}
        self.asked = []

    def join(self):
        return committed(worker_rows.join, self.database, self.crawl_id, "a", 1, "1.0", 0.0)

    def leave(self, worker_id):
        committed(worker_rows.leave, self.database, worker_id, 1.0)

    def store(self, worker_id):
        write_rows(self.database, OrderTotalsRow(self.crawl_id, worker_id, f"[1.5, {worker_id}]", "[0.5]"))

    def distribute(self, parts):
        self.asked.append(parts)
        return self.shares

    def hand_out(self, now):
        """Return what each worker was given, also earlier."""
        with self.database.write() as connection:
            parts = hand_out(connection, self.crawl_id, now, EVERY_S, self.distribute)
            assert parts == parts_of(connection, self.crawl_id)
        return {number: stored.part.given for number, stored in parts.items()}


@pytest.fixture
def shared(database):
    return Parts(database)


def test_nothing_is_distributed_before_each_active_worker_has_stored_its_part(shared):
    second = shared.join()
    shared.shares = {shared.first: 0.25}
    shared.store(shared.first)
    assert shared.hand_out(0.0) == {shared.first: 0.0}
    assert shared.asked == []
    shared.leave(second)
    assert shared.hand_out(0.0) == {shared.first: 0.25}


def test_one_worker_distributes_at_a_time_and_not_too_often(shared):
    shared.store(shared.first)
    turns = [(10.0, 0.1, 0.1), (11.9, 0.2, 0.1), (12.0, 0.3, 0.3), (13.9, 0.4, 0.3)]
    for now, share, expected in (*turns, (1.0, 0.5, 0.5)):  # at last, the clock is set back
        shared.shares = {shared.first: share}
        assert shared.hand_out(now) == {shared.first: expected}
    assert len(shared.asked) == 3


def test_nothing_to_distribute_changes_nothing(shared):
    shared.store(shared.first)
    shared.shares = {shared.first: 0.1}
    shared.hand_out(0.0)
    shared.shares = {}
    assert shared.hand_out(5.0) == {shared.first: 0.1}
    shared.shares = {shared.first: 0.2}
    assert shared.hand_out(6.0) == {shared.first: 0.2}, "the time of the last distribution is that of a real one"


def test_worker_that_waited_for_another_to_distribute_does_not_distribute_again(postgresql):
    shared = Parts(postgresql)
    shared.store(shared.first)
    shared.shares = {shared.first: 0.1}
    with postgresql.write() as late:

        @event.listens_for(late, "before_cursor_execute")
        def distribute_first(connection, cursor, statement, *_):
            if "FOR UPDATE" in statement:
                assert shared.hand_out(10.0) == {shared.first: 0.1}

        parts = hand_out(late, shared.crawl_id, 10.5, EVERY_S, lambda _: pytest.fail("it was distributed just now"))
    assert parts[shared.first].part.given == 0.1
