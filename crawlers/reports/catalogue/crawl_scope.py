"""Which pages a computed report reads: those of the sites of a crawl, or of the site that a filter names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from crawlers.items import State
    from crawlers.reports.catalogue.filters import Filters


def is_wanted_site(crawl_id: int, filters: Filters) -> ColumnElement[bool]:
    """Return whether a site belongs to the crawl, and meets the filter `site`."""
    of_crawl = site.c.crawl_id == crawl_id
    if name := filters.site:
        return of_crawl & site.c.site.in_([name, f"http://{name}", f"https://{name}"])
    return of_crawl


def is_wanted_page(crawl_id: int, filters: Filters, *states: State) -> ColumnElement[bool]:
    """Return whether a page is one of these sites, in one of the *states*."""
    sites = select(site.c.id).where(is_wanted_site(crawl_id, filters))
    return page.c.site_id.in_(sites) & page.c.state.in_([int(state) for state in states])
