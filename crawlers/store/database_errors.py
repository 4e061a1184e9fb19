"""What errors of the database mean for people: what is wrong, whether it may pass, and what to do."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError

from crawlers.errors import ConfigError, StoreError, StoreUnavailable, StoreUnreachable

if TYPE_CHECKING:
    from sqlalchemy.exc import TimeoutError as PoolTimeout

# Codes of PostgreSQL (SQLSTATE, or its class) for what has nothing to do with the statement and may pass: connections
# that fail, deadlocks and the end of idle transactions, which leave nothing behind, and servers that stop or start.
_PASSING = ("08", "25P03", "40P01", "53300", "57P01", "57P02", "57P03", "57P05")
_NO_TABLE, _NO_COLUMN = "42P01", "42703"


def opening_error(error: DatabaseError, name: str) -> ConfigError:
    """Return the error of the database *name* that can't be opened; a `StoreUnreachable` if that may pass."""
    kind = StoreUnreachable if _may_pass(error) else ConfigError
    return kind(f"DATABASE_URL={name}{_problem(error)}")


def store_error(error: PoolTimeout | DBAPIError, name: str) -> StoreError | None:
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
