"""Which pages a report reads: those of the sites of a crawl, or of the site that a filter names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection

    from crawlers.items import State
    from crawlers.reports.catalogue.filters import Filters

NEWS, TOPIC, BROAD = frozenset({"news"}), frozenset({"topic"}), frozenset({"broad"})


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


def page_contains(text: str) -> ColumnElement[bool]:
    """Return whether *text* is part of the URL or of the title of a page."""
    return or_(contains(page.c.url, text), contains(page.c.title, text))


def page_conditions(filters: Filters) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the filters `text`, about the URL or the title, `level` and `status` of a page."""
    if filters.text:
        yield page_contains(filters.text)
    if filters.level is not None:
        yield page.c.level == filters.level
    if filters.status is not None:
        yield page.c.status == filters.status


def is_wanted_page(crawl_id: int, filters: Filters, *states: State) -> ColumnElement[bool]:
    """Return whether a page is one of these sites, in one of the *states*."""
    sites = select(site.c.id).where(is_wanted_site(crawl_id, filters))
    return page.c.site_id.in_(sites) & page.c.state.in_([int(state) for state in states])
