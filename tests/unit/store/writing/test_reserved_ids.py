"""Numbers are given out once, by any number of processes, and without waiting for the database."""

import subprocess
import sys
import threading

import pytest
from sqlalchemy import event

from crawlers.store.schema.tables import page
from crawlers.store.writing.reserved_ids import ReservedIds
from crawlers.store.writing.writer import Writer

RESERVE = """
import sys
from crawlers.store.database import Database
from tests.support.stored_rows import page_ids
database = Database(sys.argv[1], create=False)
sys.stdin.readline()
for _ in range(20):
    block = page_ids(database, 7)
    print(block.start, block.stop)
database.close()
"""


@pytest.fixture
def writer(database):
    writer = Writer(database)
    yield writer
    writer.close()


@pytest.mark.both_stores
def test_processes_that_reserve_at_once_get_different_numbers(database, database_url):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", RESERVE, database_url], **pipes) for _ in range(2)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    lines = [line for process in processes for line in process.communicate(timeout=60)[0].splitlines()]
    assert [process.returncode for process in processes] == [0, 0]
    numbers = [number for line in lines for number in range(*map(int, line.split()))]
    assert sorted(numbers) == list(range(1, 2 * 20 * 7 + 1))


def test_next_block_is_reserved_before_the_current_one_ends_by_the_writer(database, writer):
    threads = []
    event.listen(database.engine, "begin", lambda _: threads.append(threading.current_thread().name))
    ids = ReservedIds(writer, page, 10)
    ids.reserve(10)
    ids.reserve(10)
    numbers = [ids.next_id() for _ in range(4)]
    assert len(threads) == 1
    numbers.append(ids.next_id())
    pending = ids.reserve(10)
    assert pending is not None
    pending.result(30)
    assert len(threads) == 2, "half of the block is used"
    numbers += [ids.next_id() for _ in range(15)]
    assert numbers == list(range(1, 21))
    assert set(threads) == {"store-writer"}


def test_many_numbers_are_ready_before_they_are_taken(database, writer):
    ids = ReservedIds(writer, page, 10)
    assert ids.next_id() == 1
    assert ids.reserve(9) is None
    if (pending := ids.reserve(25)) is not None:
        pending.result(30)
    assert ids.reserve(25) is None, "there is nothing to wait for"
    assert [ids.next_id() for _ in range(30)] == list(range(2, 32))
