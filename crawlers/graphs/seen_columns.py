"""Adds the times at which the pages of a site were seen to its graph.

`first_seen` is when the crawl found the first URL of the node, `last_seen` when it last fetched one of them. They
differ between crawls of an unchanged site, so graphs have them only on request.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.graphs.comparison.seen_times import iso_time
from crawlers.graphs.model import Column
from crawlers.items import State
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.graphs.model import Graph, Row
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.storage.database import Database

FIRST_SEEN, LAST_SEEN = "first_seen", "last_seen"
SEEN = (FIRST_SEEN, LAST_SEEN)  # among the names of GRAPH_MEASURES
NEVER = float("inf")


class SeenGraph:
    """*graph*, made of the *pages* of the site *site_id*, with the columns *names* out of `SEEN`, in ISO 8601 and UTC.

    Memory: 16 bytes for each node.
    """

    def __init__(self, graph: Graph, pages: SiteGraph, database: Database, site_id: int, names: Sequence[str]) -> None:
        self.name = graph.name
        self.description = graph.description
        self.columns = graph.columns + tuple(Column(name, "string") for name in names)
        self._graph = graph
        nodes = len(pages) + 1  # they start at 1
        first, last = array("d", [NEVER] * nodes), array("d", [-NEVER] * nodes)
        done = select(page.c.id, page.c.found_at, page.c.fetched_at).where(
            page.c.site_id == site_id, page.c.state == int(State.DONE)
        )
        with database.read() as connection:
            for page_id, found_at, fetched_at in connection.execution_options(stream_results=True).execute(done):
                if (node := pages.node(page_id)) is not None:
                    first[node] = min(first[node], found_at)
                    last[node] = max(last[node], found_at if fetched_at is None else fetched_at)
        self._times = [{FIRST_SEEN: first, LAST_SEEN: last}[name] for name in names]

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        return self._graph.edges()

    def nodes(self) -> Iterator[Row]:
        for row in self._graph.nodes():
            number, label, *values = row
            all_values = (*values, *(iso_time(times[number]) for times in self._times))
            yield number, label, *all_values
