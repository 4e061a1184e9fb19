"""Writes the graphs of a crawl to files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawlers.graphs.files import graph_format, graph_paths, write_graph
from crawlers.graphs.looks import laid_out
from crawlers.graphs.model import CachedGraph, ExtendedGraph
from crawlers.graphs.page_columns import MEASURES, SEEN, importance_column, seen_columns
from crawlers.plurals import plural
from crawlers.store.reading.importance import shares_of_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawlers.graphs.files import ResultFiles
    from crawlers.graphs.looks import GraphLayout
    from crawlers.graphs.model import Graph, GraphSize
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals

logger = logging.getLogger(__name__)

ALL_MEASURES = (*MEASURES, *SEEN)  # the names of GRAPH_MEASURES
NAMES_SHOWN = 5


def no_graph_of(sites: Sequence[str]) -> str:
    """Return a sentence about *sites* of which no page was read.

    >>> no_graph_of(["http://a.test"])
    'No graph is written for 1 site without a page that was read: http://a.test'
    """
    others = len(sites) - NAMES_SHOWN
    names = ", ".join(sites[:NAMES_SHOWN]) + (f" and {others} more" if others > 0 else "")
    return f"No graph is written for {len(sites)} {plural(len(sites), 'site')} without a page that was read: {names}"


def write_laid_out(
    graph: Graph,
    base: Path,
    name: str,
    layout: GraphLayout | None,
    say: Callable[[str], None] = logger.info,
) -> GraphSize:
    """Write *graph* as `write_graph` does, with the look that *layout* gives it if the format *name* can hold one.

    *say* is called with a sentence about a graph without positions.
    """
    if layout is None or not graph_format(name).has_looks:
        return write_graph(graph, base, name)
    drawn = laid_out(graph, layout)
    if drawn.remark:
        say(drawn.remark)
    return write_graph(drawn.graph, base, name, look=drawn.look)


def write_site_graph(
    database: Database,
    pages: SiteGraph,
    base: Path,
    wanted: ResultFiles,
    totals: Totals | None,
    say: Callable[[str], None] = logger.info,
) -> Iterator[tuple[list[Path], GraphSize]]:
    """Write the graph of a site in all *wanted* formats to *base* and their endings; yield the paths, and the size.

    Nodes carry their importance if *totals* says that the crawl computed it.
    """
    graph: Graph = CachedGraph(pages)
    if totals is not None:
        graph = ExtendedGraph(graph, importance_column(pages, shares_of_site(database, pages.site_id, totals)))
    if times := [name for name in wanted.measures if name in SEEN]:
        graph = ExtendedGraph(graph, seen_columns(pages, database, times))
    if computed := [name for name in wanted.measures if name not in SEEN]:
        from crawlers.graphs.analysis import analyse  # with numpy

        graph = ExtendedGraph(graph, analyse(graph, computed))
    for name in wanted.formats:
        yield graph_paths(base, name), write_laid_out(graph, base, name, wanted.layout, say)
