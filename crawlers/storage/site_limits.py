"""The limits of the sites of a crawl, as they were in force in its latest run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import SiteLimits
from crawlers.storage.schema.tables import site
from crawlers.storage.value_lists import among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection


def limits_of(
    connection: Connection, crawl_id: int, names: Sequence[str], options: Mapping[str, Mapping[str, str]]
) -> list[SiteLimits]:
    """Return the limits of the sites called *names*, in this order, without those that the store has no more.

    *options* are the further fields of their lines in the list of sites, by site.
    """
    limits = (site.c.site, site.c.parallel, site.c.max_level, site.c.delay_s, site.c.start_url)
    named = select(*limits, site.c.folder, site.c.aliases).where(site.c.crawl_id == crawl_id, among(site.c.site, names))
    found = {}
    for one in connection.execute(named):
        aliases = tuple((one.aliases or "").split())
        found[one.site] = SiteLimits(*one[:5], one.folder or "", aliases, options.get(one.site, {}))
    return [found[name] for name in names if name in found]
