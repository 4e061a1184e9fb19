"""One process at a time runs a crawl; the lock of a killed process is released."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from crawlers.errors import ConfigError
from crawlers.storage.database import Database
from crawlers.storage.locks import CrawlLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys
from crawlers.storage.database import Database
from crawlers.storage.locks import CrawlLock
lock = CrawlLock(Database(sys.argv[1], create=False), 1, "daily")
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder(database: Database, database_url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of crawl 1."""
    command = [sys.executable, "-c", HOLD, database_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def wait_for_server(database: Database) -> None:
    """Return when the server has noticed that the holder has died."""
    if not database.is_sqlite:
        with database.read() as connection:
            connection.execute(text("SET LOCAL statement_timeout = '30s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(1668440439, 1)"))


def test_crawl_of_another_process_is_refused_until_that_is_killed(
    database: Database, holder: subprocess.Popen[str]
) -> None:
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"CRAWL=daily in .* is being run by another process"):
            CrawlLock(database, 1, "daily")
    holder.kill()
    holder.wait()
    wait_for_server(database)
    CrawlLock(database, 1, "daily").release()


def test_other_crawls_of_the_database_are_not_locked(database: Database, holder: subprocess.Popen[str]) -> None:
    CrawlLock(database, 2, "weekly").release()


def test_lock_is_free_after_its_release_and_leaves_no_file(database: Database, tmp_path: Path) -> None:
    for _ in range(3):
        lock = CrawlLock(database, 1, "daily")
        lock.release()
        lock.release()
    assert list(tmp_path.glob("*.lock")) == []


def test_lock_also_excludes_the_same_process(database: Database) -> None:
    lock = CrawlLock(database, 1, "daily")
    with pytest.raises(ConfigError):
        CrawlLock(database, 1, "daily")
    lock.release()


def test_lock_on_a_removed_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    first = CrawlLock(database, 1, "daily")
    flock = fcntl.flock

    def release_in_between(file: object, flags: int) -> None:
        monkeypatch.undo()
        first.release()
        flock(file, flags)

    monkeypatch.setattr(fcntl, "flock", release_in_between)
    second = CrawlLock(database, 1, "daily")
    with pytest.raises(ConfigError):
        CrawlLock(database, 1, "daily")
    second.release()
    database.close()
