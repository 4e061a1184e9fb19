"""Writes a change set's rows with one statement a row type, on SQLite and on PostgreSQL.

The rows of a batch go to the database as one JSON text that the statement itself takes apart. So the
driver is called once a row type, and Python's lock is free while the database works: `executemany` would
ask for the lock back after every row, which starves a writer thread beside a busy crawl.

It is also the one place where texts of the web are made fit for a database: see `_storable`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING

from crawlers.storage.schema.rows import DELETE, INSERT_NEW, UPDATE, UPSERT, Row, write_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.schema.rows import Write

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it; an even number of backslashes before it
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
    for kind in sorted(changes, key=_place):
        rows, write = changes[kind], write_of(kind)
        if write.mode in (UPDATE, UPSERT):
            # Of several rows that match, an UPDATE takes any: it must see the last one of each key only.
            rows = list({row[: write.key]: row for row in rows}.values())
        statement = _statement(kind, connection.dialect.name)
        connection.exec_driver_sql(statement, (_storable(json.dumps(rows, ensure_ascii=False)),))


@cache
def _place(kind: type[Row]) -> tuple[int, bool, int]:
    """When rows of that type are written: after those that their table refers to, what goes before what comes."""
    write = write_of(kind)
    return write.table.metadata.sorted_tables.index(write.table), write.mode is not DELETE, write.number


def _storable(text: str) -> str:
    """Put U+FFFD, as HTML parsers do, in place of what a database can't hold.

    Titles, anchors and raw links come from decoders and parsers, reasons from exceptions, content types
    from headers: any of them may bring NUL, which PostgreSQL refuses, or a lone surrogate, which is no UTF-8.
    """
    if "\\u0000" in text:
        text = _NUL.sub("\\1\ufffd", text)
    try:
        text.encode()  # five times as fast as a search for what it would refuse
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
        is_it = " AND ".join(f"{table}.{name} = r.{name}" for name in key)
        return f"UPDATE {table} SET {_assigned(values, 'r')} FROM ({rows}) AS r WHERE {is_it}"  # noqa: S608
    insert = f"INSERT INTO {table} ({names}) {rows}"
    # "WHERE true" keeps SQLite from reading ON CONFLICT as part of a join.
    if write.mode is INSERT_NEW:
        return f"{insert} WHERE true ON CONFLICT DO NOTHING"
    if write.mode is UPSERT:
        return f"{insert} WHERE true ON CONFLICT ({', '.join(key)}) DO UPDATE SET {_assigned(values, 'excluded')}"
    return insert


def _assigned(names: tuple[str, ...], source: str) -> str:
    return ", ".join(f"{name} = {source}.{name}" for name in names)


def _sqlite_rows(write: Write) -> str:
    # `->>` is not in the SQLite of older distributions, json_extract is.
    values = ", ".join(f"json_extract(value, '$[{i}]') AS {name}" for i, name in enumerate(write.types))
    return f"SELECT {values} FROM json_each(?)"  # noqa: S608


def _postgresql_rows(write: Write) -> str:
    values = (f"{_POSTGRESQL_TYPES[type_].format(i)} AS {name}" for i, (name, type_) in enumerate(write.types.items()))
    return f"SELECT {', '.join(values)} FROM jsonb_array_elements(%s::jsonb)"  # noqa: S608
