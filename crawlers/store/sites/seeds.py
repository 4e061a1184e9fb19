"""Seeds: the sites that people chose, each with a number, names and limits; and what is deleted with them.

Every site of a crawl has a seed; seeds of sites that are only in a host list are not enabled. Pages do not refer
to seeds, so removing a seed does not affect the crawls of its site.

Of a crawl, chosen links can be deleted, or a site of the list with everything that crawls stored of it. What was
decided by links stays: levels, pulls and their rewards, importance. A crawl records how many of its links were deleted,
so that nobody takes what is left for what was found. Rows that others may share stay: URLs of other sites
(`external_url`), texts of links (`link_context`). Pages of other sites keep the numbers of pages that are deleted: no
index leads to them. Numbers of pages and sites are never used again, so they lead nowhere.
"""

from __future__ import annotations

import json
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, text, update

from crawlers.errors import ConfigError
from crawlers.items import SiteLimits
from crawlers.mission import mission_named
from crawlers.store.reading.crawl_settings import record, setting_of
from crawlers.store.schema.rows import OF_SEED
from crawlers.store.schema.tables import (
    bad_link,
    crawl,
    external_link,
    external_url,
    link,
    link_anchor,
    link_change,
    link_text,
    metadata,
    page,
    seed,
    site,
    worker,
)
from crawlers.store.worker_rows import ACTIVE, free_locks, lock_crawl
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from sqlalchemy import Column, ColumnElement, Connection, Select, Table

    from crawlers.store.database import Database


@dataclass(frozen=True, slots=True)
class Seed:
    """A site that people chose, with its names; None: not given, or for limits the default."""

    number: int
    site: str  # scheme://host[:port]
    start_url: str
    name: str | None = None  # in full
    short_name: str | None = None
    enabled: bool = True
    parallel: int | None = None
    max_level: int | None = None
    delay_s: float | None = None
    is_found: bool = False  # discovered by a crawl


class SeedChange(TypedDict, total=False):
    """Changes of a new or known seed; missing fields keep their values."""

    site: Required[str]
    number: int | None
    start_url: str
    name: str | None
    short_name: str | None
    enabled: bool
    parallel: int | None
    max_level: int | None
    delay_s: float | None
    language: str | None
    region: str | None
    hosts: str | None


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


def save_seeds(database: Database, changes: Sequence[SeedChange]) -> list[tuple[Seed, Seed | None]]:
    """Create or update the seeds of the sites in *changes*; return each seed as it is, and as it was: None if new.

    Raises `ConfigError`, and saves none, if another seed has the same number or short name.
    """
    with database.write() as connection:
        before = {one.site: one for one in _all(connection)}
        write_seeds(connection, changes)
        seeds = {one.site: one for one in _all(connection)}
        _check_short_names(seeds.values())
    return [(seeds[change["site"]], before.get(change["site"])) for change in changes]


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


def write_seeds(connection: Connection, changes: Iterable[SeedChange]) -> None:
    """Store *changes*, with one statement for all that give the same values."""
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
    dead = free_locks(database, [number for _, number in rows])
    return [name for name, number in rows if number not in dead]


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
    numbers = (select(func.count()).select_from(rows.limit(MOST_COUNTED).subquery()) for rows in counted)
    return SiteRows(*map(database.scalar, numbers))


def crawls_at_work(database: Database, name: str) -> list[str]:
    """Return the names of the crawls of the site *name* on which a worker works: nobody else may write then."""
    with database.read() as connection:
        return crawls_with_workers(database, connection, crawl.c.id.in_(_crawls(name)))


def remove_site(database: Database, name: str) -> None:
    """Delete the seed of the site *name*, and its pages and links in all crawls.

    Other crawls of the store write between the transactions, of which each deletes few rows. The site itself goes last,
    so a deletion that was interrupted can be repeated. Raises `ConfigError` if a worker works on one of the crawls.
    """
    sites = database.scalars(_sites(name))
    missions = set(database.scalars(select(crawl.c.mission).where(crawl.c.id.in_(_crawls(name)))))
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
