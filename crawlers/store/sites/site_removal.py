"""Deletes a site of the list of seeds with everything that crawls stored of it.

Rows that others may share stay: URLs of other sites (`external_url`), texts of links (`link_context`). Pages of other
sites keep the numbers of its pages to which they redirect, or on which they were found: no index leads to them. Numbers
of pages and sites are never used again, so they lead nowhere.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, or_, select, update

from crawlers.errors import ConfigError
from crawlers.mission import mission_named
from crawlers.store.reading.link_removal import crawls_with_workers, lock_idle_crawls, remove_rows
from crawlers.store.schema.tables import crawl, external_link, link, metadata, page, seed, site
from crawlers.store.sites.seeds import delete_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select, Table

    from crawlers.store.database import Database

MOST_COUNTED = 100_000  # rows of a kind, before a person decides
ROWS_AT_ONCE = 2000  # some 50 ms of a transaction
PAUSE_S = 0.05  # between two of them: those who wait for an SQLite file look about every 0.1 s whether it is free


class SiteRows(NamedTuple):
    """What the store has of a site, in all crawls; each number is at most `MOST_COUNTED`."""

    crawls: int
    pages: int
    links: int
    external_links: int

    @property
    def is_more(self) -> bool:
        """Whether there may be more rows than were counted."""
        return max(self) == MOST_COUNTED


def rows_of_site(database: Database, name: str) -> SiteRows:
    """Return the numbers of rows that `remove_site` deletes of the site *name*.

    Links are counted of the first `MOST_COUNTED` pages, so a large site does not let its reader wait.
    """
    sites = _sites(name)
    pages = select(page.c.id).where(page.c.site_id.in_(sites)).limit(MOST_COUNTED)
    counted = (
        select(site.c.id).where(site.c.site == name),
        pages,
        select(link.c.source_id).where(link.c.source_id.in_(pages.subquery().select())),
        select(external_link.c.page_id).where(external_link.c.page_id.in_(pages.subquery().select())),
    )
    with database.read() as connection:
        return SiteRows(
            *(
                connection.execute(select(func.count()).select_from(rows.limit(MOST_COUNTED).subquery())).scalar_one()
                for rows in counted
            )
        )


def crawls_at_work(database: Database, name: str) -> list[str]:
    """Return the names of the crawls of the site *name* on which a worker works: nobody else may write then."""
    with database.read() as connection:
        return crawls_with_workers(database, connection, crawl.c.id.in_(_crawls(name)))


def remove_site(database: Database, name: str) -> None:
    """Delete the seed of the site *name*, and its pages and links in all crawls.

    Other crawls of the store write between the transactions, of which each deletes few rows. The site itself goes last,
    so a deletion that was interrupted can be repeated. Raises `ConfigError` if a worker works on one of the crawls.
    """
    with database.read() as connection:
        sites = list(connection.execute(_sites(name)).scalars())
        missions = set(connection.execute(select(crawl.c.mission).where(crawl.c.id.in_(_crawls(name)))).scalars())
    is_linked = not all(mission_named(mission).stays_within_sites for mission in missions)
    of_site = select(page.c.id).where(page.c.site_id.in_(sites))
    for table in metadata.sorted_tables:
        if table not in (page, site, seed) and (where := _of_site(table, sites, of_site, is_linked=is_linked)):
            _remove(database, name, table, or_(*where))
    _remove(database, name, page, page.c.site_id.in_(sites))
    with _idle(database, name) as connection:
        connection.execute(update(site).where(site.c.source_id.in_(sites)).values(source_id=None))
        connection.execute(delete(site).where(site.c.id.in_(sites)))
        delete_seeds(connection, seed.c.site == name)


def _remove(database: Database, name: str, table: Table, where: ColumnElement[bool]) -> None:
    """Delete these rows, `ROWS_AT_ONCE` in a transaction; they are read outside of it, because that may take long."""
    columns = list(table.primary_key) or [table.c.page_id]
    streamed = {"yield_per": ROWS_AT_ONCE}
    with (
        database.read() as reading,
        closing(reading.execute(select(*columns).where(where), execution_options=streamed)) as rows,
    ):
        for number, keys in enumerate(rows.partitions(ROWS_AT_ONCE)):
            if number:
                time.sleep(PAUSE_S)
            with _idle(database, name) as connection:
                remove_rows(connection, columns, [tuple(key) for key in keys])


@contextmanager
def _idle(database: Database, name: str) -> Iterator[Connection]:
    """Yield a transaction in which no worker works on the crawls of the site. Raises `ConfigError` if one does."""
    with database.write() as connection:
        if working := lock_idle_crawls(database, connection, connection.execute(_crawls(name)).scalars()):
            raise ConfigError(f"the crawl {working[0]} is running; stop it first, then delete the site")
        yield connection


def _of_site(table: Table, sites: Sequence[int], pages: Select[int], *, is_linked: bool) -> list[ColumnElement[bool]]:
    """Return the conditions of which a row of the site meets one.

    No index leads to the links to a page, so they are looked for only if there can be any from *other* sites.
    """
    columns = table.columns
    if "site_id" in columns:
        return [columns["site_id"].in_(sites)]
    if "page_id" in columns:
        return [columns["page_id"].in_(pages)]
    if "source_id" in columns:
        targets = [columns["target_id"].in_(pages)] if is_linked else []
        return [columns["source_id"].in_(pages), *targets]
    return []


def _crawls(name: str) -> Select[int]:
    return select(site.c.crawl_id).where(site.c.site == name)


def _sites(name: str) -> Select[int]:
    return select(site.c.id).where(site.c.site == name)
