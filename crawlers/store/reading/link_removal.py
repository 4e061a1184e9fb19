"""Deletes chosen links of a crawl. What was decided by them stays: levels, pulls and their rewards, importance.

Rows that others may share stay: URLs of other sites (`external_url`), texts of links (`link_context`). A crawl records
how many of its links were deleted, so that nobody takes what is left for what was found.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, bindparam, delete, select

from crawlers.errors import ConfigError
from crawlers.store.locks import is_free
from crawlers.store.reading.crawl_settings import record, setting_of
from crawlers.store.schema.score_tables import link_change, link_text
from crawlers.store.schema.tables import (
    bad_link,
    crawl,
    external_link,
    link,
    link_anchor,
    page,
    site,
    worker,
)
from crawlers.store.worker_rows import ACTIVE, lock_crawl
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from sqlalchemy import Column, ColumnElement, Connection

    from crawlers.store.database import Database

RECORD = "DELETED_LINKS"  # what was deleted, stored like a setting of the crawl


class DeletedLinks(NamedTuple):
    """The number of links of one kind that were deleted by hand, and when this was done last."""

    kind: str  # external, internal, bad
    number: int
    at: float  # seconds since 1970


def crawls_with_workers(database: Database, connection: Connection, is_wanted: ColumnElement[bool]) -> list[str]:
    """Return the names of those of the wanted crawls on which a worker works: nobody else may write then."""
    working = select(crawl.c.name, worker.c.id).join(worker, worker.c.crawl_id == crawl.c.id)
    rows = connection.execute(working.where(is_wanted, worker.c.state == ACTIVE)).all()
    return [name for name, number in rows if not is_free(database, number)]


def lock_idle_crawls(database: Database, connection: Connection, crawl_ids: Iterable[int]) -> list[str]:
    """Let no worker join these crawls until the end of the transaction; return the names of those that have some."""
    numbers = sorted(crawl_ids)
    for number in numbers:
        lock_crawl(connection, number)
    return crawls_with_workers(database, connection, crawl.c.id.in_(numbers))


def remove_links(database: Database, crawl_id: int, kind: str, keys: Sequence[tuple[int, ...]], now: float) -> int:
    """Delete the links of a *kind* (external, internal, bad) with these *keys*; return how many there were.

    The first number of a key is that of the page with the link; pages of other crawls are left alone. Raises
    `ConfigError` if a worker works on the crawl.
    """
    with database.write() as connection:
        if working := lock_idle_crawls(database, connection, [crawl_id]):
            raise ConfigError(f"the crawl {working[0]} is running; stop it first, then delete links")
        # Joined, SQLite would read all pages of the crawl.
        of_keys = select(page.c.id, page.c.site_id).where(page.c.id.in_({key[0] for key in keys}))
        sites = {page_id: site_id for page_id, site_id in connection.execute(of_keys)}
        of_crawl = select(site.c.id).where(site.c.id.in_(set(sites.values())), site.c.crawl_id == crawl_id)
        own = set(connection.execute(of_crawl).scalars())
        number = _REMOVALS[kind](connection, [key for key in keys if sites.get(key[0]) in own])
        if number:
            known = {one.kind: one for one in deleted_links(connection, crawl_id)}
            before = known[kind].number if kind in known else 0
            known[kind] = DeletedLinks(kind, before + number, now)
            record(connection, crawl_id, {RECORD: json.dumps(list(known.values()))})
    return number


def deleted_links(connection: Connection, crawl_id: int) -> list[DeletedLinks]:
    """Return which links of a crawl were deleted by hand."""
    text = connection.scalar(setting_of(crawl_id, RECORD))
    return [DeletedLinks(*one) for one in json.loads(text)] if text else []


def _remove_external(connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
    """Delete links to other sites, given as (page, URL, context); return their number."""
    return remove_rows(connection, list(external_link.primary_key), keys)


def _remove_internal(connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
    """Delete links within the crawl, given as (source, target), with their texts and earlier counts."""
    for table in (link_anchor, link_text, link_change):
        remove_rows(connection, [table.c.source_id, table.c.target_id], keys)
    return remove_rows(connection, list(link.primary_key), keys)


def _remove_bad(connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
    """Delete links that can't be followed, given as (page, `bad_link_key`); return their number."""
    wanted = set(keys)
    stored = select(bad_link.c.page_id, bad_link.c.raw, bad_link.c.reason).where(
        bad_link.c.page_id.in_({page_id for page_id, _ in wanted})
    )
    found = [
        tuple(one) for one in connection.execute(stored) if (one.page_id, bad_link_key(one.raw, one.reason)) in wanted
    ]
    return remove_rows(connection, [bad_link.c.page_id, bad_link.c.raw, bad_link.c.reason], found)


_REMOVALS = {"external": _remove_external, "internal": _remove_internal, "bad": _remove_bad}


def remove_rows(connection: Connection, columns: Sequence[Column[Any]], keys: Sequence[tuple[Any, ...]]) -> int:
    """Delete the rows with these values of *columns* of a table, which an index leads to; return their number.

    One statement for each key: SQLite reads the whole table for a list of keys with several columns.
    """
    if not keys:
        return 0
    names = [f"_{column.name}" for column in columns]
    is_it = and_(*(column == bindparam(name) for column, name in zip(columns, names, strict=True)))
    rows = [dict(zip(names, key, strict=True)) for key in keys]
    return connection.execute(delete(columns[0].table).where(is_it), rows).rowcount


def bad_link_key(raw: str, reason: str) -> int:
    """Return a number by which a link that is no URL is known on its page."""
    return url_key(f"{raw}\n{reason}")
