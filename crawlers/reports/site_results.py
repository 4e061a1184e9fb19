"""Writes what people open after a crawl: the graph of each site, and its tables of URLs and links for a spreadsheet.

Each file is a function of the web, so that two crawls of an unchanged site give identical files. "First" always means
the page with the lowest level, then the lowest URL. Graph and tables of a site read its links once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from crawlers.files.csv_tables import write_table
from crawlers.files.names import file_stem
from crawlers.graphs.export import write_site_graph
from crawlers.graphs.site_graph import SiteGraph
from crawlers.mission import mission_named
from crawlers.options.of_outputs import BROKEN_LINKS
from crawlers.plurals import counted
from crawlers.reports import page_table
from crawlers.reports.catalogue.link_reports import BrokenLinks
from crawlers.reports.catalogue.page_reports import Redirects
from crawlers.reports.link_tables import EXTERNAL_COLUMNS, broken_link_rows, external_rows, redirect_rows
from crawlers.store.reading.importance import totals_of
from crawlers.store.reading.queries import sites_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from crawlers.files.cells import Value
    from crawlers.graphs.files import ResultFiles
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl

logger = logging.getLogger(__name__)

EXTERNAL = "external-links"


class ResultTable(NamedTuple):
    """A table: its columns, what its rows are called, and how they are read."""

    columns: Sequence[str]
    noun: str
    rows: Callable[[Database, SiteGraph], Iterator[list[Value]]]


TABLES = {
    "pages": ResultTable(page_table.COLUMNS, "URL", page_table.page_rows),
    BROKEN_LINKS: ResultTable([column.name for column in BrokenLinks.columns], "broken link", broken_link_rows),
    "redirects": ResultTable([column.name for column in Redirects.columns], "redirect", redirect_rows),
    EXTERNAL: ResultTable(
        EXTERNAL_COLUMNS, "external URL", lambda database, graph: external_rows(database, [graph.site_id])
    ),
}


class WrittenFile(NamedTuple):
    """The file or files of a graph or a table, and what they contain."""

    site: str  # "": all sites
    paths: list[Path]
    contents: str  # such as "5 redirects"


def write_site_results(
    database: Database,
    crawl: NamedCrawl,
    sites: Sequence[CrawledSite],
    folder: Path,
    wanted: ResultFiles,
    say: Callable[[str], None] = logger.info,
) -> Iterator[WrittenFile]:
    """Write the *wanted* files of *sites*, and yield each graph and table; *say* is called with remarks.

    Each file is replaced atomically, also a table by one without rows: a table of broken links of an earlier crawl
    would be wrong. But a site without a page that was read is left out, and its files stay as they are. Raises the
    errors of `write_graph`.
    """
    crawled = sites_of(database, crawl.id)
    names = [site.site for site in crawled]
    with database.read() as connection:
        totals = totals_of(connection, crawl.id)
    joined = mission_named(crawl.mission).joined
    tables = {name: TABLES[name] for name in TABLES if name in wanted.tables and name not in joined}
    for site in sites if wanted.formats or tables else ():
        graph = SiteGraph(database, site.id, site.site, f"pages and links of {site.site}")
        if not len(graph):
            continue
        base = folder / file_stem(site.site, names, site.folder or "")
        for paths, size in write_site_graph(database, graph, base, wanted, totals, say):
            yield WrittenFile(site.site, paths, f"{counted(size.nodes, 'page')}, {counted(size.edges, 'edge')}")
        for name, table in tables.items():
            path = base.with_name(f"{base.name}.{name}.csv")
            rows = write_table(path, table.columns, table.rows(database, graph))
            yield WrittenFile(site.site, [path], counted(rows, table.noun))
    if EXTERNAL in joined and EXTERNAL in wanted.tables:
        path = folder / f"{EXTERNAL}.csv"
        # Of all sites of the crawl: a part of them would not replace it.
        rows = write_table(path, EXTERNAL_COLUMNS, external_rows(database, [site.id for site in crawled]))
        yield WrittenFile("", [path], counted(rows, TABLES[EXTERNAL].noun))
