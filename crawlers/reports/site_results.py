"""Writes what people open after a crawl: the graph of each site, and its tables of URLs and links for a spreadsheet.

Each file is a function of the web, so that two crawls of an unchanged site give identical files. "First" always means
the page with the lowest level, then the lowest URL. Graph and tables of a site read its links once.
The files of links have those to other sites, to what can't be loaded or is no URL, and the redirects of the site.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawlers.batches import batches
from crawlers.files.atomic import file_stem
from crawlers.files.csv_tables import write_table
from crawlers.graphs.export import write_site_graph
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.mission import mission_named
from crawlers.options.of_crawls import BROKEN_LINKS
from crawlers.plurals import counted
from crawlers.ranking.page_orders import OF_IMPORTANCE
from crawlers.reasons import Reason, sentence
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.queries import sites_of
from crawlers.store.reading.redirect_chains import broken_ends, problems_of, redirect_cells
from crawlers.store.reading.url_counts import MIN_ERROR_STATUS, kind_of
from crawlers.store.streaming import streamed, urls_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.export import ResultFiles
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals
    from crawlers.store.reading.queries import CrawledSite, NamedCrawl


PAGE_COLUMNS = (
    *("url", "status", "state", "reason", "level", "title", "content_type", "size_bytes"),
    "in_degree",  # as in the graph; of URLs that are not pages: the number of pages that link to it
    "out_degree",
    "duplicate_of",
    "found_on",  # the first page that links to it, or redirects to it
)
_REQUESTED = f"""
    SELECT id, url, status, state, reason, level, title, content_type, size_bytes FROM page
    WHERE site_id = :site AND state IN ({State.DONE:d}, {State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY level, url {{c}}"""  # noqa: S608 - constants of ours
_MOVED = f"""
    SELECT id, moved_to FROM page WHERE site_id = :site AND state = {State.MOVED:d} ORDER BY level, url {{c}}"""  # noqa: S608
NOWHERE = -1


def page_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the table of the site of *graph*, which counts the links. Memory: see `SiteGraph`."""
    counts = graph.link_counts()
    with database.read() as connection, database.read() as lookups:
        redirecting: dict[int, int] = {}  # the first one of those that redirect to a page
        for page_id, target in streamed(connection, _MOVED, site=graph.site_id):
            redirecting.setdefault(target, page_id)

        def found_on(page_id: int, level: int) -> int | None:
            first = graph.first_page(page_id) if level else None  # links did not find the start URLs
            return redirecting.get(page_id) if first is None else first

        for rows in batches(streamed(connection, _REQUESTED, site=graph.site_id)):
            found = {row.id: page for row in rows if (page := found_on(row.id, row.level)) is not None}
            represented = {
                row.id: page
                for row in rows
                if row.state == State.DONE and (page := graph.representative(row.id)) is not None
            }
            urls = urls_of(lookups, {*found.values(), *represented.values()})
            for page_id, url, status, state, reason, level, title, content_type, size in rows:
                in_degree: int | None = counts.inlinks.get(page_id, 0)
                out_degree: int | None = None
                duplicate_of = ""
                if (page := represented.get(page_id)) == page_id:
                    node = graph.node(page_id)
                    assert node is not None
                    in_degree, out_degree = counts.in_degree[node], counts.out_degree[node]
                elif page is not None:
                    in_degree, duplicate_of = None, urls[page]
                yield [
                    url,
                    status,
                    kind_of(State(state), status),
                    sentence(reason),
                    level,
                    title,
                    content_type,
                    size,
                    in_degree,
                    out_degree,
                    duplicate_of,
                    urls.get(found.get(page_id, NOWHERE), ""),
                ]


# As in the reports of these names.
BROKEN_COLUMNS = ("url", "status", "reason", "anchor", "links", "page", "level")
REDIRECT_COLUMNS = ("url", "status", "redirects", "final_url", "final_status", "problem", "level", "chain")
EXTERNAL_COLUMNS = ("url", "host", "first_page", "anchor", "pages", "links")
_LEVEL_DIGITS = 10
# The least text names the first link: level, page, whether it has no text, text. A link with a text comes before one
# without, because an image or a redirect says less. A space, which no URL contains, is less than all that URLs contain.
_LINKS = f"""
    SELECT u.site, u.url, f.first, f.pages, f.links FROM (
        SELECT e.url_id, count(DISTINCT e.page_id) AS pages, sum(e.count) AS links,
            min((CAST(p.level + {10 ** (_LEVEL_DIGITS - 1)} AS text) || p.url || ' '
                || CASE k.anchor WHEN '' THEN '1' ELSE '0' END || k.anchor) {{c}}) AS first
        FROM page p JOIN external_link e ON e.page_id = p.id JOIN link_context k ON k.id = e.context_id
        WHERE p.site_id {{ids}} GROUP BY e.url_id
    ) f JOIN external_url u ON u.id = f.url_id ORDER BY u.site {{c}}, u.url {{c}}"""  # noqa: S608 - constants of ours


def external_rows(database: Database, site_ids: Collection[int]) -> Iterator[list[Value]]:
    """Yield the rows of the table of some sites, by host and URL; the database sorts them, in files if needed."""
    with database.read() as connection:
        for site, url, first, pages, links in streamed(connection, _LINKS, ids=site_ids):
            page, _, anchor = first[_LEVEL_DIGITS:].partition(" ")
            yield [url, urlsplit(site).hostname, page, anchor[1:], pages, links]


# The sign keeps SQLite from looking for each broken URL among the links of each page.
_HOLDERS = """
    SELECT t.id, a.anchor, l.count, s.url, s.level
    FROM page s JOIN link l ON l.source_id = s.id JOIN page t ON t.id = l.target_id
    LEFT JOIN link_anchor a ON a.source_id = l.source_id AND a.target_id = l.target_id
    WHERE s.site_id = :site AND +l.target_id {ids} ORDER BY t.url {c}, s.level, s.url {c}"""
_BAD = f"""
    SELECT b.raw, b.reason, max(b.anchor {{c}}), sum(b.count), p.url, p.level
    FROM page p JOIN bad_link b ON b.page_id = p.id
    WHERE p.site_id = :site AND b.reason NOT LIKE '{Reason.OTHER_SCHEME} %' GROUP BY b.raw, b.reason, p.url, p.level
    ORDER BY b.raw {{c}}, p.level, p.url {{c}}, b.reason {{c}}"""  # noqa: S608 - a constant of ours


def broken_link_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the report `broken-links`, by target: first links to URLs, then links that are no URLs."""
    with database.read() as connection:
        ends = broken_ends(connection, graph.site_id)
        problems = problems_of(connection, ends, ends)
        for target_id, *of_page in streamed(connection, _HOLDERS, site=graph.site_id, ids=ends):
            url, status, reason = problems[target_id]
            yield [url, status, sentence(reason), *of_page]
        for raw, reason, *of_page in streamed(connection, _BAD, site=graph.site_id):
            yield [raw, None, sentence(reason), *of_page]


_REDIRECTS = f"""
    SELECT id, url, status, level FROM page WHERE site_id = :site AND (state = {State.MOVED:d}
    OR (state IN ({State.REFUSED:d}, {State.FAILED:d}) AND status >= 300 AND status < {MIN_ERROR_STATUS}))
    ORDER BY url {{c}}"""  # noqa: S608 - constants of ours


def redirect_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the report `redirects`, by URL."""
    with database.read() as connection, database.read() as lookups:
        for pages in batches(streamed(connection, _REDIRECTS, site=graph.site_id)):
            for *cells, problem, level, chain in redirect_cells(lookups, pages):
                yield [*cells, sentence(problem), level, chain]


logger = logging.getLogger(__name__)

EXTERNAL = "external-links"


class ResultTable(NamedTuple):
    """A table: its columns, what its rows are called, and how they are read."""

    columns: Sequence[str]
    noun: str
    rows: Callable[[Database, SiteGraph], Iterator[list[Value]]]


TABLES = {
    "pages": ResultTable(PAGE_COLUMNS, "URL", page_rows),
    BROKEN_LINKS: ResultTable(BROKEN_COLUMNS, "broken link", broken_link_rows),
    "redirects": ResultTable(REDIRECT_COLUMNS, "redirect", redirect_rows),
    EXTERNAL: ResultTable(
        EXTERNAL_COLUMNS, "external URL", lambda database, graph: external_rows(database, [graph.site_id])
    ),
}


class WrittenFile(NamedTuple):
    """The file or files of a graph or a table, and what they contain."""

    site: str  # "": all sites
    paths: list[Path]
    contents: str  # such as "5 redirects"


def _totals(connection: Connection, crawl_id: int) -> Totals | None:
    """Return the totals by which a crawl measured the importance of pages; None if it did not."""
    if recorded(connection, crawl_id, "ORDER").get("ORDER") not in OF_IMPORTANCE:
        return None
    from crawlers.store.reading.importance import totals_of  # not for other crawls

    return totals_of(connection, crawl_id)


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
        totals = _totals(connection, crawl.id)
    joined = mission_named(crawl.mission).joined
    tables = {name: TABLES[name] for name in TABLES if name in wanted.tables and name not in joined}
    for site in sites if wanted.formats or tables else ():
        graph = SiteGraph(database, site.id, site.site, f"pages and links of {site.site}")
        if not graph.ids:
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
