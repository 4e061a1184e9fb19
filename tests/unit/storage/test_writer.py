"""The writer commits complete change sets in order, and reports failures of the database."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, text

from crawlers.errors import ClaimsLost, StoreError
from crawlers.storage import writer as writer_module
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.schema.tables import NewPage, PageLinks
from crawlers.storage.writer import Writer
from tests.support.processes import until
from tests.support.stored_rows import new_page

if TYPE_CHECKING:
    from collections.abc import Callable


LONG_S = 3600.0
PATIENCE_S = 30.0  # a test that waits longer fails


def changes(number, size=1):
    """Return a page and its link: rows of two tables, so that a partly written change set is detected."""
    return ChangeSet(new_page(number, 1, url="http://a.test/" + "x" * size), PageLinks(number, {number: 1}))


def submit_for_ever(writer, size=1):
    for number in range(1, 100_000):
        writer.submit(changes(number, size))


def keep_others_out(connection):
    """Lock out other writers until the end of the transaction, as SQLite does anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE page"))


def stored(database):
    with database.read() as connection:
        pages = [row[0] for row in connection.execute(text("SELECT id FROM page ORDER BY id"))]
        links = [row[0] for row in connection.execute(text("SELECT source_id FROM link ORDER BY source_id"))]
    assert pages == links, "a change set was divided"
    return pages


def spoil(database):
    with database.write() as connection:
        connection.execute(text("DROP TABLE link"))


@pytest.fixture
def make(database):
    """Return writers for the test's database, which are closed at the end."""
    writers = []

    def make(**batches):
        writers.append(Writer(database, **batches))  # type: ignore[arg-type]
        return writers[-1]

    yield make
    for writer in writers:
        try:
            writer.close()
        except StoreError:
            continue


@pytest.mark.both_stores
def test_flush_writes_early_only_what_was_submitted_before(database, make):
    writer = make(batch_size=3, batch_s=LONG_S)
    with database.write() as connection:
        keep_others_out(connection)
        writer.submit(changes(1))
        flushing = threading.Thread(target=writer.flush)
        flushing.start()
        with writer._changed:
            assert writer._changed.wait_for(lambda: not writer._queue, PATIENCE_S)
        writer.submit(changes(2))
    flushing.join(PATIENCE_S)
    writer._thread.join(0.1)  # time for a premature commit
    for number in (3, 4):
        writer.submit(changes(number))
    until(lambda: writer.commits.number == 2, "the commit of a full batch")
    writer.flush()
    assert writer.commits.number == 2
    assert stored(database) == [1, 2, 3, 4]


@pytest.mark.both_stores
def test_submit_waits_when_the_database_is_slower_than_the_crawl(database, make):
    writer = make(batch_size=2, batch_s=0.01)
    submitted = []

    def submit_all():
        for number in range(1, 41):
            writer.submit(changes(number))
            submitted.append(number)

    thread = threading.Thread(target=submit_all)
    with database.write() as connection:
        keep_others_out(connection)
        thread.start()
        thread.join(0.2)
        # Four batches wait, and up to four are being written.
        assert thread.is_alive()
        assert len(submitted) <= 16
    thread.join(PATIENCE_S)
    writer.flush()
    assert stored(database) == list(range(1, 41))


def test_close_commits_what_is_pending_and_may_be_called_twice(database, make):
    writer = make(batch_size=1000, batch_s=LONG_S)
    writer.submit(changes(1))
    writer.close()
    writer.close()
    assert stored(database) == [1]
    with pytest.raises(StoreError, match="already closed"):
        writer.submit(changes(2))


def test_store_is_checked_while_nothing_is_written(database, make, monkeypatch):
    monkeypatch.setattr(writer_module, "CHECK_S", 0.001)
    checks = threading.Semaphore(0)
    writer = make(check=checks.release)
    assert all(checks.acquire(timeout=PATIENCE_S) for _ in range(3))
    assert not writer.has_failed


def test_job_before_which_a_check_fails_reports_it(make):
    def check():
        raise StoreError("the file was removed")

    job = make(check=check).run(lambda connection: None)
    with pytest.raises(StoreError, match="the file was removed"):
        job.result(PATIENCE_S)


@pytest.mark.both_stores
def test_after_a_failure_every_call_fails_and_nothing_is_partly_written(database, make):
    writer = make(batch_size=1000, batch_s=LONG_S)
    spoil(database)
    writer.submit(changes(1))
    calls: list[Callable[[], object]] = [
        writer.flush,
        writer.flush,
        lambda: writer.submit(changes(2)),
        writer.close,
    ]
    for call in calls:
        with pytest.raises(StoreError, match="committed data is safe"):
            call()
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM page")).scalar() == 0


def test_failure_of_the_last_batch_is_not_lost_when_the_writer_is_closed(database, make):
    # Otherwise a crawl would be marked as finished although its last pages are not stored.
    writer = make(batch_size=1, batch_s=LONG_S)
    spoil(database)
    writer.submit(changes(1))
    writer._thread.join(PATIENCE_S)
    with pytest.raises(StoreError):
        writer.close()


ROOM_PAGES = 40  # of the disk, beyond the empty store


@pytest.mark.parametrize("size", [1, 3000])
def test_full_disk_keeps_a_prefix_of_complete_change_sets(tmp_path, size):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")

    with database.read() as connection:
        most = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + ROOM_PAGES

    def limit(connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count={most}")

    event.listen(database.engine, "begin", limit)
    writer = Writer(database, batch_size=10, batch_s=LONG_S)
    with pytest.raises(StoreError, match="full"):
        submit_for_ever(writer, size)
    with pytest.raises(StoreError, match="full"):
        writer.close()
    database.close()

    mended = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    kept = stored(mended)
    assert kept == list(range(1, len(kept) + 1))
    assert len(kept) >= 10
    with mended.read() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    writer = Writer(mended)
    writer.submit(changes(len(kept) + 1))
    writer.close()
    mended.close()


def test_lost_connection_between_batches_is_reopened(postgresql_url):
    database = Database(postgresql_url)
    writer = Writer(database)
    writer.submit(changes(1))
    writer.flush()
    with database.read() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    writer.submit(changes(2))
    writer.close()
    assert stored(database) == [1, 2]
    database.close()


@pytest.mark.both_stores
def test_job_writes_in_a_transaction_of_its_own_in_the_thread_of_the_writer(database, make):
    writer = make(batch_size=1000, batch_s=LONG_S)

    def rename(connection):
        connection.execute(text("UPDATE page SET url = 'renamed'"))
        return threading.get_ident()

    def fail(connection):
        connection.execute(text("UPDATE page SET url = 'lost'"))
        raise KeyError("a mistake of the job")

    writer.submit(changes(1))
    done, failed = writer.run(rename), writer.run(fail)
    assert done.result(PATIENCE_S) == writer._thread.ident
    with pytest.raises(KeyError):
        failed.result(PATIENCE_S)
    writer.submit(changes(2))
    writer.close()
    with database.read() as connection:
        urls = list(connection.execute(text("SELECT url FROM page ORDER BY id")).scalars())
    assert urls == ["renamed", "http://a.test/x"]


@pytest.mark.both_stores
def test_jobs_fail_when_the_database_does(database, make):
    writer = make(batch_size=1000, batch_s=LONG_S)
    spoil(database)
    writer.submit(changes(1))
    with pytest.raises(StoreError, match="committed data is safe"):
        writer.run(lambda connection: None).result(PATIENCE_S)
    with pytest.raises(StoreError, match="committed data is safe"):
        writer.run(lambda connection: None)
    refused = make(batch_size=1000, batch_s=LONG_S)
    with pytest.raises(StoreError, match="link"):
        refused.run(lambda connection: connection.execute(text("SELECT * FROM link"))).result(PATIENCE_S)
    with pytest.raises(StoreError):
        refused.submit(changes(2))


def test_cancelled_job_is_not_run_and_the_writer_continues(database, make):
    writer = make()
    called: list[str] = []
    with database.write():  # so that the first job waits
        first = writer.run(lambda connection: called.append("first"))
        second = writer.run(lambda connection: called.append("second"))
        assert second.cancel()
    writer.flush()
    assert (called, first.done()) == (["first"], True)


def test_commits_are_counted_and_timed(database):
    writer = Writer(database, batch_size=2)
    assert writer.commits == (0, 0.0, 0.0)
    for number in (1, 2):
        writer.submit(changes(number))
    writer.flush()
    first = writer.commits

    def fail(connection):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        writer.run(fail).result(PATIENCE_S)
    assert writer.commits == first, "nothing was committed"
    writer.close()
    assert first.number == 1
    assert first.seconds == first.last_s > 0


@pytest.mark.both_stores
def test_fence_is_asked_first_in_every_transaction(database):
    fenced: list[list[int]] = []

    def fence(connection, changes):
        assert connection.in_transaction()
        assert not connection.execute(text("SELECT count(*) FROM page")).scalar() or fenced
        fenced.append([row.id for row in changes[NewPage]])

    writer = Writer(database, batch_size=2, fence=fence)
    for number in (1, 2):
        writer.submit(changes(number))
    writer.run(lambda connection: None).result(PATIENCE_S)
    writer.close()
    assert fenced == [[1, 2], []]


@pytest.mark.both_stores
def test_nothing_is_written_behind_a_fence_that_is_closed(database):
    def fence(connection, changes):
        if changes[NewPage] == [] or changes[NewPage][0].id > 1:
            raise ClaimsLost("worker 7 was declared lost")

    writer = Writer(database, fence=fence)
    writer.submit(changes(1))
    writer.flush()
    writer.submit(changes(2))
    for act in (writer.flush, writer.flush, writer.close):
        with pytest.raises(ClaimsLost, match="worker 7 was declared lost"):
            act()
    assert stored(database) == [1]
