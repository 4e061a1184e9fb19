"""Opening a database: errors and their messages, creation and migration of the tables."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, event, text

from crawlers.algorithms.dedup.document_fingerprints import compared_words, domain_of
from crawlers.algorithms.dedup.min_hash import bands
from crawlers.algorithms.url_rules.rule_learner import UrlRule
from crawlers.errors import ConfigError, StoreError, StoreUnavailable, StoreVersionError
from crawlers.storage import schema
from crawlers.storage.database import Database
from crawlers.storage.news.document_bands import DocumentBands
from crawlers.storage.news.stored_rules import LEARNT, LearntRulesRow, add_rule, list_rules, pin_rule
from crawlers.storage.schema import migrations
from crawlers.storage.schema.migrations.versions import __name__ as versions
from crawlers.storage.schema.news_tables import metadata
from tests.support.services import fresh_database
from tests.support.stored_rows import write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = str(Path(migrations.__file__).parent / "versions")
for declared in pkgutil.iter_modules(schema.__path__, f"{schema.__name__}."):
    importlib.import_module(declared.name)  # all tables, whichever tests ran before
DEFINITIONS = {
    "sqlite": "SELECT type, name, sql FROM sqlite_master WHERE tbl_name NOT LIKE 'alembic%'",
    "postgresql": """
        SELECT table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
            || coalesce(character_maximum_length, 0)
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'alembic%'
        UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND tablename NOT LIKE 'alembic%'""",
}


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
        ("sqlite:///{folder}", "is a folder"),
        ("sqlite:///{folder}/no/x.sqlite", "does not exist; create it first"),
        ("postgresql+psycopg://user:secret@/x?host={folder}", "check that it is a database"),
    ],
)
def test_invalid_url_is_refused_in_one_sentence(url: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        Database(url.format(folder=tmp_path))
    message = str(raised.value)
    assert message.startswith("DATABASE_URL")
    assert words in message
    assert "\n" not in message
    assert "secret" not in message
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes\n" * 1000)
    with pytest.raises(ConfigError, match=r"notes.txt is not an SQLite database; name another file$"):
        Database(f"sqlite:///{file}")
    assert file.read_text() == "my notes\n" * 1000


def test_missing_database_is_an_error_without_create(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist; crawl first"):
        Database(f"sqlite:///{tmp_path / 'no.sqlite'}", create=False)
    assert list(tmp_path.iterdir()) == []


def test_open_database_does_not_replace_a_file_that_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a #1%.sqlite"
    with closing(Database(f"sqlite:///{path}")) as database:
        path.unlink()
        database.engine.dispose()  # so that a new connection is opened
        with pytest.raises(StoreError, match="unable to open database file"), database.write():
            pass
    assert not path.exists()


def test_file_that_is_replaced_is_followed(tmp_path: Path) -> None:
    path, other = tmp_path / "crawl.sqlite", tmp_path / "other.sqlite"
    insert = text("INSERT INTO seed (site, start_url, enabled) VALUES (:name, '', true)")
    with closing(Database(f"sqlite:///{path}")) as database, closing(Database(f"sqlite:///{other}")) as later:
        database.follow_file()
        for store, name in ((database, "before"), (later, "after")):
            with store.write() as connection:
                connection.execute(insert, {"name": name})
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
        with database.read() as connection:
            assert connection.execute(text("SELECT site FROM seed")).scalars().all() == ["after"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url_without_tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        (tmp_path / "crawl.sqlite").touch()
        yield f"sqlite:///{tmp_path / 'crawl.sqlite'}"
    else:
        with fresh_database(request.getfixturevalue("postgresql_socket")) as url:
            yield url


def test_database_without_tables_is_an_error_without_create(url_without_tables: str) -> None:
    with pytest.raises(StoreVersionError, match="has no crawl; run a crawl on it first"):
        Database(url_without_tables, create=False)


def test_tables_are_created_once(url_without_tables: str) -> None:
    for create in (True, False):
        with closing(Database(url_without_tables, create=create)) as database, database.read() as connection:
            assert connection.execute(text("SELECT count(*) FROM page")).scalar() == 0


def test_database_of_a_newer_version_is_refused(database_url: str) -> None:
    database = Database(database_url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(StoreVersionError, match=r"newer version of this program \(schema 9999"):
        Database(database_url)


def test_opening_twice_changes_nothing(database: Database, database_url: str) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE id_block SET next = 77"))
    second = Database(database_url, create=False)
    with second.read() as connection:
        assert connection.execute(text("SELECT next FROM id_block")).scalar() == 77
    second.close()


def test_new_database_has_the_declared_tables(database: Database) -> None:
    with database.read() as connection:
        options = {"compare_type": True, "compare_server_default": True, "include_name": _is_not_search_index}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def _is_not_search_index(name: str | None, kind: str, parents: dict[str, str | None]) -> bool:
    # The full-text indexes of SQLite and PostgreSQL differ.
    return not (name or "").startswith("document_text")


def _definitions(url: str) -> set[Any]:
    engine = create_engine(url)
    with engine.connect() as connection:
        rows = connection.execute(text(DEFINITIONS[connection.dialect.name])).all()
    engine.dispose()
    # SQLite adds a column with a blank before its comma.
    return {tuple(re.sub(r" (?=[,)])", "", " ".join(str(value).split())) for value in row) for row in rows}


def _created(url: str) -> set[Any]:
    engine = create_engine(url)
    metadata.create_all(engine)
    engine.dispose()
    return _definitions(url)


def test_migrated_sqlite_equals_the_declared_tables_exactly(tmp_path: Path) -> None:
    # compare_metadata sees neither WITHOUT ROWID nor the condition of a partial index.
    migrated = f"sqlite:///{tmp_path / 'migrated.sqlite'}"
    Database(migrated).close()
    assert _definitions(migrated) == _created(f"sqlite:///{tmp_path / 'created.sqlite'}")


def test_migrated_postgresql_equals_the_declared_tables_exactly(postgresql_socket: Path) -> None:
    with fresh_database(postgresql_socket) as migrated, fresh_database(postgresql_socket) as created:
        Database(migrated).close()
        assert _definitions(migrated) == _created(created)


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules([VERSIONS])])
def test_migrations_are_frozen(name: str) -> None:
    # A migration that imports tables.py would create tomorrow's tables under today's number.
    module = importlib.import_module(f"{versions}.{name}")
    assert not re.search(r"^\s*(?:import|from) crawlers", inspect.getsource(module), re.MULTILINE)


def test_learnt_rules_that_re2_rejects_are_deleted_and_manual_ones_kept(
    url_without_tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "HEAD", "0006")  # later migrations would find their tables
    database = Database(url_without_tables)
    rules = [
        UrlRule("/a%", 0.9, LEARNT),
        UrlRule("/(?!a).*", 0.9, LEARNT),
        UrlRule("/(?=a).*", 0.9, LEARNT),
        UrlRule("/(?!pinned).*", 0.9, LEARNT),
    ]
    write_rows(database, LearntRulesRow("a.example", tuple(rules)))
    pin_rule(database, list_rules(database)[-1].number)
    add_rule(database, "a.example", "/(?!mine).*", 1.0)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0005'"))
    database.close()
    second = Database(url_without_tables)
    assert {stored.rule.regex for stored in list_rules(second)} == {"/a%", "/(?!pinned).*", "/(?!mine).*"}
    second.close()


def test_crawl_of_an_earlier_version_keeps_its_url_rules(
    url_without_tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "HEAD", "0006")
    database = Database(url_without_tables)
    crawls = """INSERT INTO crawl (id, name, mission, state, started_at, manifest)
        VALUES (:id, :name, 'm', :state, 0, '')"""
    setting = "INSERT INTO crawler_setting VALUES (:id, 'URL_IGNORED_PARAMETERS', :value)"
    external = "INSERT INTO external_url (id, site, url, key) VALUES (:id, 'http://h', :url, 7)"
    document = """INSERT INTO document (page_id, site_id, url, title, text, authors, extractor, text_hash, simhash,
        version, stored_at) VALUES (:id, 1, :url, '', '', '[]', 'rule', :hash, 0, 1, 0)"""
    urls = ["http://h/?a=1&c=", "http://h/%2F%20", "http://h/?article1", "http://h/?a=1&b", "http://h/%7euser/"]
    with database.write() as connection:
        for number, (name, state) in enumerate((("old", "finished"), ("a", "running"), ("b", "interrupted")), 1):
            connection.execute(text(crawls), {"id": number, "name": name, "state": state})
        connection.execute(text(setting), [{"id": 2, "value": "['utm_*']"}, {"id": 3, "value": "utm_*,ref"}])
        for number, url in enumerate(urls, 1):
            connection.execute(text(external), {"id": number, "url": url})
            connection.execute(text(document), {"id": number, "url": url, "hash": "x"})
            connection.execute(text("INSERT INTO document_key VALUES (:id, 5, :id)"), {"id": number})
    database.close()
    monkeypatch.undo()
    migrated = Database(url_without_tables)
    with migrated.read() as connection:
        settings = connection.execute(text("SELECT crawl_id, name, value FROM crawler_setting ORDER BY 1, 2")).all()
        keys = connection.execute(text("SELECT key FROM external_url ORDER BY id")).scalars().all()
        documents = connection.execute(text("SELECT page_id FROM document_key ORDER BY 1")).scalars().all()
    migrated.close()
    before = [("URL_DECODE_UNRESERVED", "False"), ("URL_DROP_VALUELESS_PARAMETERS", "True")]
    assert [tuple(row) for row in settings] == [
        *((2, *one) for one in before),
        (2, "URL_IGNORED_PARAMETERS", "['utm_*']"),
        *((3, *one) for one in before),
    ]
    assert keys == [7, 7, 3, 4, 5], "keys of URLs that the rules concern stand for the URL itself"
    assert documents == [1, 2]


def test_failed_transaction_is_rolled_back(database: Database) -> None:
    def fail() -> None:
        with database.write() as connection:
            connection.execute(text("INSERT INTO seed (site, start_url) VALUES ('http://a.test', 'http://a.test/')"))
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        fail()
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM seed")).scalar() == 0


def test_reader_is_not_blocked_by_a_writer(database: Database) -> None:
    with database.write() as writing:
        writing.execute(text("INSERT INTO seed (site, start_url) VALUES ('http://a.test', 'http://a.test/')"))
        with database.read() as reading:
            assert reading.execute(text("SELECT count(*) FROM seed")).scalar() == 0


def test_store_that_another_version_changes_says_what_to_do(database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("ALTER TABLE seed RENAME COLUMN enabled TO is_enabled"))
    try:
        sentence = "another version of this program may have changed it: end this one"
        with pytest.raises(StoreError, match=sentence), database.read() as connection:
            connection.execute(text("SELECT enabled FROM seed"))
    finally:  # other tests use the same database
        with database.write() as connection:
            connection.execute(text("ALTER TABLE seed RENAME COLUMN is_enabled TO enabled"))


def test_name_shows_no_password(postgresql_url: str) -> None:
    database = Database(postgresql_url.replace("postgres@", "postgres:secret@"))
    assert "secret" not in database.name
    assert database.path is None
    database.close()


def test_server_knows_the_size_of_tables_whose_statistics_were_collected(postgresql_socket: Path) -> None:
    with fresh_database(postgresql_socket) as url:
        database = Database(url)
        with database.write() as connection:
            insert = "INSERT INTO seed (site, start_url) SELECT 'http://' || n, '' FROM generate_series(1, 500) AS n"
            connection.execute(text(insert))
        database.collect_statistics()
        with database.read() as connection:
            known = connection.execute(text("SELECT reltuples FROM pg_class WHERE relname = 'seed'")).scalar_one()
        database.close()
    assert known == 500


def test_collecting_statistics_leaves_a_file_as_it_is(sqlite: Database) -> None:
    sqlite.collect_statistics()
    with sqlite.read() as connection:
        assert not connection.execute(text("SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'")).all()


def test_server_that_ends_a_connection_may_come_back(postgresql_url: str) -> None:
    database, admin = Database(postgresql_url), Database(postgresql_url)
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid"

    def write() -> None:
        with database.write() as connection:
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar()
            with admin.write() as other:
                other.execute(text(ends), {"pid": pid})
            connection.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable, match=r"failed: .*check that the server runs"):
        write()
    with database.read() as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1
    admin.close()
    database.close()


def test_transaction_of_a_stopped_process_is_ended_by_the_server(postgresql_url: str) -> None:
    database, admin = Database(postgresql_url), Database(postgresql_url)

    of_database = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"

    def is_idle() -> bool:
        with admin.read() as connection:
            return bool(connection.execute(text(of_database)).scalar())

    def write() -> None:
        with database.write() as connection:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '1ms'"))
            while is_idle():  # the server ends the session
                pass
            connection.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable):
        write()
    admin.close()
    database.close()


def test_process_that_has_used_up_its_connections_can_try_again(sqlite: Database) -> None:
    sqlite.engine.pool._timeout = 0.0
    with ExitStack() as stack:
        for _ in range(15):  # the size of the pool
            stack.enter_context(sqlite.read())
        with pytest.raises(StoreUnavailable, match="all connections of this process are in use"):
            stack.enter_context(sqlite.read())


def test_file_that_another_process_keeps_locked_may_be_free_later(sqlite: Database) -> None:
    def write() -> None:
        with sqlite.write() as connection:
            connection.execute(text("SELECT 1"))

    at_once = "PRAGMA busy_timeout=1"
    event.listen(sqlite.engine, "begin", lambda connection: connection.exec_driver_sql(at_once), insert=True)
    with sqlite.write(), pytest.raises(StoreUnavailable, match="locked; committed data is safe: let the other process"):
        write()
    write()


def test_documents_of_an_earlier_version_are_found_by_their_bands(
    url_without_tables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "HEAD", "0019")
    database = Database(url_without_tables)
    words = [f"word{number * number}" for number in range(200)]
    others = {
        3: ("http://127.0.0.1:8600/", "Straße", "Straße Nr. 3 " * 40),
        4: ("http://www.a.github.io/", "Unser Ort", "Foto: Müller"),
        5: ("https://news.example.co.uk:8443/", "北京", "晴转多云12度 " * 20 + "ＡＢ co\xadop"),
        6: ("http://localhost/", "", ""),
    }
    document = """INSERT INTO document (page_id, site_id, url, title, text, authors, extractor, text_hash, simhash,
        version, stored_at) VALUES (:id, 1, :url, 'T', :text, '[]', 'rule', '', 7, 1, 0)"""
    with database.write() as connection:
        for number in (1, 2):
            row = {"id": number, "url": f"http://www.{number}.example.org/", "text": " ".join(words[number:])}
            connection.execute(text(document), row)
        for number, (url, title, shown) in others.items():
            row = {"id": number, "url": url, "text": shown}
            connection.execute(text(document.replace("'T'", f"'{title}'")), row)
        connection.execute(text("INSERT INTO document_band VALUES (1, 1, 7)"))
    database.close()
    monkeypatch.undo()
    migrated, writer = Database(url_without_tables), SimpleNamespace(submitted=0, wait_for=lambda number: None)
    candidates = DocumentBands(migrated, writer)
    assert sorted(candidates.near(bands("example.org", words[50:]))) == [1, 2]
    assert candidates.near(bands("example.com", words[50:])) == []
    with migrated.read() as connection:
        stored = connection.execute(text("SELECT page_id, band FROM document_band WHERE page_id > 2")).all()
    migrated.close()
    assert {tuple(row) for row in stored} == {
        (number, band)
        for number, (url, title, shown) in others.items()
        for band in bands(domain_of(url), compared_words(title, shown))
    }
