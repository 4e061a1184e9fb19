"""Deletes the rows of pages with the content of others, with SAVE_DUPLICATES=0: links to them lead to these then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.graphs.site_graph import SiteGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from crawlers.store.database import Database

_STATEMENTS = (
    # Targets first, then sources: a link between two duplicates is moved twice.
    """INSERT INTO link (source_id, target_id, count)
       SELECT l.source_id, d.kept, sum(l.count) FROM link l JOIN duplicate d ON d.id = l.target_id
       GROUP BY l.source_id, d.kept
       ON CONFLICT (source_id, target_id) DO UPDATE SET count = link.count + excluded.count""",
    "DELETE FROM link WHERE target_id IN (SELECT id FROM duplicate)",
    """INSERT INTO link (source_id, target_id, count)
       SELECT d.kept, l.target_id, sum(l.count) FROM link l JOIN duplicate d ON d.id = l.source_id
       GROUP BY d.kept, l.target_id
       ON CONFLICT (source_id, target_id) DO UPDATE SET count = link.count + excluded.count""",
    "DELETE FROM link WHERE source_id IN (SELECT id FROM duplicate)",
    """UPDATE page SET moved_to = (SELECT kept FROM duplicate WHERE duplicate.id = page.moved_to)
       WHERE moved_to IN (SELECT id FROM duplicate)""",
    """UPDATE page SET duplicates = duplicates + (SELECT count(*) FROM duplicate WHERE kept = page.id)
       WHERE id IN (SELECT kept FROM duplicate)""",
    "DELETE FROM external_link WHERE page_id IN (SELECT id FROM duplicate)",
    "DELETE FROM link_anchor WHERE source_id IN (SELECT id FROM duplicate)",
    "DELETE FROM bad_link WHERE page_id IN (SELECT id FROM duplicate)",
    "DELETE FROM importance WHERE page_id IN (SELECT id FROM duplicate)",
    # Else they would look as if no page linked to them.
    """DELETE FROM sitemap_url WHERE (site_id, key) IN
       (SELECT page.site_id, page.key FROM page JOIN duplicate ON duplicate.id = page.id)""",
    "DELETE FROM page WHERE id IN (SELECT id FROM duplicate)",
)


def duplicate_rows(database: Database, site_id: int) -> list[dict[str, int]]:
    """Return the numbers of the duplicates of a site, each with that of the page that represents it."""
    return [
        {"id": duplicate, "kept": members[0]}
        for members in SiteGraph(database, site_id, "").members()
        for duplicate in members[1:]
    ]


def drop_duplicate_rows(connection: Connection, rows: Sequence[dict[str, int]]) -> None:
    """Merge the `duplicate_rows` of a site into their representatives; its exported graph stays byte-identical."""
    if not rows:
        return
    connection.execute(text("CREATE TEMPORARY TABLE duplicate (id BIGINT PRIMARY KEY, kept BIGINT NOT NULL)"))
    connection.execute(text("INSERT INTO duplicate VALUES (:id, :kept)"), rows)
    for statement in _STATEMENTS:
        connection.execute(text(statement))
    connection.execute(text("DROP TABLE duplicate"))
