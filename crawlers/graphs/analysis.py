"""Measures of the nodes of a graph (components, PageRank, hubs and authorities), as further columns.

Unlike the writers, the analysis holds all edges in memory, as a sparse matrix: some 60 bytes for each. Repeated links
of a page count once, as in the degrees.

Values are rounded to 12 decimals. PageRank, hub and authority sum to 1 each, so with the largest graph
allowed by default the mean is at least 5e-7, and 12 decimals keep five digits of it; differences between
processors (the order of summation, about 1e-16 per step) are rounded away.

The PageRank of any stored crawl is computed from its links: nothing is fetched, and any order will do. Repeated links
count once, and links of a page to itself not at all; redirects are followed to their final targets. Waiting pages have
inlinks but no outlinks; rejected pages are excluded. Duplicates are not merged, as in the list by importance.

scipy is imported where it is used, because crawls without measures must not wait for it.
"""

from __future__ import annotations

import heapq
import json
import sys
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import BigInteger, Float, column, select, text

from crawlers.errors import ConfigError
from crawlers.files.csv_tables import iso_time
from crawlers.graphs.model import FIRST_SEEN, LAST_SEEN, MEASURES, Column, edge_places
from crawlers.items import State
from crawlers.ranking.link_ranks import hits, pagerank
from crawlers.store.reading.importance import DECIMALS, shares_of_site
from crawlers.store.reading.redirect_chains import final_target
from crawlers.store.schema.tables import page
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from sqlalchemy import Connection, Subquery

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.model import FurtherColumns, Graph
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals

DAMPING = 0.85  # Brin and Page (1998), The Anatomy of a Large-Scale Hypertextual Web Search Engine, 2.1.1
RANK_ERROR = 1e-13  # of all nodes together
MAX_EDGES = 2_000_000


def analyse(graph: Graph, measures: Sequence[str]) -> dict[Column, Callable[[int], Value]]:
    """Return the *measures* (names in MEASURES) as columns of every node; equal graphs have equal values.

    Raises ConfigError for an unknown measure, and for more than `MAX_EDGES` edges, before the rest of them
    takes memory.
    """
    for name in measures:
        if name not in MEASURES:
            raise ConfigError(f"unknown measure {name!r}; choose from {', '.join(MEASURES)}")
    links = link_matrix(graph, MAX_EDGES)
    found: dict[str, NDArray[Any]] = {}
    for names, measure in _GROUPS.items():
        if not set(names).isdisjoint(measures):
            found.update(zip(names, measure(links), strict=True))
    return {
        Column(name, "integer" if found[name].dtype.kind == "i" else "double"): dict(
            zip(graph.ids, found[name].tolist(), strict=True)
        ).__getitem__
        for name in measures
    }


def link_matrix(graph: Graph, most: int = sys.maxsize) -> csr_array:
    """Return the edges of *graph*, without weights; raise ConfigError if there are more than *most* of them."""
    from scipy.sparse import csr_array

    edges = edge_places(graph, most)
    if edges is None:
        raise ConfigError(
            f"{graph.name}: more than {most:,} edges, too many to analyse in memory; export without "
            "measures, or analyse the graph of sites instead"
        )
    return csr_array((np.ones(len(edges)), edges.T), shape=(len(graph.ids), len(graph.ids)))


def _degrees(links: csr_array) -> tuple[NDArray[Any], ...]:
    return links.sum(axis=0).astype(np.int64), links.sum(axis=1).astype(np.int64)


def _components(links: csr_array) -> tuple[NDArray[Any], ...]:
    """Number the components by size, largest first, then by their smallest id."""
    from scipy.sparse.csgraph import connected_components

    _, components = connected_components(links, connection="strong")
    _, firsts, components, sizes = np.unique(components, return_index=True, return_inverse=True, return_counts=True)
    numbers = np.empty(len(sizes), np.int64)
    numbers[np.lexsort((firsts, -sizes))] = np.arange(1, len(sizes) + 1)
    return numbers[components], sizes[components]


def _pagerank(links: csr_array) -> tuple[NDArray[Any], ...]:
    return (np.round(pagerank(links, DAMPING, RANK_ERROR).ranks, DECIMALS),)


def _hits(links: csr_array) -> tuple[NDArray[Any], ...]:
    found = hits(links)
    return tuple(np.round(scores / (scores.sum() or 1.0), DECIMALS) for scores in (found.hubs, found.authorities))


_GROUPS: dict[tuple[str, ...], Callable[[csr_array], tuple[NDArray[Any], ...]]] = {
    ("in_degree", "out_degree"): _degrees,  # numbers of nodes that link here, and that are linked to
    ("component", "component_size"): _components,  # number of the strongly connected component, and of its nodes
    ("pagerank",): _pagerank,
    ("hub", "authority"): _hits,
}


# Bound of the sum of all errors. The relative error of each rank is about the same, so that ranks that differ
# within DIGITS are ordered correctly, and equal pages have equal ranks.
ENOUGH = 1e-9
DIGITS = 6

_PAGES = f"""
    SELECT p.id, p.state, p.site_id, p.moved_to FROM page p JOIN site s ON s.id = p.site_id
    WHERE s.crawl_id = :crawl AND p.state IN ({int(State.WAITING)}, {int(State.DONE)}, {int(State.MOVED)})"""  # noqa: S608
# Page numbers are reserved in blocks, so only simultaneous crawls have numbers in between.
_LINKS = "SELECT source_id, target_id FROM link WHERE source_id BETWEEN :first AND :last"
_RANKS = {
    "sqlite": "SELECT CAST(key AS INTEGER) AS page_id, value AS score FROM json_each(:ranks)",
    "postgresql": """
        SELECT CAST(key AS bigint) AS page_id, CAST(value AS double precision) AS score
        FROM json_each_text(CAST(:ranks AS json))""",
}


class StoredPageRank:
    """PageRank of the pages of a crawl that were read.

    For memory and time see docs/measurements.md.
    """

    def __init__(self, database: Database, crawl_id: int, damping: float) -> None:
        self._crawl_id = crawl_id
        self._places: dict[int, int] = {}  # of the pages that were read or wait, in the matrix of links
        self._moves: dict[int, int] = {}
        self._read, self._sites = array("q"), array("q")  # the pages that were read, and the site of each
        with database.read() as connection:
            self._load_pages(connection)
            self._ranks, self.error_bound = pagerank(self._links(connection), damping, ENOUGH)

    def __len__(self) -> int:
        """The number of pages that were read."""
        return len(self._read)

    def rank(self, page: int) -> float:
        """Return the PageRank of *page*, rounded to DIGITS digits."""
        return float(f"{self._ranks[self._places[page]]:.{DIGITS}g}")

    def best(self, connection: Connection, number: int, sites: Collection[int] = ()) -> Subquery:
        """Return the query for `page_id` and `score` of the *number* pages with the highest rank, or of *sites*.

        Further pages with the least of these ranks are among them. The ranks of a crawl add up to 1.
        """
        listed = [page for page, site in zip(self._read, self._sites, strict=True) if not sites or site in sites]
        least = min(heapq.nlargest(number, map(self.rank, listed)), default=0.0)
        ranks = {page: rank for page in listed if (rank := self.rank(page)) >= least}
        query = text(_RANKS[connection.dialect.name]).bindparams(ranks=json.dumps(ranks))
        return query.columns(column("page_id", BigInteger), column("score", Float)).subquery("ranked")

    def _load_pages(self, connection: Connection) -> None:
        for number, state, site, moved_to in streamed(connection, _PAGES, crawl=self._crawl_id):
            if state == State.MOVED:
                self._moves[number] = moved_to
                continue
            self._places[number] = len(self._places)
            if state == State.DONE:
                self._read.append(number)
                self._sites.append(site)

    def _links(self, connection: Connection) -> csr_array:
        from scipy.sparse import csr_array

        sources, targets = array("q"), array("q")
        if self._read:
            read = set(self._read)
            for source, target in streamed(connection, _LINKS, first=min(read), last=max(read)):
                end = final_target(target, self._moves) if source in read else None
                if end in self._places and end != source:
                    sources.append(self._places[source])
                    targets.append(self._places[end])
        links = csr_array((np.ones(len(sources)), (sources, targets)), shape=(len(self._places),) * 2)
        links.data[:] = 1.0  # several redirects may lead to one page
        return links


def importance_column(pages: SiteGraph, database: Database, totals: Totals) -> FurtherColumns:
    """Return the importance of each node of the graph of a site: the sum of the shares of its *pages*.

    Shares sum to 1 over all sites of the crawl, whose *totals* are given.
    """
    sums = array("d", bytes(8 * (len(pages.ids) + 1)))  # nodes start at 1
    for page_id, share in shares_of_site(database, pages.site_id, totals):
        node = pages.node(page_id)
        if node is not None:
            sums[node] += share
    return {Column("importance", "double"): lambda node: round(sums[node], DECIMALS)}


NEVER = float("inf")  # the first time of a node before its pages are read; minus that, the last


def seen_columns(pages: SiteGraph, database: Database, names: Sequence[str]) -> FurtherColumns:
    """Return the columns *names* out of `SEEN` of the graph *pages*, in ISO 8601 and UTC.

    `first_seen` is when the crawl found the first URL of the node, `last_seen` when it last fetched one of them. They
    differ between crawls of an unchanged site, so graphs have them only on request.
    """
    nodes = len(pages.ids) + 1  # they start at 1
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
