"""Writes the graphs of a crawl as GEXF 1.3, the format that Gephi opens, as CSV, and as GraphML, with further columns.

These are importance, and the times at which pages were seen; memory: 8 bytes for each node and further column. Equal
graphs give equal bytes: the files contain no date and no program version. GraphML is read by networkx, igraph, yEd,
Cytoscape and Gephi; it does not distinguish an empty text from a missing one. CSV has two tables, nodes and edges, with
the headings that Gephi's import looks for.

Two attributes of GEXF are omitted deliberately. Edges have no id, which the schema allows and which saves a sixth of
the file; and ``idtype="integer"`` is not set, because Gephi names edges without an id e0, e1 … and could not store
those in a graph whose ids are integers. With the look of the nodes, each of them has the elements of the module viz, by
which Gephi draws it; without, the namespace of the module is not declared.

References
----------
.. [1] GEXF Working Group (2022), GEXF 1.3 schema and primer, https://gexf.net
.. [2] RFC 4180, Common Format and MIME Type for CSV Files; so lines end with CRLF
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.files.atomic import BUFFER_BYTES, replacing
from crawlers.files.csv_tables import guarded, write_rows
from crawlers.graphs.looks import laid_out
from crawlers.graphs.model import (
    MEASURES,
    SEEN,
    CachedGraph,
    Column,
    ExtendedGraph,
    GraphSize,
    attribute_texts,
    copy_edges,
    escape,
    write_edges,
    write_lines,
)
from crawlers.plurals import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from crawlers.graphs.looks import GraphLayout, Look, LookOf
    from crawlers.graphs.model import Graph
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import Totals

logger = logging.getLogger(__name__)

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gexf xmlns="http://gexf.net/1.3"{viz} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://gexf.net/1.3 http://gexf.net/1.3/gexf.xsd" version="1.3">'
)
VIZ = ' xmlns:viz="http://gexf.net/1.3/viz"'
EDGE = ('<edge source="', '" target="', '" weight="', '"/>\n')


# A parser turns the last three into spaces in an attribute, and a bare \r into \n anywhere.
def write_gexf(graph: Graph, out: IO[bytes], edges: IO[bytes], look: LookOf | None = None) -> GraphSize:
    """Write *graph* to *out*; *edges* is a readable temporary file, as large as the edges.

    The schema requires the nodes first, but the graph yields its edges first: they are buffered in *edges*.
    A value of None omits the attribute of that node. *look* returns how a node is drawn.
    """
    edge_count = write_edges(graph, edges, EDGE)
    return GraphSize(write_document(graph, out, edges, look), edge_count)


def write_document(
    graph: Graph,
    out: IO[bytes],
    edges: IO[bytes],
    look: LookOf | None,
    edge_columns: Sequence[Column] = (),
) -> int:
    """Write all but the edges, which *edges* has, and return the number of nodes; edges have the *edge_columns*."""
    write_lines(_head(graph, VIZ if look is not None else "", edge_columns), out)
    node_count = write_lines(_node_lines(graph, look), out)
    write_lines(["</nodes>", "<edges>"], out)
    copy_edges(edges, out)
    write_lines(["</edges>", "</graph>", "</gexf>"], out)
    return node_count


def _head(graph: Graph, viz: str, edge_columns: Sequence[Column]) -> Iterator[str]:
    yield HEAD.format(viz=viz)
    yield "<meta>"
    yield "<creator>crawlers</creator>"
    yield f"<keywords>{escape(graph.name)}</keywords>"  # a graph has no name in GEXF
    yield f"<description>{escape(graph.description)}</description>"
    yield "</meta>"
    yield '<graph defaultedgetype="directed" mode="static">'
    yield '<attributes class="node" mode="static">'
    for name, type_ in graph.columns:
        yield f'<attribute id="{escape(name)}" title="{escape(name)}" type="{type_}"/>'
    yield "</attributes>"
    if edge_columns:
        yield '<attributes class="edge" mode="static">'
        for name, type_ in edge_columns:
            yield f'<attribute id="{escape(name)}" title="{escape(name)}" type="{type_}"/>'
        yield "</attributes>"
    yield "<nodes>"


def _node_lines(graph: Graph, look: LookOf | None) -> Iterator[str]:
    openings = [f'<attvalue for="{escape(column.name)}" value="' for column in graph.columns]
    for row in graph.nodes():
        number, label, *values = row
        attributes = attribute_texts(values, openings, '"/>')
        drawn = "" if look is None else _viz(look(row))
        yield f'<node id="{number}" label="{escape(label)}"><attvalues>{attributes}</attvalues>{drawn}</node>'


def _viz(look: Look) -> str:
    """Return the elements of the module viz, in the order of the schema: color, position, size."""
    place = f'<viz:position x="{look.position[0]}" y="{look.position[1]}" z="0.0"/>' if look.position else ""
    red, green, blue = bytes.fromhex(look.colour[1:])
    return f'<viz:color r="{red}" g="{green}" b="{blue}"/>{place}<viz:size value="{look.size}"/>'


_CSV_EDGE = ("", ",", ",Directed,", "\r\n")


def write_csv(graph: Graph, out: IO[bytes], edges: IO[bytes], look: LookOf | None = None) -> GraphSize:
    """Write the nodes of *graph* to *out* and its edges to *edges*, as UTF-8 without byte order mark.

    CSV cannot hold the name, the description and the *look*; they are omitted.
    """
    edges.write(b"Source,Target,Type,Weight\r\n")
    edge_count = write_edges(graph, edges, _CSV_EDGE)
    columns = ["Id", "Label", *(guarded(column.name) for column in graph.columns)]
    rows = ((value for _, value in zip(columns, node, strict=True)) for node in graph.nodes())
    return GraphSize(write_rows(out, columns, rows), edge_count)


def _write_graphml(graph: Graph, out: IO[bytes], edges: IO[bytes], look: LookOf | None = None) -> GraphSize:
    from crawlers.graphs.graphml import write_graphml  # few crawls write it

    return write_graphml(graph, out, edges, look)


ALL_MEASURES = (*MEASURES, *SEEN)  # the names of GRAPH_MEASURES
NAMES_SHOWN = 5


class GraphFormat(NamedTuple):
    """A format: its file name endings, and its writer, which gets a second file or a temporary one for the edges."""

    write: Callable[[Graph, IO[bytes], IO[bytes], LookOf | None], GraphSize]
    ending: str
    edges_ending: str | None = None  # of the second file, in formats with two files
    has_looks: bool = False  # whether it holds colours, sizes and positions


FORMATS = {
    "gexf": GraphFormat(write_gexf, ".gexf", has_looks=True),
    "graphml": GraphFormat(_write_graphml, ".graphml"),
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
        from crawlers.graphs.analysis import importance_column  # with numpy, as below

        graph = ExtendedGraph(graph, importance_column(pages, database, totals))
    if times := [name for name in wanted.measures if name in SEEN]:
        from crawlers.graphs.analysis import seen_columns

        graph = ExtendedGraph(graph, seen_columns(pages, database, times))
    if computed := [name for name in wanted.measures if name not in SEEN]:
        from crawlers.graphs.analysis import analyse

        graph = ExtendedGraph(graph, analyse(graph, computed))
    for name in wanted.formats:
        yield graph_paths(base, name), write_laid_out(graph, base, name, wanted.layout, say)
