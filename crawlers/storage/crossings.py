"""Links between sites of a crawl: missions with a scope store them in `link`, not in `external_link`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

# These missions crawl each site separately. The check avoids a search that reads the target of every link.
_WITHIN_SITES = ("sitegraph", "extlinks")
_MISSION = "SELECT mission FROM crawl WHERE id = :crawl"
_CRAWL = "SELECT crawl_id FROM site WHERE id = :site"


def has_crossings(connection: Connection, crawl_id: int) -> bool:
    """Return whether `link` may contain links between sites of the crawl."""
    return connection.execute(text(_MISSION), {"crawl": crawl_id}).scalar() not in _WITHIN_SITES


def site_has_crossings(connection: Connection, site_id: int) -> bool:
    """Return whether `link` may contain links from this site to others of its crawl."""
    crawl_id = connection.execute(text(_CRAWL), {"site": site_id}).scalar()
    return crawl_id is not None and has_crossings(connection, crawl_id)
