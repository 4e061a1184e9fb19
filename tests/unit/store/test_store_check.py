"""A store that is lost while its connections are open is noticed, and one that is used as usual is not."""

import shutil

import pytest
from sqlalchemy import event, text

from crawlers.errors import StoreError
from crawlers.store.database import Database
from crawlers.store.store_check import StoreCheck
from tests.support.stored_rows import execute

pytestmark = pytest.mark.both_stores

FILL = "INSERT INTO seed (site, start_url, enabled) VALUES (:site, :start_url, true)"


def beside(database, suffix):
    return database.with_name(f"{database.name}{suffix}")


def cut(database, share):
    with database.open("r+b") as file:
        file.truncate(int(database.stat().st_size * share))


def replace(database):
    shutil.copy(database, beside(database, "-copy"))
    beside(database, "-copy").replace(database)


LOSSES = {
    "removed": (lambda path: path.unlink(), r"crawl\.sqlite was removed"),
    "moved": (lambda path: path.rename(beside(path, "-moved")), r"crawl\.sqlite was removed"),
    "replaced": (replace, r"crawl\.sqlite was replaced by another file"),
    "empty": (lambda path: cut(path, 0.0), r"is damaged: .*crawl\.sqlite was cut from [\d,]+ to 0 bytes"),
    "half": (lambda path: cut(path, 0.5), r"is damaged: .*crawl\.sqlite was cut from"),
    "no WAL": (lambda path: beside(path, "-wal").unlink(), r"crawl\.sqlite-wal was removed"),
    "no index": (lambda path: beside(path, "-shm").unlink(), r"crawl\.sqlite-shm was removed"),
    "no folder": (lambda path: path.parent.rename(beside(path.parent, "-moved")), r"crawl\.sqlite was removed"),
}


@pytest.fixture
def check(database):
    execute(database, text(FILL), {"site": "a", "start_url": "a" * 10_000})
    return StoreCheck(database)


def fill(database, size):
    execute(database, text(FILL), {"site": str(size), "start_url": "x" * size})


def test_store_that_is_written_by_this_and_other_processes_is_not_lost(database, check):
    other = Database(str(database.url.render_as_string(hide_password=False)))
    for size in (10, 100_000):
        fill(database, size)
        check()
        fill(other, size + 1)
        check()
    other.close()  # the last connection of a process
    check()


def test_vacuum_of_another_process_is_no_loss(sqlite):
    check = StoreCheck(sqlite)
    fill(sqlite, 100_000)
    with sqlite.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    check()
    before = sqlite.path.stat().st_size
    execute(sqlite, text("DELETE FROM seed"))
    raw = sqlite.engine.raw_connection()
    raw.execute("VACUUM")
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    assert sqlite.path.stat().st_size < before
    check()


@pytest.mark.parametrize("loss", LOSSES)
def test_lost_file_is_noticed(tmp_path, empty_store, request, loss):
    folder = tmp_path / "folder"
    folder.mkdir()
    database = Database(f"sqlite:///{shutil.copy(empty_store, folder / 'crawl.sqlite')}")
    request.addfinalizer(database.close)
    check = StoreCheck(database)
    check()
    lose, sentence = LOSSES[loss]
    assert database.path is not None
    lose(database.path)
    with pytest.raises(StoreError, match=f"{sentence}.*run the same command again"):
        check()


def test_lost_table_is_noticed(database, check):
    execute(database, text("DROP TABLE page"))
    with pytest.raises(StoreError, match="has no table page any more"):
        check()


def test_file_that_can_be_read_only_says_so(sqlite):
    event.listen(sqlite.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA query_only=1"))
    sentence = "committed data is safe: make the file and its folder writable"
    with pytest.raises(StoreError, match=sentence), sqlite.write() as connection:
        connection.execute(text("DELETE FROM seed"))
