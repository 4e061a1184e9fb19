"""Opens the database of the store: an SQLite file, or PostgreSQL by URL.

SQLite runs in WAL mode, so that other processes read while the crawl writes; `synchronous=NORMAL`
keeps every commit when the process is killed (a power cut may cost the last commits, never the file). A process would
go on writing to a file that was deleted: `StoreCheck` finds that the store is no longer the one that was opened.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table, create_engine, event, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql import visitors

from crawlers.errors import ConfigError, StoreError, StoreUnavailable, StoreUnreachable, StoreVersionError
from crawlers.files.atomic import identity_of
from crawlers.mission import first_crawl
from crawlers.store.schema import PROGRAM_TABLES
from crawlers.store.schema.tables import SCHEMA_VERSION, metadata, schema_version

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from sqlalchemy import URL, ClauseElement, Connection, Engine, Executable, Row

CODE = (".py", ".pth")  # endings of files that Python runs when it finds them
BUSY_TIMEOUT_MS = 10_000  # a batch of another writer takes tens of milliseconds, a vacuum seconds
CACHE_KIB = 4_000  # per connection: most pages that a batch changes; the OS caches the rest
LEAST_VERSION = (14,)  # of PostgreSQL, which has `idle_session_timeout`
SILENCE_S = 7.5  # of a server, until it is given up: see `server_connection`
_SECRETS = frozenset({"password", "passfile", "sslpassword", "sslkey", "service"})  # parameters of libpq
# Codes of PostgreSQL (SQLSTATE, or its class) for what has nothing to do with the statement and may pass: connections
# that fail, deadlocks and the end of idle transactions, which leave nothing behind, and servers that stop or start.
_PASSING = ("08", "25P03", "40P01", "53300", "57P01", "57P02", "57P03", "57P05")
_NO_TABLE, _NO_COLUMN = "42P01", "42703"


class Database:
    """An open database with the tables of this version.

    Raises `ConfigError` if it can't be opened, created or written (`StoreUnreachable` if that may pass), and
    `StoreVersionError` if another version wrote it. With *create* false a missing database is an error, and nothing is
    written. A server is given up that can't be reached for about *silence_s* seconds, or three times as long if the
    connection was open before.
    """

    def __init__(self, url: str, *, create: bool = True, silence_s: float = SILENCE_S) -> None:
        self.url = _parsed(url)
        if self.is_sqlite:
            _check_file(self.url, create)
        self._may_create = create  # the file, with the first connection only: a later one would replace a lost file
        self.engine = (
            _sqlite_engine(self.url, lambda: self._may_create)
            if self.is_sqlite
            else _server_engine(self.url, silence_s)
        )
        try:
            self._prepare_tables(create)
        except Exception as error:
            self.engine.dispose()
            if not isinstance(error, DatabaseError):
                raise
            raise _opening_error(error, self.name) from error
        self._may_create = False

    def _prepare_tables(self, create: bool) -> None:
        with self.engine.connect() as connection:
            version = connection.dialect.server_version_info
            if not self.is_sqlite and version is not None and version < LEAST_VERSION:
                raise ConfigError(
                    f"DATABASE_URL={self.name} is PostgreSQL {'.'.join(map(str, version))}; this program needs "
                    f"{LEAST_VERSION[0]} or later: update the server, or name another one"
                )
            missing = self._missing_tables(connection)
        if len(missing) == len(metadata.tables) and not create:
            raise StoreVersionError(f"DATABASE_URL={self.name} has no crawl; run a crawl on it first")
        if missing and not create:
            self._refuse_queries_of({one.name for one in missing})
        if not missing or not create:
            return
        with self.engine.connect().execution_options(writes=True) as connection, connection.begin():
            lock_name(connection, "tables")  # jobs that start together may all find them missing
            metadata.create_all(connection, self._missing_tables(connection), checkfirst=False)

    def _missing_tables(self, connection: Connection) -> list[Table]:
        """Return all tables of a new store, or those of missions of users, which crawls add; one of ours was lost."""
        found = metadata.tables.keys() & inspect(connection).get_table_names()
        number = connection.scalar(select(schema_version.c.number)) if schema_version.name in found else None
        if found and number != SCHEMA_VERSION:
            schema = "an unknown schema" if number is None else f"schema {number}"
            raise StoreVersionError(
                f"DATABASE_URL={self.name} was written by another version of this program ({schema}; this one needs "
                f"schema {SCHEMA_VERSION}); go on with that version, or name another database for a new crawl"
            )
        return [one for name, one in metadata.tables.items() if not found or name not in found | PROGRAM_TABLES]

    def _refuse_queries_of(self, missing: Container[str]) -> None:
        """Let queries of the tables *missing* raise a `StoreError` until a crawl of their mission adds them."""

        @event.listens_for(self.engine, "before_execute")
        def _check(connection: Connection, statement: ClauseElement, *_: Any) -> None:
            for one in visitors.iterate(statement):
                if isinstance(one, Table) and one.name in missing and not inspect(connection).has_table(one.name):
                    raise StoreError(
                        f"{self.name} has no table {one.name}, so no crawl of its mission is in this store; run one, "
                        "then run the same command again"
                    )

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def name(self) -> str:
        """The URL without its secrets, for messages."""
        return shown_url(self.url)

    @property
    def path(self) -> Path | None:
        """The SQLite file; *None* for a server."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that sees one consistent state and takes no lock. Raises `StoreError`."""
        with self.store_errors(), self.engine.connect() as connection:
            yield connection

    def rows(self, statement: Executable, **values: Any) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return the rows that a query finds. Raises `StoreError`."""
        with self.read() as connection:
            return connection.execute(statement, values).all()

    def scalars(self, statement: Executable, **values: Any) -> list[Any]:
        """Return the first column of the rows that a query finds. Raises `StoreError`."""
        return [row[0] for row in self.rows(statement, **values)]

    def scalar(self, statement: Executable, **values: Any) -> Any:
        """Return the first column of the row that a query finds; None if it finds none. Raises `StoreError`."""
        return next(iter(self.scalars(statement, **values)), None)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield one transaction, committed at the end of the block. Raises `StoreError`."""
        with self.store_errors(), self.engine.connect().execution_options(writes=True) as connection:
            connection.begin()
            yield connection
            connection.commit()

    def collect_statistics(self) -> None:
        """Let a server count what the tables hold, before statements that read most of it. Raises `StoreError`.

        PostgreSQL does so once a minute at best. What was stored since is unknown to its planner: it takes tables of a
        new crawl for empty, and joins 10^6 rows by nested loops. For SQLite the indexes decide.
        """
        if not self.is_sqlite:
            with self.write() as connection:
                connection.exec_driver_sql(f"ANALYZE {', '.join(metadata.tables)}")

    @contextmanager
    def store_errors(self) -> Iterator[None]:
        """Turn full disks, lost connections, files and tables into `StoreError`; other errors are our bugs.

        What may pass, such as a server that was stopped, or too many connections in use, is `StoreUnavailable`.
        """
        try:
            yield
        except (PoolTimeout, DBAPIError) as error:
            if (found := _store_error(error, self.name)) is None:
                raise
            raise found from error

    def close(self) -> None:
        self.engine.dispose()


def lock_name(connection: Connection, name: str) -> None:
    """Keep others that lock the *name* waiting until the end of the transaction; SQLite has one writer at a time."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name})


def shown_url(url: URL) -> str:
    """Return *url* without its secrets, of which the query may have some, too."""
    secrets = {name: "***" for name in url.query if name.lower() in _SECRETS}
    return url.update_query_dict(secrets).render_as_string(hide_password=True)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:  # the last one: of a port that is not a number
        raise ConfigError(
            f"DATABASE_URL={url!r} is not a database URL; write for example sqlite:///crawl.sqlite "
            "or postgresql+psycopg://user:password@host/name"
        ) from error
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise ConfigError(f"DATABASE_URL={url!r}: only sqlite and postgresql are supported")
    if parsed.get_backend_name() == "postgresql" and parsed.get_driver_name() != "psycopg":
        other = shown_url(parsed.set(drivername="postgresql+psycopg"))
        raise ConfigError(f"DATABASE_URL: PostgreSQL needs the driver psycopg; write {other}")
    return parsed


def is_missing(url: str) -> bool:
    """Return whether *url* names an SQLite file that does not exist, so that a `Database` would create it."""
    path = store_path(url)
    return path is not None and not path.exists()


def store_path(url: str) -> Path | None:
    """Return the SQLite file that *url* names; *None* for a server. Raises `ConfigError`."""
    parsed = _parsed(url)
    return Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


def _check_file(url: URL, create: bool) -> None:
    if not url.database or url.database.startswith((":memory:", "file:")) or url.query.get("mode") == "memory":
        raise ConfigError(
            "DATABASE_URL does not name a file; a database in memory can't be resumed: name a file, for example "
            "sqlite:///crawl.sqlite"
        )
    path = Path(url.database)
    if path.suffix in CODE:
        raise ConfigError(f"DATABASE_URL: {path} may be run as code; write for example sqlite:///crawl.sqlite")
    if path.exists():
        if path.is_dir():
            raise ConfigError(f"DATABASE_URL: {path} is a folder; name a file in it")
        return
    if not create:
        raise ConfigError(
            f"DATABASE_URL: {path.absolute()} does not exist; crawl first ({first_crawl()}), or name the right file"
        )
    if not path.parent.is_dir():
        raise ConfigError(f"DATABASE_URL: the folder {path.parent} does not exist; create it first")


def _server_engine(url: URL, silence_s: float) -> Engine:
    try:
        from crawlers.store.server_connection import server_engine
    except ImportError as error:
        raise ConfigError(f"DATABASE_URL: {error}; install psycopg: pip install 'psycopg[binary]'") from error
    return server_engine(url, silence_s)


def _sqlite_engine(url: URL, may_create: Callable[[], bool]) -> Engine:
    options = {"timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False, "uri": True}
    engine = create_engine(url, connect_args=options, pool_use_lifo=True)  # else each one would have a full cache
    file = Path(url.database or "").absolute().as_uri()

    @event.listens_for(engine, "do_connect")
    def _name(_dialect: Any, _record: Any, arguments: list[Any], _options: Any) -> None:
        arguments[0] = f"{file}?mode={'rwc' if may_create() else 'rw'}"

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun explicitly, see _begin
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            f"cache_size=-{CACHE_KIB}",
            "temp_store=FILE",  # sorting large graphs must not fill the memory
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that starts with a read and writes later fails at once if another connection wrote
        # in between (SQLITE_BUSY_SNAPSHOT, whatever the timeout). So writers take the lock first.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


class StoreCheck:
    """Compares the store with what it was at first. Raises `StoreError`.

    The files of SQLite are compared by `stat` only. Opening and closing them would drop the locks that SQLite holds on
    them (sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._identities: dict[str, tuple[int, int]] = {}
        self._size = 0
        self()

    def __call__(self) -> None:
        """Raise `StoreError` if files or tables of the store are lost. Takes less than a millisecond."""
        path = self._database.path
        if path is not None:
            # As long as a connection is open, SQLite neither removes nor replaces any of these files.
            for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                self._compare(part)
            self._check_size(path)
        with self._database.read() as connection:
            missing = metadata.tables.keys() - set(inspect(connection).get_table_names())
        if missing:
            raise StoreError(self._lost(f"has no table {min(missing)} any more"))

    def _compare(self, part: Path) -> None:
        identity = identity_of(part)
        if identity is None and part.name in self._identities:
            raise StoreError(self._lost(f"is lost: {part} was removed"))
        if identity is not None and self._identities.setdefault(part.name, identity) != identity:
            raise StoreError(self._lost(f"is lost: {part} was replaced by another file"))

    def _check_size(self, path: Path) -> None:
        size = path.stat().st_size
        if size < self._size and size < self._wanted_size():
            raise StoreError(self._lost(f"is damaged: {path} was cut from {self._size:,} to {size:,} bytes"))
        self._size = size

    def _wanted_size(self) -> int:
        """Return the size of the file after a checkpoint, which is smaller after a vacuum by another process."""
        try:
            with self._database.read() as connection:
                pages = connection.execute(
                    text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                )
                return int(pages.scalar_one())
        except StoreError:
            return self._size  # not even the first page can be read

    def _lost(self, what: str) -> str:
        return (
            f"{self._database.name} {what}, so the crawl was stopped; restore it and run the same command again, or "
            "remove what is left of it to begin anew"
        )


def _opening_error(error: DatabaseError, name: str) -> ConfigError:
    """Return the error of the database *name* that can't be opened; a `StoreUnreachable` if that may pass."""
    kind = StoreUnreachable if _may_pass(error) else ConfigError
    return kind(f"DATABASE_URL={name}{_problem(error)}")


def _store_error(error: PoolTimeout | DBAPIError, name: str) -> StoreError | None:
    """Return the error of the open database *name*, see `Database.store_errors`; None if *error* is a bug of ours."""
    if not isinstance(error, DBAPIError):
        return StoreUnavailable(f"{name}: all connections of this process are in use; try again in a moment")
    may_pass = _may_pass(error)
    is_missing = _sqlstate(error) in (_NO_TABLE, _NO_COLUMN)
    if not (may_pass or is_missing or type(error) in (OperationalError, DatabaseError, InterfaceError)):
        return None
    kind = StoreUnavailable if may_pass else StoreError
    return kind(f"{name} failed: {_cause(error)}; {_remedy(error)}, then run the same command again")


def _problem(error: DatabaseError) -> str:
    if not isinstance(error.orig, sqlite3.Error):
        return f": {_cause(error)}; check that it is a database, that it can be written, and that the server runs"
    kind = _sqlite_kind(error.orig)
    if kind == sqlite3.SQLITE_BUSY:
        return " is locked by another process that writes much; wait for it, then run the same command again"
    if kind == sqlite3.SQLITE_NOTADB:
        return " is not an SQLite database; name another file"
    if kind == sqlite3.SQLITE_CORRUPT:
        return f": {_cause(error)}; restore or repair the file, or move it away to begin anew"
    return f": {_cause(error)}; check that the file and its folder can be read and written"


def _may_pass(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        return _sqlite_kind(error.orig) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    state = _sqlstate(error)
    has_failed_without_code = not state and type(error) is OperationalError
    return error.connection_invalidated or state.startswith(_PASSING) or has_failed_without_code


def _sqlstate(error: DBAPIError) -> str:
    """Return the code of an error of PostgreSQL; "" if there is none."""
    orig: Any = error.orig
    return "" if isinstance(orig, sqlite3.Error) else orig.sqlstate or ""


def _remedy(error: DBAPIError) -> str:
    if _sqlstate(error) == _NO_COLUMN or "no such column" in str(error.orig):
        return "another version of this program may have changed it: end this one"
    if _sqlstate(error) == _NO_TABLE or "no such table" in str(error.orig):
        return "committed data is safe in the other tables: restore the lost one"
    if not isinstance(error.orig, sqlite3.Error):
        return "committed data is safe: check that the server runs and has free space"
    kind = _sqlite_kind(error.orig)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "committed data is safe: let the other process end its transaction"
    if kind == sqlite3.SQLITE_CANTOPEN:
        return "check that the file is there, and that it and its folder can be read and written"
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return "committed data is safe: make the file and its folder writable"
    if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return "restore or repair the file"
    return "committed data is safe: free some space or repair the database"


def _sqlite_kind(error: sqlite3.Error) -> int:
    try:
        return error.sqlite_errorcode & 0xFF  # without the details of the extended code
    except AttributeError:  # raised by Python's module
        return sqlite3.SQLITE_ERROR


def _cause(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if error.orig else str(error)
