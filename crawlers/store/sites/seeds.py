"""Seeds: the sites that people chose, each with a number, names and limits.

Every site of a crawl has a seed; seeds of sites that are only in a host list are not enabled. Pages do not refer
to seeds, so removing a seed does not affect the crawls of its site.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, insert, select, text, update

from crawlers.errors import ConfigError
from crawlers.items import Seed, SiteLimits
from crawlers.store.schema.rows import OF_SEED
from crawlers.store.schema.tables import external_link, external_url, metadata, page, seed, site

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from crawlers.items import SeedChange
    from crawlers.store.database import Database


SEED_COLUMNS = tuple(seed.c["id" if field.name == "number" else field.name] for field in fields(Seed))


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


def seed_numbered(database: Database, number: int) -> Seed | None:
    """Return the seed with that number; None if there is none."""
    rows = database.rows(select(*SEED_COLUMNS).where(seed.c.id == number))
    return Seed(*rows[0]) if rows else None


def save_seeds(database: Database, changes: Sequence[SeedChange]) -> list[tuple[Seed, bool]]:
    """Create or update the seeds of the sites in *changes*; return each seed and whether it is new.

    Raises `ConfigError`, and saves none, if another seed has the same number or short name.
    """
    with database.write() as connection:
        before = write_seeds(connection, changes)
        seeds = {one.site: one for one in _all(connection)}
        _check_short_names(seeds.values())
    return [(seeds[change["site"]], change["site"] not in before) for change in changes]


def remove_seeds(database: Database, numbers: Collection[int]) -> None:
    """Delete the seeds with these *numbers*, with what missions know of them, such as feeds, and nothing else."""
    with database.write() as connection:
        delete_seeds(connection, seed.c.id.in_(numbers))


def delete_seeds(connection: Connection, which: ColumnElement[bool]) -> None:
    """Delete these seeds, and what missions know of them, because the number of a seed may be used again."""
    for table in metadata.tables.values():
        if OF_SEED in table.info:
            connection.execute(delete(table).where(table.c.seed_id.in_(select(seed.c.id).where(which))))
    connection.execute(delete(seed).where(which))


def enable_seeds(database: Database, numbers: Collection[int], *, enabled: bool) -> None:
    """Include the seeds with these *numbers* in harvests, or exclude them."""
    with database.write() as connection:
        connection.execute(update(seed).where(seed.c.id.in_(numbers)).values(enabled=enabled, is_found=False))


def external_urls_of(connection: Connection, site_id: int) -> int:
    """Return the number of different external URLs of a site in a crawl."""
    urls = (
        select(func.count(external_url.c.key.distinct()))
        .select_from(page)
        .join(external_link, external_link.c.page_id == page.c.id)
        .join(external_url, external_url.c.id == external_link.c.url_id)
        .where(page.c.site_id == site_id)
    )
    return int(connection.execute(urls).scalar_one())


def _all(connection: Connection) -> list[Seed]:
    return [Seed(*row) for row in connection.execute(select(*SEED_COLUMNS).order_by(seed.c.id))]


def write_seeds(connection: Connection, changes: Iterable[SeedChange]) -> dict[str, int]:
    """Store *changes*, with one statement for all that give the same values; return the numbers of seeds before."""
    known = {one.site: one.number for one in _all(connection)}
    numbers, owners = dict(known), {number: name for name, number in known.items()}
    # The number of a removed seed is not reused while the store has a crawl of it.
    last = max([connection.execute(select(func.max(site.c.seed_id))).scalar() or 0, *owners])
    new: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    changed: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    # Changes with numbers come first, so that none of these numbers is assigned to another seed.
    for change in sorted(changes, key=lambda change: change.get("number") is None):
        name, number = change["site"], change.get("number")
        values = {key: value for key, value in change.items() if key != "number"}
        if name in numbers:
            if number not in (None, numbers[name]):
                raise ConfigError(f"{name} is seed {numbers[name]}, and can't become {number}; leave the number out")
            changed.setdefault(tuple(values), []).append({**values, "is_found": False, "_id": numbers[name]})
            continue
        if number is None:
            number = last + 1
        elif number in owners:
            raise ConfigError(
                f"the number {number} of {name} is already that of {owners[number]}; leave it out to get a free one"
            )
        last, numbers[name], owners[number] = max(last, number), number, name
        new.setdefault(tuple(values), []).append({"start_url": f"{name}/", **values, "id": number})
    for rows in new.values():
        connection.execute(insert(seed), rows)
    for rows in changed.values():
        connection.execute(update(seed).where(seed.c.id == bindparam("_id")), rows)
    if connection.dialect.name == "postgresql":  # whose sequence does not know these numbers
        connection.execute(text("SELECT setval(pg_get_serial_sequence('seed', 'id'), max(id)) FROM seed"))
    return known


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
