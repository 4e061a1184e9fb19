"""Writes the rows of a change set, with one statement per row type, on SQLite and PostgreSQL.

The rows of a batch are sent as one JSON text, which the statement unpacks. The driver is called once per row
type (and `MOST_ROWS`), and the GIL is released while the database works; `executemany` would take the GIL after every
row, which starves a writer thread beside a busy crawl.

Text from the web is made storable only here, see `_storable`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING

from crawlers.store.schema.rows import DELETE, INSERT_NEW, UPDATE, UPSERT, Row, write_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.store.schema.rows import Write
    from crawlers.store.writing.change_set import ChangeSet

MOST_ROWS = 1_000  # in one text: while it is made, 4 ms, no other thread runs
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as escaped in JSON, after an even number of backslashes
_SURROGATE = re.compile("[\ud800-\udfff]")
_POSTGRESQL_TYPES = {
    int: "(value->>{})::bigint",
    float: "(value->>{})::float",
    str: "value->>{}",
    bool: "(value->>{})::boolean",
    dict: "value->{}",
}


def write_changes(connection: Connection, changes: ChangeSet) -> None:
    """Write all rows of *changes* within the connection's transaction."""
    for kind in sorted(changes, key=_write_order):
        rows, write = changes[kind], write_of(kind)
        if write.function is not None:
            write.function(connection, rows)
            continue
        if write.mode in (UPDATE, UPSERT):
            # An UPDATE applies an arbitrary one of several matching rows, so only the last row of each key is kept.
            rows = list({row[: write.key]: row for row in rows}.values())
        if write.mode is INSERT_NEW:
            # Many pages link to the same external URLs. Two workers that insert the same rows in PostgreSQL wait for
            # each other: in one order only.
            if write.select[connection.dialect.name] == "{rows}":  # else a query makes the key of each row
                rows = list({row[: write.key]: row for row in reversed(rows)}.values())
            rows = sorted(rows, key=lambda row: row[: write.key])
        statement = _statement(kind, connection.dialect.name)
        for first in range(0, len(rows), MOST_ROWS):
            some = rows[first : first + MOST_ROWS]
            connection.exec_driver_sql(statement, (_storable(json.dumps(some, ensure_ascii=False)),))


@cache
def _write_order(kind: type[Row]) -> tuple[int, bool, int]:
    """Return the sort key of a row type: referenced tables come first, and deletions precede insertions."""
    write = write_of(kind)
    return write.table.metadata.sorted_tables.index(write.table), write.mode is not DELETE, write.number


def _storable(text: str) -> str:
    """Return *text* with U+FFFD, as in HTML parsers, in place of each character that a database can't hold.

    Titles, anchors and raw links come from decoders and parsers, reasons from exceptions, content types
    from headers. Any of them may contain NUL, which PostgreSQL rejects, or a lone surrogate, which is not valid UTF-8.
    """
    if "\\u0000" in text:
        text = _NUL.sub("\\1\ufffd", text)
    try:
        text.encode()  # five times as fast as a search for surrogates
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
    return text


@cache
def _statement(kind: type[Row], dialect: str) -> str:
    write = write_of(kind)
    table, names = write.table.name, ", ".join(write.columns)
    rows = write.select[dialect].format(rows=_sqlite_rows(write) if dialect == "sqlite" else _postgresql_rows(write))
    if write.mode is DELETE:
        return f"DELETE FROM {table} WHERE ({names}) IN ({rows})"  # noqa: S608 - names of our own tables and columns
    key, values = write.columns[: write.key], write.columns[write.key :]
    if write.mode is UPDATE:
        same_key = " AND ".join(f"{table}.{name} = r.{name}" for name in key)
        return f"UPDATE {table} SET {_assignments(values, 'r')} FROM ({rows}) AS r WHERE {same_key}"  # noqa: S608
    insert = f"INSERT INTO {table} ({names}) {rows}"
    # "WHERE true" keeps SQLite from reading ON CONFLICT as part of a join.
    if write.mode is INSERT_NEW:
        return f"{insert} WHERE true ON CONFLICT DO NOTHING"
    if write.mode is UPSERT:
        return f"{insert} WHERE true ON CONFLICT ({', '.join(key)}) DO UPDATE SET {_assignments(values, 'excluded')}"
    return insert


def _assignments(names: tuple[str, ...], source: str) -> str:
    return ", ".join(f"{name} = {source}.{name}" for name in names)


def _sqlite_rows(write: Write) -> str:
    # Older distributions ship an SQLite without `->>`.
    values = ", ".join(f"json_extract(value, '$[{i}]') AS {name}" for i, name in enumerate(write.fields))
    return f"SELECT {values} FROM json_each(?)"  # noqa: S608


def _postgresql_rows(write: Write) -> str:
    values = (f"{_POSTGRESQL_TYPES[type_].format(i)} AS {name}" for i, (name, type_) in enumerate(write.types.items()))
    return f"SELECT {', '.join(values)} FROM jsonb_array_elements(%s::jsonb)"  # noqa: S608
