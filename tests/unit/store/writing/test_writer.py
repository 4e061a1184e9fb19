"""The writer commits complete change sets in order, and reports failures of the database."""

import threading
from contextlib import closing

import pytest
from sqlalchemy import event, text

from crawlers.errors import ClaimsLost, StoreError
from crawlers.store.database import Database
from crawlers.store.schema.tables import NewPage, PageLinks
from crawlers.store.writing import writer as writer_module
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.writer import Writer
from tests.support.processes import until
from tests.support.services import OTHERS_END
from tests.support.stored_rows import execute, new_page

LONG_S = 3600.0
PATIENCE_S = 30.0  # a test that waits longer fails


def changes(number, size=1):
    """Return a page and its link: rows of two tables, so that a partly written change set is detected."""
    return ChangeSet(new_page(number, 1, url="http://a.test/" + "x" * size), PageLinks(number, {number: 1}))


def submit(writer, last, size=1):
    for number in range(1, last + 1):
        writer.submit(changes(number, size))


def keep_others_out(connection):
    """Lock out other writers until the end of the transaction, as SQLite does anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE page"))


def stored(database):
    pages = database.scalars(text("SELECT id FROM page ORDER BY id"))
    links = database.scalars(text("SELECT source_id FROM link ORDER BY source_id"))
    assert pages == links, "a change set was divided"
    return pages


def spoil(database):
    execute(database, text("DROP TABLE link"))


@pytest.fixture
def make(database):
    """Return writers for the test's database, which are closed at the end."""
    writers = []

    def make(**batches):
        writers.append(Writer(database, **batches))
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
    thread = threading.Thread(target=submit, args=(writer, 40))
    with database.write() as connection:
        keep_others_out(connection)
        thread.start()
        thread.join(0.2)
        # Four batches wait, and up to four are being written.
        assert thread.is_alive()
        assert writer.submitted <= 16
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
    calls = [writer.flush, writer.flush, lambda: writer.submit(changes(2)), writer.close]
    for call in calls:
        with pytest.raises(StoreError, match="committed data is safe"):
            call()
    assert database.scalar(text("SELECT count(*) FROM page")) == 0


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
def test_full_disk_keeps_a_prefix_of_complete_change_sets(sqlite, sqlite_url, size):
    most = sqlite.scalar(text("PRAGMA page_count")) + ROOM_PAGES

    def limit(connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count={most}")

    event.listen(sqlite.engine, "begin", limit)
    writer = Writer(sqlite, batch_size=10, batch_s=LONG_S)
    for act in (lambda: submit(writer, 100_000, size), writer.close):
        with pytest.raises(StoreError, match="full"):
            act()
    with closing(Database(sqlite_url)) as mended:
        kept = stored(mended)
        assert kept == list(range(1, len(kept) + 1))
        assert len(kept) >= 10
        assert mended.scalar(text("PRAGMA integrity_check")) == "ok"
        writer = Writer(mended)
        writer.submit(changes(len(kept) + 1))
        writer.close()


def test_lost_connection_between_batches_is_reopened(postgresql):
    writer = Writer(postgresql)
    writer.submit(changes(1))
    writer.flush()
    execute(postgresql, text(OTHERS_END))
    writer.submit(changes(2))
    writer.close()
    assert stored(postgresql) == [1, 2]


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
    assert writer.run(rename).result(PATIENCE_S) == writer._thread.ident
    commits = writer.commits
    with pytest.raises(KeyError):
        writer.run(fail).result(PATIENCE_S)
    assert writer.commits == commits, "nothing was committed"
    writer.submit(changes(2))
    writer.close()
    assert database.scalars(text("SELECT url FROM page ORDER BY id")) == ["renamed", "http://a.test/x"]


@pytest.mark.both_stores
def test_jobs_fail_when_the_database_does(database, make):
    writer = make(batch_size=1000, batch_s=LONG_S)
    spoil(database)
    writer.submit(changes(1))
    for _ in range(2):
        with pytest.raises(StoreError, match="committed data is safe"):
            writer.run(lambda connection: None).result(PATIENCE_S)
    refused = make(batch_size=1000, batch_s=LONG_S)
    with pytest.raises(StoreError, match="link"):
        refused.run(lambda connection: connection.execute(text("SELECT * FROM link"))).result(PATIENCE_S)
    with pytest.raises(StoreError):
        refused.submit(changes(2))


def test_cancelled_job_is_not_run_and_the_writer_continues(database, make):
    writer = make()
    called = []
    with database.write():  # so that the first job waits
        first = writer.run(lambda connection: called.append("first"))
        second = writer.run(lambda connection: called.append("second"))
        assert second.cancel()
    writer.flush()
    assert (called, first.done()) == (["first"], True)


def test_commits_are_counted_and_timed(database):
    writer = Writer(database, batch_size=2)
    assert writer.commits == (0, 0.0, 0.0)
    submit(writer, 2)
    writer.close()
    assert writer.commits.number == 1
    assert writer.commits.seconds == writer.commits.last_s > 0


@pytest.mark.both_stores
def test_fence_is_asked_first_in_every_transaction(database):
    fenced = []

    def fence(connection, changes):
        assert connection.in_transaction()
        assert not connection.execute(text("SELECT count(*) FROM page")).scalar() or fenced
        fenced.append([row.id for row in changes[NewPage]])

    writer = Writer(database, batch_size=2, fence=fence)
    submit(writer, 2)
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
