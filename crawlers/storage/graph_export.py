"""Writes the graphs of a crawl to files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.hosts_file import file_stem
from crawlers.storage.graph import SiteGraph
from crawlers.storage.graph_analysis import AnalysedGraph, analyse
from crawlers.storage.graph_files import graph_paths, write_graph
from crawlers.storage.graph_importance import ImportanceGraph
from crawlers.storage.importance import shares_of_site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawlers.storage.database import Database
    from crawlers.storage.graph_model import Graph, GraphSize
    from crawlers.storage.queries import CrawledSite


def write_site_graph(
    database: Database,
    site: CrawledSite,
    crawled: Sequence[CrawledSite],
    folder: Path,
    formats: Sequence[str],
    measures: Sequence[str],
) -> Iterator[tuple[Path, GraphSize]]:
    """Write the graph of *site* in all *formats*; yield each file and how much is in it.

    Its pages have their importance, if the crawl knows it. *crawled*, all sites of the crawl, tells whether a file
    name must say https.
    """
    pages = SiteGraph(database, site.id, site.site, f"pages and links of {site.site}")
    shares = shares_of_site(database, site.id)
    graph: Graph = pages if shares is None else ImportanceGraph(pages, shares)
    if measures:
        graph = AnalysedGraph(graph, analyse(graph, measures))
    for name in formats:
        base = folder / file_stem(site.site, [other.site for other in crawled])
        size = write_graph(graph, base, name)
        yield graph_paths(base, name)[0], size
