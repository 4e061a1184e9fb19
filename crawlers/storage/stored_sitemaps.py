"""Reads the stored sitemaps of sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.storage.schema.sitemap_tables import SitemapRow, sitemap, sitemap_url
from crawlers.storage.value_lists import among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from crawlers.storage.database import Database


def sitemaps_of(database: Database, site_ids: Sequence[int]) -> dict[int, list[SitemapRow]]:
    """Return the sitemaps of sites by site, in the order in which they are read; sites without any are left out."""
    found: dict[int, list[SitemapRow]] = {}
    of_sites = select(sitemap).where(among(sitemap.c.site_id, site_ids))
    for row in database.rows(of_sites.order_by(sitemap.c.site_id, sitemap.c.number)):
        found.setdefault(row.site_id, []).append(SitemapRow(*row))
    return found


class Listing(NamedTuple):
    """A sitemap that lists a URL."""

    sitemap: str  # its URL
    url: str  # as it is listed
    modified_at: float | None  # seconds since 1970
    read_at: float | None  # likewise


def listing_of(connection: Connection, site_id: int, key: int) -> Listing | None:
    """Return the first sitemap of a site that lists the page *key*; None if none does."""
    is_its = (sitemap.c.site_id == sitemap_url.c.site_id) & (sitemap.c.key == sitemap_url.c.sitemap_key)
    row = connection.execute(
        select(sitemap.c.url, sitemap_url.c.url, sitemap_url.c.modified_at, sitemap.c.read_at)
        .join(sitemap, is_its)
        .where(sitemap_url.c.site_id == site_id, sitemap_url.c.key == key)
    ).one_or_none()
    return None if row is None else Listing(*row)
