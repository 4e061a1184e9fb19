"""Further columns of the graph of a site: the importance of its pages, and the times at which they were seen.

Memory: 8 bytes for each node and column.
"""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.graphs.comparison.seen_times import iso_time
from crawlers.graphs.model import Column
from crawlers.items import State
from crawlers.store.reading.importance import DECIMALS
from crawlers.store.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.graphs.model import FurtherColumns
    from crawlers.graphs.site_graph import SiteGraph
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
