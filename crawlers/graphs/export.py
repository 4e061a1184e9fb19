"""Writes the graphs of a crawl to files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawlers.files.names import file_stem
from crawlers.graphs.analysis import MEASURES, analyse
from crawlers.graphs.files import graph_format, graph_paths, write_graph
from crawlers.graphs.looks import laid_out
from crawlers.graphs.model import ExtendedGraph
from crawlers.graphs.page_columns import SEEN, importance_column, seen_columns
from crawlers.graphs.site_graph import SiteGraph
from crawlers.plurals import plural
from crawlers.store.reading.importance import shares_of_site, totals_of
from crawlers.store.reading.queries import sites_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawlers.graphs.looks import GraphLayout
    from crawlers.graphs.model import Graph, GraphSize
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite

logger = logging.getLogger(__name__)

ALL_MEASURES = (*MEASURES, *SEEN)  # the names of GRAPH_MEASURES
NAMES_SHOWN = 5


def no_graph_of(sites: Sequence[str]) -> str:
    """Return a sentence about *sites* that `write_site_graphs` left out.

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


def write_site_graphs(
    database: Database,
    crawl_id: int,
    sites: Sequence[CrawledSite],
    folder: Path,
    formats: Sequence[str],
    measures: Sequence[str],
    layout: GraphLayout | None = None,
    say: Callable[[str], None] = logger.info,
) -> Iterator[tuple[CrawledSite, list[Path], GraphSize]]:
    """Write the graphs of *sites* in all *formats*; yield each site with the paths and the size of its graph.

    A site without a page that was read is left out, and its files of earlier crawls stay as they are.
    *measures* are names of `ALL_MEASURES`.
    Nodes carry their importance if the crawl computed it. With a *layout*, the graphs of formats that can hold it look
    like a map.
    """
    names = [site.site for site in sites_of(database, crawl_id)]
    with database.read() as connection:
        totals = totals_of(connection, crawl_id)
    for site in sites:
        pages = SiteGraph(database, site.id, site.site, f"pages and links of {site.site}")
        if not len(pages):
            continue
        graph: Graph = pages
        if totals is not None:
            graph = ExtendedGraph(pages, importance_column(pages, shares_of_site(database, site.id, totals)))
        if times := [name for name in measures if name in SEEN]:
            graph = ExtendedGraph(graph, seen_columns(pages, database, site.id, times))
        if computed := [name for name in measures if name not in SEEN]:
            graph = ExtendedGraph(graph, analyse(graph, computed))
        base = folder / file_stem(site.site, names, site.folder or "")
        for name in formats:
            size = write_laid_out(graph, base, name, layout, say)
            yield site, graph_paths(base, name), size
