"""Conditions of SQL: what filters mean, which pages a report reads, and texts that SQLite and PostgreSQL fold alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, String, func, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from crawlers.reasons import codes_with
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import has_reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from crawlers.items import State
    from crawlers.reports.catalogue.filters import Filters

Condition = Callable[[Any], ColumnElement[bool]]  # of the value of a filter
NEWS, TOPIC, BROAD = frozenset({"news"}), frozenset({"topic"}), frozenset({"broad"})


class by_code_points(GenericFunction[str]):
    """A text that is compared and folded by code points; PostgreSQL would do it by the language of the database."""

    type = String()
    inherit_cache = True


@compiles(by_code_points)
def _plain(element: by_code_points, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(by_code_points, "postgresql")
def _collated(element: by_code_points, compiler: Any, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)} COLLATE "C")'


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return whether *text* is part of the column, whatever the case of ASCII letters (SQLite knows no others)."""
    folded = text.encode("utf-8", "replace").lower().decode()  # ASCII letters only
    return func.lower(by_code_points(column)).contains(folded, autoescape=True)


def is_host(column: ColumnElement[Any], host: str) -> ColumnElement[bool]:
    """Return whether the column, scheme://host[:port], is on *host* or a host below it, at any port.

    With a scheme, *host* is the only site that meets the condition.
    """
    if "://" in host:
        return column == host
    address = column + ":"
    return or_(contains(address, f"://{host}:"), contains(address, f".{host}:"))


def in_text(*columns: ColumnElement[Any]) -> Condition:
    """Return the condition that a text is part of one of the *columns*."""
    return lambda text: or_(*(contains(column, text) for column in columns))


def of_reason(column: ColumnElement[Any]) -> Condition:
    """Return the condition that a text is part of a column of stored reasons, or of the sentences of its codes."""
    return lambda text: or_(contains(column, text), has_reason(column, codes_with(text)))


def equal(column: ColumnElement[Any]) -> Condition:
    """Return the condition that the column has a value."""
    return lambda value: column == value


OF_PAGE: dict[str, Condition] = {
    "text": in_text(page.c.url, page.c.title),
    "level": equal(page.c.level),
    "status": equal(page.c.status),
}


def of_page(*names: str) -> dict[str, Condition]:
    """Return some of the conditions on pages."""
    return {name: OF_PAGE[name] for name in names}


def is_wanted_site(crawl_id: int, filters: Filters) -> ColumnElement[bool]:
    """Return whether a site belongs to the crawl, and meets the filter `site`."""
    of_crawl = site.c.crawl_id == crawl_id
    if name := filters.site:
        return of_crawl & site.c.site.in_([name, f"http://{name}", f"https://{name}"])
    return of_crawl


def wanted_sites(connection: Connection, crawl_id: int, filters: Filters, most: int) -> dict[int, str]:
    """Return the names of at most *most* of these sites, by number, in the order of their names."""
    statement = select(site.c.id, site.c.site).where(is_wanted_site(crawl_id, filters))
    return {number: name for number, name in connection.execute(statement.order_by(site.c.site).limit(most))}


def sites_from(connection: Connection, crawl_id: int, filters: Filters, first: int) -> Sequence[int]:
    """Return the numbers of these sites from *first* on, in order."""
    wanted = is_wanted_site(crawl_id, filters) & (site.c.id >= first)
    return connection.execute(select(site.c.id).where(wanted).order_by(site.c.id)).scalars().all()


def is_wanted_page(crawl_id: int, filters: Filters, *states: State) -> ColumnElement[bool]:
    """Return whether a page is one of these sites, in one of the *states*."""
    sites = select(site.c.id).where(is_wanted_site(crawl_id, filters))
    return page.c.site_id.in_(sites) & page.c.state.in_([int(state) for state in states])
