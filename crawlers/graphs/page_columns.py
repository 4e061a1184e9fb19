"""Further columns of the graph of a site: the importance of its pages, and the times at which they were seen.

Memory: 8 bytes for each node and column. `SAVE_DUPLICATES=0` deletes the rows of duplicate pages: links to them then
point to their representative.
"""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import select, text

from crawlers.files.csv_tables import iso_time
from crawlers.graphs.model import Column
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.store.reading.importance import DECIMALS
from crawlers.store.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from crawlers.graphs.model import FurtherColumns
    from crawlers.store.database import Database

# The names of GRAPH_MEASURES: what `analysis` computes, and when pages were seen.
MEASURES = ("in_degree", "out_degree", "component", "component_size", "pagerank", "hub", "authority")
FIRST_SEEN, LAST_SEEN = "first_seen", "last_seen"
SEEN = (FIRST_SEEN, LAST_SEEN)
NEVER = float("inf")


def importance_column(pages: SiteGraph, shares: Iterable[tuple[int, float]]) -> FurtherColumns:
    """Return the importance of each node: the sum of the *shares* of its pages, pairs of page number and share.

    The graph *pages* covers one site; shares sum to 1 over all sites.
    """
    sums = array("d", bytes(8 * (len(pages) + 1)))  # nodes start at 1
    for page_id, share in shares:
        node = pages.node(page_id)
        if node is not None:
            sums[node] += share
    return {Column("importance", "double"): lambda node: round(sums[node], DECIMALS)}


def seen_columns(pages: SiteGraph, database: Database, names: Sequence[str]) -> FurtherColumns:
    """Return the columns *names* out of `SEEN` of the graph *pages*, in ISO 8601 and UTC.

    `first_seen` is when the crawl found the first URL of the node, `last_seen` when it last fetched one of them. They
    differ between crawls of an unchanged site, so graphs have them only on request.
    """
    nodes = len(pages) + 1  # they start at 1
    first, last = array("d", [NEVER] * nodes), array("d", [-NEVER] * nodes)
    done = select(page.c.id, page.c.found_at, page.c.fetched_at).where(
        page.c.site_id == pages.site_id, page.c.state == int(State.DONE)
    )
    with database.read() as connection:
        for page_id, found_at, fetched_at in connection.execution_options(stream_results=True).execute(done):
            if (node := pages.node(page_id)) is not None:
                first[node] = min(first[node], found_at)
                last[node] = max(last[node], found_at if fetched_at is None else fetched_at)
    times = {FIRST_SEEN: first, LAST_SEEN: last}
    return {Column(name, "string"): partial(_time_of, times[name]) for name in names}


def _time_of(times: array[float], node: int) -> str | None:
    return iso_time(times[node])


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
