"""Writes the tables of a crawl that people open in a spreadsheet: one file for each site, or one for a whole harvest.

Each is a function of the web, like the graphs, so that two crawls of an unchanged site give identical files. "First"
always means the page with the lowest level, then the lowest URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.files.csv_tables import write_table
from crawlers.files.names import file_stem
from crawlers.graphs.site_graph import SiteGraph
from crawlers.options.of_outputs import BROKEN_LINKS
from crawlers.reports import page_table
from crawlers.reports.catalogue.link_reports import BrokenLinks
from crawlers.reports.catalogue.page_reports import Redirects
from crawlers.reports.link_tables import EXTERNAL_COLUMNS, broken_link_rows, external_rows, redirect_rows
from crawlers.store.reading.crawl_results import site_has_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from crawlers.files.cells import Value
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl

EXTERNAL = "external-links"
HARVEST = "extlinks"  # the mission whose external links are one table of all sites


class ResultTable(NamedTuple):
    """A table: its columns, what its rows are called, and how they are read."""

    columns: Sequence[str]
    noun: str
    rows: Callable[[Database, CrawledSite], Iterator[list[Value]]]


TABLES = {
    "pages": ResultTable(
        page_table.COLUMNS,
        "URL",
        lambda database, site: page_table.page_rows(database, site.id, SiteGraph(database, site.id, site.site)),
    ),
    BROKEN_LINKS: ResultTable(
        [column.name for column in BrokenLinks.columns],
        "broken link",
        lambda database, site: broken_link_rows(database, site.id),
    ),
    "redirects": ResultTable(
        [column.name for column in Redirects.columns],
        "redirect",
        lambda database, site: redirect_rows(database, site.id),
    ),
    EXTERNAL: ResultTable(
        EXTERNAL_COLUMNS,
        "external URL",
        lambda database, site: external_rows(database, [site.id]),
    ),
}
DEFAULTS = {"sitegraph": tuple(TABLES), HARVEST: (EXTERNAL,)}  # by mission; others have none


class WrittenTable(NamedTuple):
    """A file, and what it contains."""

    path: Path
    rows: int
    noun: str


def write_tables(
    database: Database,
    crawl: NamedCrawl,
    sites: Sequence[CrawledSite],
    crawled: Sequence[CrawledSite],
    folder: Path,
    names: Collection[str],
) -> Iterator[WrittenTable]:
    """Write the tables called *names* of *sites*, and yield each file; *crawled* are all sites of the crawl.

    Each file is replaced atomically, also by one without rows: a table of broken links of an earlier crawl would be
    wrong. But a site without a page that was read is left out, as from graphs. Raises the errors of `write_graph`.
    """
    all_names = [site.site for site in crawled]
    is_harvest = crawl.mission == HARVEST
    for site in sites:
        with database.read() as connection:
            if not site_has_pages(connection, site.id):
                continue
        base = folder / file_stem(site.site, all_names, site.folder or "")
        for name, table in TABLES.items():
            if name in names and not (is_harvest and name == EXTERNAL):
                path = base.with_name(f"{base.name}.{name}.csv")
                yield WrittenTable(path, write_table(path, table.columns, table.rows(database, site)), table.noun)
    if is_harvest and EXTERNAL in names:
        path = folder / f"{EXTERNAL}.csv"
        rows = external_rows(database, [site.id for site in crawled])  # a part of the sites would not replace it
        yield WrittenTable(path, write_table(path, EXTERNAL_COLUMNS, rows), TABLES[EXTERNAL].noun)
