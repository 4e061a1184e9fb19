"""A worker holds its lock as long as its process lives; the lock of a killed process is free."""

import os
import signal
import subprocess
import sys

import pytest
from sqlalchemy import text

from crawlers.errors import StoreError
from crawlers.store.worker_rows import WorkerLock, free_locks
from tests.support.services import OTHERS_END
from tests.support.stored_rows import execute

pytestmark = pytest.mark.both_stores

HOLD = """
import sys
from crawlers.store.database import Database
from crawlers.store.worker_rows import WorkerLock
lock = WorkerLock(Database(sys.argv[1], create=False), 1)
print("held", flush=True)
for line in sys.stdin:
    lock.hold(float(line))
    print("held", flush=True)
"""


@pytest.fixture
def holder(database, database_url):
    """Another process that holds the lock of worker 1."""
    command = [sys.executable, "-c", HOLD, database_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def wait_for_server(database):
    """Return when the server has noticed that the holder has died."""
    if not database.is_sqlite:
        with database.read() as connection:
            connection.execute(text("SET LOCAL statement_timeout = '30s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(1668440439, 1)"))


def test_lock_of_another_process_is_held_until_that_is_killed(database, holder):
    for _ in range(2):
        assert not free_locks(database, [1])
        with pytest.raises(StoreError, match=r"another process holds the lock of worker 1"):
            WorkerLock(database, 1)
    holder.kill()
    holder.wait()
    wait_for_server(database)
    assert free_locks(database, [1])
    WorkerLock(database, 1).release()


def hold(holder, limit_s):
    holder.stdin.write(f"{limit_s}\n")
    holder.stdin.flush()
    return holder.stdout.readline() == "held\n"


def test_server_releases_the_lock_of_a_process_that_is_stopped_and_a_file_stays_locked(database, holder):
    assert hold(holder, 0.2)
    holder.send_signal(signal.SIGSTOP)
    os.waitpid(holder.pid, os.WUNTRACED)
    wait_for_server(database)
    assert bool(free_locks(database, [1])) != database.is_sqlite
    holder.send_signal(signal.SIGCONT)
    assert hold(holder, 0.2) == database.is_sqlite, "one whose lock was released notices it"


def test_worker_notices_that_others_no_longer_see_its_lock(database):
    lock = WorkerLock(database, 1)
    lock.hold(60.0)
    if database.is_sqlite:
        database.path.with_name("crawl.sqlite.worker1.lock").unlink()
    else:
        execute(database, text(OTHERS_END))
    with (
        pytest.raises(StoreError, match=r"worker1\.lock was removed|failed: .*check that the server runs"),
        database.store_errors(),
    ):
        lock.hold(60.0)
    lock.release()


def test_file_of_a_killed_worker_is_removed_when_its_lock_is_looked_up(sqlite, tmp_path):
    left_over = tmp_path / "crawl.sqlite.worker1.lock"
    left_over.touch()
    assert free_locks(sqlite, [1])
    assert not left_over.exists()


def test_lock_on_a_removed_file_does_not_count(sqlite, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    first = WorkerLock(sqlite, 1)
    flock = fcntl.flock

    def release_in_between(file, flags):
        monkeypatch.undo()
        first.release()
        flock(file, flags)

    monkeypatch.setattr(fcntl, "flock", release_in_between)
    second = WorkerLock(sqlite, 1)
    assert not free_locks(sqlite, [1])
    second.release()


def test_lock_that_was_removed_with_its_store_is_left_to_the_check_of_the_store(sqlite):
    lock = WorkerLock(sqlite, 1)
    for path in sqlite.path.parent.glob("crawl.sqlite*"):
        path.unlink()
    lock.hold(1.0)
    sqlite.path.touch()
    with pytest.raises(StoreError, match=r"worker1\.lock was removed"):
        lock.hold(1.0)
    lock.release()
