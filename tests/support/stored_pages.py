"""Pages and links of stored crawls, given as literals."""

from sqlalchemy import insert

from crawlers.items import State
from crawlers.store.schema.tables import link, page
from crawlers.store.sites.site_opening import SiteRow
from tests.support.stored_rows import begin, execute, new_page

NAMES = ("http://a.test", "http://b.test")


def begin_crawl(database, name="mine", mission="sitegraph"):
    """Store a crawl; return its number, and those of its two sites."""
    row = begin(database, *(SiteRow(0, site, 2, None, 0.0) for site in NAMES), name=name, mission=mission, now=1.0)
    return row.id, [site.id for site in row.sites]


def add_page(database, number, site, url, **columns):
    """Store a page, which was read unless *columns* say otherwise."""
    found = new_page(number, site, State.DONE, url=url, level=1, found_at=1.0, state_at=2.0)
    execute(database, insert(page).values({**found._asdict(), "fetched_at": 1.5, **columns}))


def add_links(database, *rows):
    """Store links, given as (source, target, count)."""
    names = ("source_id", "target_id", "count")
    execute(database, insert(link), [dict(zip(names, row, strict=True)) for row in rows])
