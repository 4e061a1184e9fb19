"""Finds the page that stands for each duplicate and each redirect, in the database.

The result is a temporary table, which vanishes with the transaction of the reader. It has no rows of pages that stand
for themselves, and of those that nothing stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.store.streaming import execute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

# final_id: where a redirect ends; representative_id: the page that the graph shows instead of this one.
_TABLE = "CREATE TEMPORARY TABLE folded (id BIGINT PRIMARY KEY, final_id BIGINT, representative_id BIGINT)"
# As in `SiteGraph`: of equal pages of a site, the one with the lowest level, then the lowest URL.
_DUPLICATES = f"""
    INSERT INTO folded SELECT id, NULL, first FROM (
        SELECT id, first_value(id) OVER (PARTITION BY site_id, content_hash ORDER BY level, url {{c}}) AS first
        FROM page WHERE site_id BETWEEN :first AND :last
        AND site_id IN (SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)
        AND state = {State.DONE:d} AND content_hash IS NOT NULL
    ) AS page WHERE id <> first"""  # noqa: S608 - constants of ours
# UNION drops rows that are known, so loops of redirects end; they have no last page.
_REDIRECTS = f"""
    INSERT INTO folded
    WITH RECURSIVE chain (id, target_id) AS (
        SELECT id, moved_to FROM page
        WHERE site_id BETWEEN :first AND :last
        AND site_id IN (SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)
        AND state = {State.MOVED:d} AND moved_to IS NOT NULL
        UNION SELECT c.id, p.moved_to FROM chain c JOIN page p ON p.id = c.target_id
        WHERE p.state = {State.MOVED:d} AND p.moved_to IS NOT NULL
    )
    SELECT c.id, c.target_id, CASE WHEN p.state = {State.DONE:d} AND e.id IS NOT NULL
        THEN coalesce(f.representative_id, p.id) END
    FROM chain c JOIN page p ON p.id = c.target_id LEFT JOIN exported_site e ON e.id = p.site_id
    LEFT JOIN folded f ON f.id = p.id
    WHERE p.state <> {State.MOVED:d}"""  # noqa: S608


def fold(connection: Connection, partitions: Iterable[tuple[int, int]]) -> None:
    """Create the temporary table `folded` for the sites of `exported_site` in *partitions* (first and last site)."""
    execute(connection, _TABLE)
    for statement in (_DUPLICATES, _REDIRECTS):  # redirects may end at duplicates of any partition
        for first, last in partitions:
            execute(connection, statement, first=first, last=last)
