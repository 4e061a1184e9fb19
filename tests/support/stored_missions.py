"""Rows that crawls of all missions store about pages of a stored site, and its sitemaps."""

import json

from sqlalchemy import select

from crawlers.ranking.opic import OPICTotals
from crawlers.store.schema import tables as scores
from crawlers.store.schema.tables import SettingRow, SitemapRow, SitemapState, SitemapUrlRow, page, site
from crawlers.urls.keys import url_key
from crawlers.urls.resolution import resolve
from tests.support.of_missions import for_core
from tests.support.stored_rows import write_rows

LISTED = ("/", "/a", "/gone", "/moved", "/secret", *(f"/orphan/{number}" for number in range(7)))
TOTALS = OPICTotals(ticks=100.0, virtual=0.0, found=130.0, offset_new=0.0, offset_read=0.0, new=0.0, read=9)


def add_mission_rows(database, crawl_id, name):
    """Store what missions know of the pages of the site *name*, and their importances."""
    pages = select(page.c.id, page.c.url, page.c.site_id).join(site, site.c.id == page.c.site_id)
    of_site = database.rows(pages.where(site.c.site == name).order_by(page.c.id))
    for module in for_core():
        module.add_rows(database, crawl_id, name, of_site)
    write_rows(
        database,
        *(
            scores.ImportanceRow(one.id, one.site_id, 1, 0.0, number / 10, 1.0, 50.0, 0)
            for number, one in enumerate(of_site[:9])
        ),
        SettingRow(crawl_id, "ORDER", "aopic"),
        SettingRow(crawl_id, "AOPIC_WINDOW_VISITS", "2.0"),
        scores.OrderTotalsRow(crawl_id, 1, json.dumps(TOTALS), "[0, 0]"),
    )


def add_sitemap_rows(database, crawl_id, name):
    """Store an index of the site *name*, a sitemap with the URLs `LISTED`, one that is missing, and one that waits."""
    site_id = database.scalar(select(site.c.id).where(site.c.site == name, site.c.crawl_id == crawl_id))
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
