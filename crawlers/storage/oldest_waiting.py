"""Since when the URL that has waited longest has been known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.items import State

if TYPE_CHECKING:
    from crawlers.storage.database import Database

# Of each site and priority, the lowest page number in the index page_waiting is that of the URL that was
# found first: there are few of these, however many URLs wait.
_FIRST = f"""
    SELECT q.id FROM page AS q WHERE q.state = {int(State.WAITING)} AND q.site_id = {{site}} {{after}}
    ORDER BY q.priority, q.id LIMIT 1"""  # noqa: S608 - constants of ours
_OLDEST = f"""
    WITH RECURSIVE first (id) AS (
        SELECT ({_FIRST.format(site="s.id", after="")}) FROM site AS s WHERE s.crawl_id = :crawl
        UNION ALL
        SELECT ({_FIRST.format(site="p.site_id", after="AND q.priority > p.priority")})
        FROM first JOIN page AS p ON p.id = first.id
    )
    SELECT min(p.found_at) FROM first JOIN page AS p ON p.id = first.id"""  # noqa: S608


def oldest_waiting(database: Database, crawl_id: int) -> float | None:
    """Return the time, in seconds since 1970, at which the oldest waiting URL was found; None if none waits.

    Takes some look-ups of an index for each site and level. Raises `StoreError`.
    """
    found: float | None = database.scalar(text(_OLDEST), crawl=crawl_id)
    return found
