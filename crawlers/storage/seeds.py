"""Seeds: the sites that people chose, each with a number, names and limits.

Every site of a crawl has a seed; seeds of sites that are only in a host list are not enabled. Pages do not refer
to seeds, so removing a seed does not affect the crawls of its site.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, insert, select, text, update

from crawlers.errors import ConfigError
from crawlers.items import Seed, SiteLimits, State
from crawlers.storage.schema.tables import external_link, external_url, page, seed, site

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection

    from crawlers.items import SeedChange
    from crawlers.storage.database import Database


class LastCrawl(NamedTuple):
    """The results of the latest crawl of a site."""

    pages: int  # read successfully, duplicates included
    external_urls: int  # distinct
    availability: str | None  # None = available; otherwise why the start page can't be loaded


def crawl_seeds(database: Database) -> list[SiteLimits]:
    """Return the enabled seeds, which harvests crawl by default, by number."""
    return [
        SiteLimits(one.site, one.parallel, one.max_level, one.delay_s, one.start_url)
        for one in list_seeds(database)
        if one.enabled
    ]


def list_seeds(database: Database) -> list[Seed]:
    """Return all seeds, by number."""
    with database.read() as connection:
        return _all(connection)


def save_seeds(database: Database, changes: Sequence[SeedChange]) -> list[tuple[Seed, bool]]:
    """Create or update the seeds of the sites in *changes*; return each seed and whether it is new.

    Raises `ConfigError`, and saves none, if another seed has the same number or short name.
    """
    with database.write() as connection:
        before = {one.site for one in _all(connection)}
        # Changes with numbers come first, so that none of these numbers is assigned to another seed.
        for change in sorted(changes, key=lambda change: change.get("number") is None):
            _save(connection, change)
        if not database.is_sqlite:  # the sequence of PostgreSQL does not know these numbers
            connection.execute(text("SELECT setval(pg_get_serial_sequence('seed', 'id'), max(id)) FROM seed"))
        seeds = {one.site: one for one in _all(connection)}
        _check_short_names(seeds.values())
    return [(seeds[change["site"]], change["site"] not in before) for change in changes]


def remove_seeds(database: Database, numbers: Collection[int]) -> None:
    """Delete the seeds with these *numbers*, and nothing else."""
    with database.write() as connection:
        connection.execute(delete(seed).where(seed.c.id.in_(numbers)))


def enable_seeds(database: Database, numbers: Collection[int], *, enabled: bool) -> None:
    """Include the seeds with these *numbers* in harvests, or exclude them."""
    with database.write() as connection:
        connection.execute(update(seed).where(seed.c.id.in_(numbers)).values(enabled=enabled, is_found=False))


def last_crawls(database: Database, sites: Iterable[str]) -> dict[str, LastCrawl]:
    """Return the results of the latest crawl of each of *sites*, except sites that were never crawled."""
    latest = select(func.max(site.c.id)).group_by(site.c.site)
    wanted = set(sites)
    found = {}
    with database.read() as connection:
        # By name, because the number of a removed seed may have been reused.
        rows = connection.execute(select(site.c.id, site.c.site, site.c.availability).where(site.c.id.in_(latest)))
        for site_id, name, availability in rows.all():
            if name in wanted:
                found[name] = LastCrawl(*_counts(connection, site_id), availability)
    return found


def _counts(connection: Connection, site_id: int) -> tuple[int, int]:
    pages = select(func.count() + func.coalesce(func.sum(page.c.duplicates), 0)).where(
        page.c.site_id == site_id, page.c.state == int(State.DONE)
    )
    urls = (
        select(func.count(external_url.c.key.distinct()))
        .select_from(page)
        .join(external_link, external_link.c.page_id == page.c.id)
        .join(external_url, external_url.c.id == external_link.c.url_id)
        .where(page.c.site_id == site_id)
    )
    return int(connection.execute(pages).scalar_one()), int(connection.execute(urls).scalar_one())


def _all(connection: Connection) -> list[Seed]:
    _, *columns = (one.name for one in fields(Seed))
    statement = select(seed.c.id, *(seed.c[name] for name in columns)).order_by(seed.c.id)
    return [Seed(*row) for row in connection.execute(statement)]


def _save(connection: Connection, change: SeedChange) -> None:
    name, number = change["site"], change.get("number")
    values = {key: value for key, value in change.items() if key != "number"}
    known = connection.execute(select(seed.c.id).where(seed.c.site == name)).scalar()
    if known is not None:
        if number not in (None, known):
            raise ConfigError(f"{name} is seed {known}, and can't become {number}; leave the number out")
        connection.execute(update(seed).where(seed.c.id == known).values(**values, is_found=False))
        return
    if number is None:  # the number of a removed seed is not reused while the store has a crawl of it
        ever = (connection.execute(select(func.max(column))).scalar() or 0 for column in (seed.c.id, site.c.seed_id))
        number = max(ever) + 1
    other = connection.execute(select(seed.c.site).where(seed.c.id == number)).scalar()
    if other is not None:
        raise ConfigError(f"the number {number} of {name} is already that of {other}; leave it out to get a free one")
    connection.execute(insert(seed).values(**{"start_url": f"{name}/", **values, "id": number}))


def _check_short_names(seeds: Iterable[Seed]) -> None:
    owners: dict[str, Seed] = {}
    for one in seeds:
        if one.short_name is None:
            continue
        if one.short_name.isdecimal():
            raise ConfigError(f"the short name {one.short_name} of {one.site} looks like a number; add a letter")
        other = owners.setdefault(one.short_name.casefold(), one)
        if other is not one:
            raise ConfigError(f"{other.site} and {one.site} have the same short name {one.short_name}; choose another")
