"""Deletes a site of the list of seeds with everything that crawls stored of it.

Rows that others may share stay: URLs of other sites (`external_url`), texts of links (`link_context`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, or_, select

from crawlers.errors import ConfigError
from crawlers.storage.locks import is_free
from crawlers.storage.schema.tables import crawl, external_link, link, metadata, page, seed, site, worker
from crawlers.storage.workers import ACTIVE

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Table

    from crawlers.storage.database import Database

ACROSS_SITES = ("broad", "topic", "news")  # missions whose links may lead to pages of other sites of the crawl


class SiteRows(NamedTuple):
    """What the store has of a site, in all crawls."""

    crawls: int
    pages: int
    links: int
    external_links: int


def rows_of_site(database: Database, name: str) -> SiteRows:
    """Return the numbers of rows that `remove_site` deletes of the site *name*."""
    pages = _pages(name)
    with database.read() as connection:
        numbers = [
            connection.execute(select(func.count()).select_from(table).where(condition)).scalar_one()
            for table, condition in (
                (site, site.c.site == name),
                (page, page.c.site_id.in_(_sites(name))),
                (link, link.c.source_id.in_(pages)),
                (external_link, external_link.c.page_id.in_(pages)),
            )
        ]
    return SiteRows(*numbers)


def crawls_at_work(database: Database, name: str) -> list[str]:
    """Return the names of the crawls of the site *name* on which a worker works: nobody else may write then."""
    with database.read() as connection:
        return _at_work(database, connection, name)


def remove_site(database: Database, name: str) -> None:
    """Delete the seed of the site *name*, and its pages and links in all crawls.

    Raises `ConfigError` if a worker works on one of them.
    """
    with database.write() as connection:
        if working := _at_work(database, connection, name):
            raise ConfigError(f"the crawl {working[0]} is running; stop it first, then delete the site")
        sites, pages = _sites(name), _pages(name)
        missions = select(crawl.c.mission).join(site, site.c.crawl_id == crawl.c.id).where(site.c.site == name)
        is_linked = any(mission in ACROSS_SITES for mission in connection.execute(missions).scalars())
        for table in metadata.sorted_tables:
            if table not in (page, site, seed) and (where := _of_site(table, sites, pages, is_linked=is_linked)):
                connection.execute(delete(table).where(or_(*where)))
        connection.execute(delete(page).where(page.c.site_id.in_(sites)))
        connection.execute(delete(site).where(site.c.site == name))
        connection.execute(delete(seed).where(seed.c.site == name))


def _of_site(
    table: Table, sites: Select[tuple[int]], pages: Select[tuple[int]], *, is_linked: bool
) -> list[ColumnElement[bool]]:
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


def _at_work(database: Database, connection: Connection, name: str) -> list[str]:
    working = (
        select(crawl.c.name, worker.c.id)
        .join(site, site.c.crawl_id == crawl.c.id)
        .join(worker, worker.c.crawl_id == crawl.c.id)
        .where(site.c.site == name, worker.c.state == ACTIVE)
    )
    rows = connection.execute(working).all()
    return [crawl_name for crawl_name, number in rows if not is_free(database, number)]


def _sites(name: str) -> Select[tuple[int]]:
    return select(site.c.id).where(site.c.site == name)


def _pages(name: str) -> Select[tuple[int]]:
    return select(page.c.id).where(page.c.site_id.in_(_sites(name)))
