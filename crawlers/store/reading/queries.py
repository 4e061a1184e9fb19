"""Queries that several packages use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, exists, func, select, text

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.mission import mission_named
from crawlers.store.schema.tables import SitemapRow, crawl, link, page, site, sitemap, sitemap_url
from crawlers.store.streaming import ROWS_AT_ONCE, among
from crawlers.urls.addresses import SiteAddresses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.store.database import Database


_first = page.alias()
_listed = exists().where(sitemap_url.c.site_id == page.c.site_id, sitemap_url.c.key == page.c.key)
_FINDER = select(_first.c.url, _first.c.site_id, _listed).where(page.c.id == bindparam("page"))
_FINDER = _FINDER.select_from(page.outerjoin(_first, page.c.found_on == _first.c.id))
_SIGNED = select(page.c.url, page.c.level, page.c.content_signature).where(page.c.content_signature.is_not(None))


def signed_pages(database: Database, site_id: int) -> Iterator[Any]:
    """Yield (URL, level, content signature) of a site's pages that have a signature, by level."""
    statement = _SIGNED.where(page.c.site_id == site_id).order_by(page.c.level)
    with database.read() as connection:
        yield from connection.execution_options(yield_per=ROWS_AT_ONCE).execute(statement)


def latest_pages(database: Database, site_id: int, most: int) -> list[tuple[str, int, int]]:
    """Return the same for the *most* pages that were discovered last, in that order."""
    statement = _SIGNED.where(page.c.site_id == site_id).order_by(page.c.id.desc()).limit(most)
    return [(url, level, signature) for url, level, signature in database.rows(statement)][::-1]


class Finder(NamedTuple):
    """Where a page was found first; without URL and site, it is a start URL."""

    url: str | None
    site_id: int | None
    is_in_sitemap: bool  # whether a sitemap of its site lists the page


def finder_of(database: Database, page_id: int) -> Finder | None:
    """Return where a page was found first; None if it is not stored yet."""
    rows = database.rows(_FINDER, page=page_id)
    return Finder(*rows[0]) if rows else None


def named_from(database: Database, site_id: int, level: int, is_source: Callable[[str], bool]) -> set[int]:
    """Return the pages of a site to which its pages on *level* link, those whose URLs are sources."""
    its = select(page.c.id, page.c.url).where(page.c.site_id == site_id, page.c.level == level)
    rows = database.rows(its.where(page.c.state == int(State.DONE)))
    sources = [number for number, url in rows if is_source(url)]
    return set(database.scalars(select(link.c.target_id).where(among(link.c.source_id, sources))))


class CrawledSite(NamedTuple):
    """A site of a crawl."""

    id: int
    site: str
    availability: str | None
    folder: str | None = None  # /path/ below which the crawl stayed


class NamedCrawl(NamedTuple):
    """A crawl in the store; several may share a name."""

    id: int
    name: str
    mission: str
    state: str
    is_foreign: bool = False  # of a plain Scrapy spider, whose links are not stored

    def __str__(self) -> str:
        return f"crawl {self.name} (number {self.id}, {self.state})"


# All pages of a plain Scrapy spider wait as requests, and no page of a mission does: so one of them is enough. It is
# looked up by its site: PostgreSQL would read the pages of all crawls until it met one of this.
_of_site = page.c.site_id == site.c.id
_IS_FOREIGN = func.coalesce(
    select(select(page.c.request.is_not(None)).where(_of_site).limit(1).scalar_subquery())
    .where(site.c.crawl_id == crawl.c.id, exists().where(_of_site))
    .limit(1)
    .scalar_subquery(),
    False,
)


_NAMED = select(crawl.c.id, crawl.c.name, crawl.c.mission, crawl.c.state, _IS_FOREIGN.label("is_foreign"))
MAX_DIGITS = 9  # of the number of a crawl, which has 32 bits


def crawl_numbered(database: Database, number: int) -> NamedCrawl | None:
    """Return the crawl of that *number*, whatever crawls are named; None: there is none."""
    if number >= 10**MAX_DIGITS:
        return None
    rows = database.rows(_NAMED.where(crawl.c.id == number))
    return NamedCrawl(*rows[0]) if rows else None


def crawl_named(database: Database, name: str | None) -> NamedCrawl:
    """Return the latest crawl of that *name*, or else the crawl of that number.

    None means the latest crawl of a mission, or the latest of all if there are only crawls of plain Scrapy spiders.
    Raises `ConfigError` if there is none.
    """
    statement = _NAMED
    name = name and name.encode("utf-8", "replace").decode()  # a terminal may pass invalid text
    if name is not None:
        is_meant = crawl.c.name == name
        if name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS:
            is_meant = is_meant | (crawl.c.id == int(name))
        statement = statement.where(is_meant).order_by((crawl.c.name == name).desc(), crawl.c.id.desc())
    else:
        statement = statement.order_by(text("is_foreign"), crawl.c.id.desc())
    rows = database.rows(statement.limit(1))
    if rows:
        return NamedCrawl(*rows[0])
    names = sorted(set(database.scalars(select(crawl.c.name))))
    if not names:
        raise ConfigError(f"{database.name} has no crawl yet; run a crawl first")
    raise ConfigError(f"CRAWL={name}: {database.name} has no crawl of that name; it has {', '.join(names)}")


def crawls_of_mission(database: Database, mission: str) -> list[NamedCrawl]:
    """Return all crawls of a *mission*, in the order in which they began."""
    return [NamedCrawl(*row) for row in database.rows(_NAMED.where(crawl.c.mission == mission).order_by(crawl.c.id))]


def sites_of(database: Database, crawl_id: int) -> list[CrawledSite]:
    """Return the sites of a crawl, by name."""
    statement = select(site.c.id, site.c.site, site.c.availability, site.c.folder).where(site.c.crawl_id == crawl_id)
    return sorted((CrawledSite(*row) for row in database.rows(statement)), key=lambda s: s.site)


def addresses_of(database: Database, crawl_id: int) -> SiteAddresses:
    """Return the addresses of the sites of a crawl."""
    addresses = SiteAddresses()
    columns = (site.c.site, site.c.aliases, site.c.home_addresses)
    has_several = site.c.aliases.is_not(None) | site.c.home_addresses.is_not(None)
    for name, aliases, homes in database.rows(select(*columns).where(site.c.crawl_id == crawl_id, has_several)):
        all_of_it = [name, *(aliases or "").split(), *(homes or "").split()]
        addresses.set(name, all_of_it, (homes or name).split()[-1])
    return addresses


def robots_of(database: Database, site_id: int) -> tuple[int, str | None] | None:
    """Return status and text of a site's robots.txt; None if it was not read."""
    ((status, found),) = database.rows(select(site.c.robots_status, site.c.robots_text).where(site.c.id == site_id))
    return None if status is None else (status, found)


_MISSION = "SELECT mission FROM crawl WHERE id = :crawl"
_CRAWL = "SELECT crawl_id FROM site WHERE id = :site"


def has_crossings(connection: Connection, crawl_id: int) -> bool:
    """Return whether `link` may contain links between sites of the crawl."""
    mission = connection.execute(text(_MISSION), {"crawl": crawl_id}).scalar()
    # The check avoids a search that reads the target of every link.
    return mission is None or not mission_named(mission).stays_within_sites


def site_has_crossings(connection: Connection, site_id: int) -> bool:
    """Return whether `link` may contain links from this site to others of its crawl."""
    crawl_id = connection.execute(text(_CRAWL), {"site": site_id}).scalar()
    return crawl_id is not None and has_crossings(connection, crawl_id)


def sitemaps_of(database: Database, site_ids: Sequence[int]) -> dict[int, list[SitemapRow]]:
    """Return the sitemaps of sites by site, in the order in which they are read; sites without any are left out."""
    found: dict[int, list[SitemapRow]] = {}
    of_sites = select(sitemap).where(among(sitemap.c.site_id, site_ids))
    for row in database.rows(of_sites.order_by(sitemap.c.site_id, sitemap.c.number)):
        found.setdefault(row.site_id, []).append(SitemapRow(*row))
    return found
