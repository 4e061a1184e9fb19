"""Writes the graphs of a crawl to files, with further columns: importance, and the times at which pages were seen.

Memory: 8 bytes for each node and further column.
"""

from __future__ import annotations

import logging
import tempfile
from array import array
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.files.atomic import BUFFER_BYTES, replacing
from crawlers.files.csv_tables import iso_time
from crawlers.graphs.graph_writers import write_csv, write_gexf, write_graphml
from crawlers.graphs.looks import laid_out
from crawlers.graphs.model import MEASURES, CachedGraph, Column, ExtendedGraph
from crawlers.items import State
from crawlers.plurals import plural
from crawlers.store.reading.importance import DECIMALS, shares_of_site
from crawlers.store.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlers.graphs.looks import GraphLayout, LookOf
    from crawlers.graphs.model import FurtherColumns, Graph, GraphSize
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals


logger = logging.getLogger(__name__)

FIRST_SEEN, LAST_SEEN = "first_seen", "last_seen"
SEEN = (FIRST_SEEN, LAST_SEEN)
ALL_MEASURES = (*MEASURES, *SEEN)  # the names of GRAPH_MEASURES
NEVER = float("inf")
NAMES_SHOWN = 5


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


class GraphFormat(NamedTuple):
    """A format: its file name endings, and its writer, which gets a second file or a temporary one for the edges."""

    write: Callable[[Graph, IO[bytes], IO[bytes], LookOf | None], GraphSize]
    ending: str
    edges_ending: str | None = None  # of the second file, in formats with two files
    has_looks: bool = False  # whether it holds colours, sizes and positions


FORMATS = {
    "gexf": GraphFormat(write_gexf, ".gexf", has_looks=True),
    "graphml": GraphFormat(write_graphml, ".graphml"),
    "csv": GraphFormat(write_csv, ".nodes.csv", ".edges.csv"),
}

PARQUET = "parquet"  # the format of a whole crawl instead of a site: see `graphs.dataset`
ALL_FORMATS = (*FORMATS, PARQUET)


class ResultFiles(NamedTuple):
    """Which files are written: of graphs, and tables of URLs and links."""

    formats: Sequence[str]
    measures: Sequence[str]  # further columns of nodes, names of `export.ALL_MEASURES`
    layout: GraphLayout | None  # of formats that can hold the look of a map
    tables: Collection[str]  # names of `site_results.TABLES`


def graph_format(name: str) -> GraphFormat:
    """Return the format called *name*; raise ConfigError if it is unknown."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"unknown graph format {name!r}; choose one of: {', '.join(FORMATS)}") from None


def graph_paths(base: Path, name: str) -> list[Path]:
    """Return the files that the format *name* writes for *base*, a path without ending.

    >>> from pathlib import Path
    >>> [path.name for path in graph_paths(Path("result/a.test_8600"), "csv")]
    ['a.test_8600.nodes.csv', 'a.test_8600.edges.csv']
    """
    format_ = graph_format(name)
    return [base.with_name(base.name + end) for end in (format_.ending, format_.edges_ending) if end]


def write_graph(graph: Graph, base: Path, name: str = "gexf", look: LookOf | None = None) -> GraphSize:
    """Write *graph* in the format *name* to the files of `graph_paths`, creating the folder if needed.

    *look* returns how a node is drawn, which only gexf can hold.
    The two files of CSV are each replaced atomically, first the edges, directly after them the nodes.
    Raises ConfigError if a file can't be created, and StoreError if the disk is full; the old files are then unchanged.
    """
    paths = graph_paths(base, name)
    with ExitStack() as stack:
        out = stack.enter_context(replacing(paths[0]))
        edges = stack.enter_context(replacing(paths[1]) if len(paths) > 1 else scratch(paths[0].parent))
        return graph_format(name).write(graph, out, edges, look)


@contextmanager
def scratch(folder: Path) -> Iterator[IO[bytes]]:
    """Yield an unnamed temporary file in *folder*."""
    with tempfile.TemporaryFile(dir=folder, buffering=BUFFER_BYTES) as stream:
        yield stream


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
