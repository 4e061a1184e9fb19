"""Writes a change set's rows with one statement a table, on SQLite and on PostgreSQL.

The rows of a batch go to the database as one JSON text that the statement itself takes apart. So the
driver is called once a table, and Python's lock is free while the database works: `executemany` would
ask for the lock back after every row, which starves a writer thread beside a busy crawl.

It is also the one place where texts of the web are made fit for a database: see `_storable`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from crawlers.storage import change_set as u

if TYPE_CHECKING:
    from sqlalchemy import Connection

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it; an even number of backslashes before it
_SURROGATE = re.compile("[\ud800-\udfff]")

Columns = tuple[tuple[str, str], ...]


def write_changes(connection: Connection, changes: u.ChangeSet) -> None:
    """Write all rows of *changes* within the connection's transaction."""
    statements = _STATEMENTS[connection.dialect.name]
    for name, statement in statements.items():
        rows = getattr(changes, name)
        if name in _LAST_COUNTS:
            # Of several rows that match, an UPDATE takes any: it must see the last one of each page only.
            width = _KEY_COLUMNS.get(name, 1)
            rows = list({tuple(row[:width]): row for row in rows}.values())
        if rows:
            connection.exec_driver_sql(statement, (_storable(json.dumps(rows, ensure_ascii=False)),))
    if changes.links:
        _write_links(connection, changes.links)


def _write_links(connection: Connection, links: list[u.Row]) -> None:
    """Most links stand once on their page: these are lists of numbers, a quarter of the work of rows."""
    once = {source: sorted(t for t, count in targets.items() if count == 1) for source, targets in links}
    repeated = [[source, t, n] for source, targets in links for t, n in targets.items() if n > 1]
    statement_once, statement_repeated = _LINK_STATEMENTS[connection.dialect.name]
    connection.exec_driver_sql(statement_once, (json.dumps(once),))
    if repeated:
        connection.exec_driver_sql(statement_repeated, (json.dumps(repeated),))


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
    return f"INSERT INTO {table} ({names}) {rows}{conflict}"


def _upsert(table: str, columns: Columns, rows: str, key_columns: int = 1) -> str:
    key = ", ".join(name for name, _ in columns[:key_columns])
    changes = ", ".join(f"{name} = excluded.{name}" for name, _ in columns[key_columns:])
    return f"{_insert(table, columns, rows)} WHERE true ON CONFLICT ({key}) DO UPDATE SET {changes}"


def _owned(feeds: str) -> str:
    return f"SELECT seed.id, f.url, f.kind, false FROM ({feeds}) AS f JOIN seed ON seed.site = f.site"  # noqa: S608


def _delete(table: str, columns: Columns, rows: str) -> str:
    names = ", ".join(name for name, _ in columns)
    return f"DELETE FROM {table} WHERE ({names}) IN ({rows})"  # noqa: S608


def _update(table: str, columns: Columns, rows: str) -> str:
    changes = [f"{name} = r.{name}" for name, _ in columns[1:]]
    return f"UPDATE {table} SET {', '.join(changes)} FROM ({rows}) AS r WHERE {table}.id = r.id"  # noqa: S608


def _statements(dialect: str) -> dict[str, str]:
    sqlite = dialect == "sqlite"
    rows = _sqlite_rows if sqlite else _postgresql_rows
    return {
        # What an earlier visit left goes before what this one brought.
        "lost_links": _delete("link", _LINK[:2], rows(_LINK[:2])),
        "forgotten": _delete("bad_link", u.BAD_LINK[:1], rows(u.BAD_LINK[:1])),
        "new_pages": _insert("page", u.NEW_PAGE, rows(u.NEW_PAGE)),
        "waiting_pages": _update("page", u.WAITING_PAGE, rows(u.WAITING_PAGE)),
        "ended_pages": _update("page", u.ENDED_PAGE, rows(u.ENDED_PAGE)),
        "external_urls": _insert("external_url", u.EXTERNAL_URL, rows(u.EXTERNAL_URL), skip_known=True),
        "link_contexts": _insert("link_context", u.LINK_CONTEXT, rows(u.LINK_CONTEXT), skip_known=True),
        "external_links": _insert("external_link", u.EXTERNAL_LINK, rows(u.EXTERNAL_LINK), skip_known=True),
        "bad_links": _insert("bad_link", u.BAD_LINK, rows(u.BAD_LINK)),
        "link_groups": _insert("link_group", u.LINK_GROUP, rows(u.LINK_GROUP)),
        "counted_keys": _insert("counted_key", u.COUNTED_KEY, rows(u.COUNTED_KEY), skip_known=True),
        "pulls": _insert("pull", u.PULL, rows(u.PULL)),
        "seen_again": _update("page", u.SEEN_AGAIN, rows(u.SEEN_AGAIN)),
        "page_changes": _insert("page_change", u.PAGE_CHANGE, rows(u.PAGE_CHANGE)),
        "link_changes": _insert("link_change", u.LINK_CHANGE, rows(u.LINK_CHANGE)),
        "importance": _upsert("importance", u.IMPORTANCE, rows(u.IMPORTANCE)),
        "relevance": _upsert("relevance", u.RELEVANCE, rows(u.RELEVANCE)),
        "news_score": _upsert("news_score", u.NEWS_SCORE, rows(u.NEWS_SCORE)),
        "polls": _upsert("poll", u.POLL, rows(u.POLL)),
        "feeds": _insert("feed", _OWNED_FEED, _owned(rows(u.FEED)), skip_known=True),
        "feed_items": _insert("feed_item", u.FEED_ITEM, rows(u.FEED_ITEM), skip_known=True),
        "page_labels": _upsert("page_label", u.PAGE_LABEL, rows(u.PAGE_LABEL)),
        "document_versions": _insert("document_version", u.DOCUMENT_VERSION, rows(u.DOCUMENT_VERSION), skip_known=True),
        "documents": _upsert("document", u.DOCUMENT, rows(u.DOCUMENT)),
        "document_keys": _insert("document_key", u.DOCUMENT_KEY, rows(u.DOCUMENT_KEY), skip_known=True),
        "document_bands": _insert("document_band", u.DOCUMENT_BAND, rows(u.DOCUMENT_BAND), skip_known=True),
        "iterations": _upsert("iteration", u.ITERATION, rows(u.ITERATION), _KEY_COLUMNS["iterations"]),
        "topic_pages": _upsert("topic_page", u.TOPIC_PAGE, rows(u.TOPIC_PAGE)),
        "link_texts": _insert("link_text", u.LINK_TEXT, rows(u.LINK_TEXT), skip_known=True),
        "order_totals": _upsert("order_totals", u.ORDER_TOTALS, rows(u.ORDER_TOTALS)),
        "site_robots": _update("site", u.SITE_ROBOTS, rows(u.SITE_ROBOTS)),
        "site_availability": _update("site", u.SITE_AVAILABILITY, rows(u.SITE_AVAILABILITY)),
        "site_rules": _update("site", u.SITE_RULES, rows(u.SITE_RULES)),
    }


_KEY_COLUMNS = {"iterations": 2}  # of others that are replaced, the first column is the key
_REPLACED = (
    "importance", "relevance", "news_score", "polls", "page_labels", "documents", "iterations", "topic_pages",
    "order_totals",
)  # fmt: skip
_LAST_COUNTS = frozenset(
    (*_REPLACED, "waiting_pages", "ended_pages", "seen_again", "site_robots", "site_availability", "site_rules")
)
_OWNED_FEED = (("seed_id", "integer"), ("url", "text"), ("kind", "text"), ("is_given", "boolean"))
_LINK = (("source_id", "bigint"), ("target_id", "bigint"), ("count", "integer"))
_LINK_STATEMENTS = {
    "sqlite": (
        "INSERT INTO link (source_id, target_id, count) SELECT CAST(p.key AS INTEGER), t.value, 1 "
        "FROM json_each(?) AS p, json_each(p.value) AS t",
        _insert("link", _LINK, _sqlite_rows(_LINK)),
    ),
    "postgresql": (
        "INSERT INTO link (source_id, target_id, count) SELECT p.key::bigint, t.value::bigint, 1 "
        "FROM jsonb_each(%s::jsonb) AS p, jsonb_array_elements_text(p.value) AS t",
        _insert("link", _LINK, _postgresql_rows(_LINK)),
    ),
}
_STATEMENTS = {dialect: _statements(dialect) for dialect in ("sqlite", "postgresql")}
