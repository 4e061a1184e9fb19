"""Sitemaps of a stored site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.algorithms.urls.keys import url_key
from crawlers.algorithms.urls.resolution import resolve
from crawlers.storage.schema.sitemap_tables import SitemapRow, SitemapState, SitemapUrlRow
from crawlers.storage.schema.tables import site
from tests.support.stored_rows import write_rows

if TYPE_CHECKING:
    from crawlers.storage.database import Database

LISTED = ("/", "/a", "/gone", "/moved", "/secret", *(f"/orphan/{number}" for number in range(7)))


def add_sitemap_rows(database: Database, crawl_id: int, name: str) -> None:
    """Store an index of the site *name*, a sitemap with the URLs `LISTED`, one that is missing, and one that waits."""
    with database.read() as connection:
        of_site = select(site.c.id).where(site.c.site == name, site.c.crawl_id == crawl_id)
        site_id = connection.execute(of_site).scalar_one()
    index = SitemapRow(
        *(site_id, url_key(f"{name}/sitemap.xml"), f"{name}/sitemap.xml", name, 0, None, SitemapState.READ, 200),
        *("sitemap index", "beyond_limits 1 0", 0, 0, 1, 0.0),
    )
    listing, missing, waiting = (
        index._replace(
            key=url_key(f"{name}/{number}.xml"),
            url=f"{name}/{number}.xml",
            number=number,
            index_key=index.key,
            kind="sitemap",
            reason=None,
            cut=0,
        )
        for number in (1, 2, 3)
    )
    write_rows(
        database,
        index,
        listing._replace(urls=len(LISTED), outside=3),
        missing._replace(state=SitemapState.UNREAD, status=404, kind=None, reason="status 404"),
        waiting._replace(state=SitemapState.WAITING, status=None, kind=None, read_at=None),
        *(
            SitemapUrlRow(site_id, resolve(name, path).key, f"{name}{path}", listing.key, 86_400.0 * number or None)
            for number, path in enumerate(LISTED)
        ),
    )
