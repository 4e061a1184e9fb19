"""Opening a database: errors and their messages, creation and version of the tables."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from hashlib import blake2b

import pytest
from sqlalchemy import Column, Integer, Table, event, select, text
from sqlalchemy.dialects.postgresql.base import PGDialect

from crawlers.errors import ConfigError, StoreError, StoreUnavailable, StoreVersionError
from crawlers.store.database import Database, StoreCheck
from crawlers.store.schema.tables import SCHEMA_VERSION, metadata
from crawlers.web.serving import follow_file
from tests.support.of_missions import needs
from tests.support.services import fresh_database
from tests.support.stored_rows import execute

pytestmark = pytest.mark.both_stores

# The definitions of all tables, indexes and triggers. If this has to change, raise SCHEMA_VERSION, too.
DEFINITIONS = (10, "6151c63dec438870")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "is not a database URL; write for example sqlite:///crawl.sqlite"),
        ("oracle://host/x", "only sqlite and postgresql are supported"),
        ("nosuch://host/x", "is not a database URL"),
        ("postgresql+psycopg://user@host:port/x", "is not a database URL"),
        ("postgresql+psycopg2://user:secret@host/x", "write postgresql+psycopg://user:***@host/x"),
        ("sqlite://", "does not name a file"),
        ("sqlite:///:memory:", "can't be resumed"),
        ("sqlite:///crawl.sqlite?mode=memory", "can't be resumed"),
        ("sqlite:///file:crawl?mode=memory&uri=true", "can't be resumed"),
        ("sqlite:///{folder}", "is a folder"),
        ("sqlite:///{folder}/no/x.sqlite", "does not exist; create it first"),
        ("postgresql+psycopg://user:secret@/x?host={folder}", "check that it is a database"),
    ],
)
def test_invalid_url_is_refused_in_one_sentence(url, words, tmp_path):
    with pytest.raises(ConfigError) as raised:
        Database(url.format(folder=tmp_path))
    message = str(raised.value)
    assert message.startswith("DATABASE_URL")
    assert words in message
    assert "\n" not in message
    assert "secret" not in message
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("my notes\n" * 1000)
    with pytest.raises(ConfigError, match=r"notes.txt is not an SQLite database; name another file$"):
        Database(f"sqlite:///{file}")
    assert file.read_text() == "my notes\n" * 1000


def test_missing_database_is_an_error_without_create(tmp_path):
    with pytest.raises(ConfigError, match="does not exist; crawl first"):
        Database(f"sqlite:///{tmp_path / 'no.sqlite'}", create=False)
    assert list(tmp_path.iterdir()) == []


def test_open_database_does_not_replace_a_file_that_is_removed(tmp_path):
    path = tmp_path / "a #1%.sqlite"
    with closing(Database(f"sqlite:///{path}")) as database:
        path.unlink()
        database.engine.dispose()  # so that a new connection is opened
        with pytest.raises(StoreError, match="unable to open database file"), database.write():
            pass
    assert not path.exists()


def test_file_that_is_replaced_is_followed(tmp_path):
    path, other = tmp_path / "crawl.sqlite", tmp_path / "other.sqlite"
    insert = text("INSERT INTO seed (site, start_url, enabled) VALUES (:name, '', true)")
    with closing(Database(f"sqlite:///{path}")) as database, closing(Database(f"sqlite:///{other}")) as later:
        follow_file(database)
        for store, name in ((database, "before"), (later, "after")):
            execute(store, insert, {"name": name})
        later.close()
        for part in tmp_path.glob("crawl.sqlite*"):
            part.rename(tmp_path / f"moved-{part.name}")
        with (
            pytest.raises(StoreError, match=r"unable to open database file; check that the file is there"),
            database.read(),
        ):
            pass
        assert not path.exists()
        other.rename(path)
        assert database.scalars(text("SELECT site FROM seed")) == ["after"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url_without_tables(request, tmp_path):
    if request.param == "sqlite":
        (tmp_path / "crawl.sqlite").touch()
        yield f"sqlite:///{tmp_path / 'crawl.sqlite'}"
    else:
        with fresh_database(request.getfixturevalue("postgresql_socket")) as url:
            yield url


def test_database_without_tables_is_an_error_without_create(url_without_tables):
    with pytest.raises(StoreVersionError, match="has no crawl; run a crawl on it first"):
        Database(url_without_tables, create=False)


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ("UPDATE schema_version SET number = 9999", "schema 9999"),
        ("UPDATE schema_version SET number = 0", "schema 0"),
        ("DELETE FROM schema_version", "an unknown schema"),
        ("DROP TABLE schema_version", "an unknown schema"),
    ],
)
@pytest.mark.parametrize("create", [True, False])
def test_store_of_another_version_is_refused_and_unchanged(url_without_tables, changes, written, create, tmp_path):
    with closing(Database(url_without_tables)) as database, database.write() as connection:
        connection.execute(text(changes))
    before = [path.read_bytes() for path in tmp_path.iterdir()]
    with pytest.raises(StoreVersionError) as raised:
        Database(url_without_tables, create=create)
    assert str(raised.value).endswith(
        f" was written by another version of this program ({written}; this one needs schema {SCHEMA_VERSION}); "
        "go on with that version, or name another database for a new crawl"
    )
    assert [path.read_bytes() for path in tmp_path.iterdir()] == before


@pytest.mark.parametrize("create", [True, False])
def test_server_that_is_too_old_is_refused_before_anything_is_written(postgresql_socket, monkeypatch, create):
    with fresh_database(postgresql_socket) as url:
        monkeypatch.setattr(PGDialect, "_get_server_version_info", lambda *_: (13, 21))
        with pytest.raises(
            ConfigError, match=r"^DATABASE_URL=\S+ is PostgreSQL 13\.21; this program needs 14 or later"
        ):
            Database(url, create=create)
        monkeypatch.setattr(PGDialect, "_get_server_version_info", lambda *_: (14, 0))
        with pytest.raises(StoreVersionError, match="has no crawl"):
            Database(url, create=False)


def test_processes_that_start_together_create_the_tables_once(url_without_tables):
    with ThreadPoolExecutor(8) as pool:
        databases = list(pool.map(Database, [url_without_tables] * 8))
    assert databases[0].rows(text("SELECT number FROM schema_version")) == [(SCHEMA_VERSION,)]
    assert databases[0].rows(text("SELECT name, next FROM id_block")) == [("page", 1), ("site", 1)]
    for database in databases:
        database.close()


def test_table_of_a_mission_of_the_user_is_added_by_its_crawl(url_without_tables):
    Database(url_without_tables).close()
    own = Table("own", metadata, Column("id", Integer))
    try:
        with closing(Database(url_without_tables, create=False)) as reader:
            with pytest.raises(StoreError, match=r"no table own, so no crawl of its mission is in this store; run one"):
                reader.rows(select(own))
            Database(url_without_tables).close()
            assert reader.rows(select(own)) == []
    finally:
        metadata.remove(own)


@needs("news", "topic")
def test_changed_tables_have_another_version(sqlite):
    rows = sqlite.rows(text("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))
    assert (SCHEMA_VERSION, blake2b(repr(rows).encode(), digest_size=8).hexdigest()) == DEFINITIONS


def test_store_that_another_version_changes_says_what_to_do(database):
    execute(database, text("ALTER TABLE seed RENAME COLUMN enabled TO is_enabled"))
    try:
        sentence = "another version of this program may have changed it: end this one"
        with pytest.raises(StoreError, match=sentence), database.read() as connection:
            connection.execute(text("SELECT enabled FROM seed"))
    finally:  # other tests use the same database
        execute(database, text("ALTER TABLE seed RENAME COLUMN is_enabled TO enabled"))


def test_collecting_statistics_leaves_a_file_as_it_is(sqlite):
    sqlite.collect_statistics()
    assert not sqlite.rows(text("SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("last", [["SELECT 1"], []], ids=["before a statement", "before the commit"])
def test_server_that_ends_a_connection_may_come_back(postgresql, last):
    ends = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid = :pid"

    def write():
        with postgresql.write() as connection:
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar()
            execute(postgresql, text(ends), {"pid": pid})
            for statement in last:
                connection.execute(text(statement))

    with pytest.raises(StoreUnavailable, match=r"failed: .*check that the server runs"):
        write()
    assert postgresql.scalar(text("SELECT 1")) == 1


def test_transaction_of_a_stopped_process_is_ended_by_the_server(postgresql):
    of_database = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"

    def write():
        with postgresql.write() as connection:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '1ms'"))
            while postgresql.scalar(text(of_database)):  # the server ends the session
                pass
            connection.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable):
        write()


def test_process_that_has_used_up_its_connections_can_try_again(sqlite):
    sqlite.engine.pool._timeout = 0.0
    with ExitStack() as stack:
        for _ in range(15):  # the size of the pool
            stack.enter_context(sqlite.read())
        with pytest.raises(StoreUnavailable, match="all connections of this process are in use"):
            stack.enter_context(sqlite.read())


def test_file_that_another_process_keeps_locked_may_be_free_later(sqlite_url, monkeypatch):
    monkeypatch.setattr("crawlers.store.database.BUSY_TIMEOUT_MS", 1)
    sentence = "locked; committed data is safe: let the other process"
    with closing(Database(sqlite_url)) as database:
        with database.write(), pytest.raises(StoreUnavailable, match=sentence), database.write():
            pass
        execute(database, text("SELECT 1"))


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
    with pytest.raises(
        StoreError, match="is safe in the other tables: restore the lost one, then run the same command"
    ):
        database.rows(text("SELECT 1 FROM page"))


def test_file_that_can_be_read_only_says_so(sqlite):
    event.listen(sqlite.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA query_only=1"))
    sentence = "committed data is safe: make the file and its folder writable"
    with pytest.raises(StoreError, match=sentence), sqlite.write() as connection:
        connection.execute(text("DELETE FROM seed"))
