"""Writes a unit's rows with one statement a table, on SQLite and on PostgreSQL.

The rows of a batch go to the database as one JSON text that the statement itself takes apart. So the
driver is called once a table, and Python's lock is free while the database works: `executemany` would
ask for the lock back after every row, which starves a writer thread beside a busy crawl.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawlers.storage import unit as u

if TYPE_CHECKING:
    from sqlalchemy import Connection

Columns = tuple[tuple[str, str], ...]


def write_unit(connection: Connection, unit: u.Unit) -> None:
    """Write all rows of *unit* within the connection's transaction."""
    statements = _STATEMENTS[connection.dialect.name]
    for name, statement in statements.items():
        rows = getattr(unit, name)
        if rows:
            connection.exec_driver_sql(statement, (json.dumps(rows, ensure_ascii=False),))


def _sqlite_rows(columns: Columns) -> str:
    # `->>` is not in the SQLite of older distributions, json_extract is.
    values = ", ".join(f"json_extract(value, '$[{i}]') AS {name}" for i, (name, _) in enumerate(columns))
    return f"SELECT {values} FROM json_each(?)"  # noqa: S608 - names of our own columns


def _postgresql_rows(columns: Columns) -> str:
    values = ", ".join(f"(value->>{i})::{type_} AS {name}" for i, (name, type_) in enumerate(columns))
    return f"SELECT {values} FROM jsonb_array_elements(%s::jsonb)"  # noqa: S608


def _insert(table: str, columns: Columns, rows: str, *, skip_known: bool = False) -> str:
    names = ", ".join(name for name, _ in columns)
    # "WHERE true" keeps SQLite from reading ON CONFLICT as part of a join.
    conflict = " WHERE true ON CONFLICT DO NOTHING" if skip_known else ""
    return f"INSERT INTO {table} ({names}) {rows}{conflict}"  # noqa: S608


def _update(table: str, columns: Columns, rows: str, *extra: str) -> str:
    changes = [f"{name} = r.{name}" for name, _ in columns[1:]] + list(extra)
    return f"UPDATE {table} SET {', '.join(changes)} FROM ({rows}) AS r WHERE {table}.id = r.id"  # noqa: S608


def _statements(dialect: str) -> dict[str, str]:
    sqlite = dialect == "sqlite"
    rows = _sqlite_rows if sqlite else _postgresql_rows
    links = (
        "SELECT json_extract(p.value, '$[0]'), CAST(t.key AS INTEGER), t.value "
        "FROM json_each(?) AS p, json_each(p.value, '$[1]') AS t"
        if sqlite
        else "SELECT (p.value->>0)::bigint, t.key::bigint, t.value::integer "
        "FROM jsonb_array_elements(%s::jsonb) AS p, jsonb_each_text(p.value->1) AS t"
    )
    return {
        "new_pages": _insert("page", u.NEW_PAGE, rows(u.NEW_PAGE)),
        # A page may be found again twice within one batch: the last row is the best one.
        "waiting_pages": _update("page", u.WAITING_PAGE, rows(u.WAITING_PAGE), "state = 0"),
        "ended_pages": _update("page", u.ENDED_PAGE, rows(u.ENDED_PAGE)),
        "links": f"INSERT INTO link (source_id, target_id, count) {links}",
        "external_urls": _insert(
            "external_url", u.EXTERNAL_URL, rows(u.EXTERNAL_URL), skip_known=True
        ),
        "link_contexts": _insert(
            "link_context", u.LINK_CONTEXT, rows(u.LINK_CONTEXT), skip_known=True
        ),
        "external_links": _insert("external_link", u.EXTERNAL_LINK, rows(u.EXTERNAL_LINK)),
        "bad_links": _insert("bad_link", u.BAD_LINK, rows(u.BAD_LINK)),
        "site_robots": _update("site", u.SITE_ROBOTS, rows(u.SITE_ROBOTS)),
        "site_availability": _update("site", u.SITE_AVAILABILITY, rows(u.SITE_AVAILABILITY)),
    }


_STATEMENTS = {dialect: _statements(dialect) for dialect in ("sqlite", "postgresql")}
