"""The limits of the sites of a crawl, as they were in force in its latest run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import SiteLimits
from crawlers.storage.schema.tables import site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection

SITES_AT_ONCE = 500


def limits_of(
    connection: Connection, crawl_id: int, names: Sequence[str], options: Mapping[str, Mapping[str, str]]
) -> Iterator[SiteLimits]:
    """Yield the limits of the sites called *names*, in this order, without those that the store has no more.

    *options* are the further fields of their lines in the list of sites, by site.
    """
    columns = (site.c.site, site.c.parallel, site.c.max_level, site.c.delay_s, site.c.start_url)
    for first in range(0, len(names), SITES_AT_ONCE):
        some = names[first : first + SITES_AT_ONCE]
        of_crawl = select(*columns, site.c.folder, site.c.aliases).where(
            site.c.crawl_id == crawl_id, site.c.site.in_(some)
        )
        found = {
            one.site: SiteLimits(
                one.site,
                one.parallel,
                one.max_level,
                one.delay_s,
                one.start_url,
                one.folder or "",
                tuple((one.aliases or "").split()),
                options.get(one.site, {}),
            )
            for one in connection.execute(of_crawl)
        }
        yield from (found[name] for name in some if name in found)
