"""Writes graphs to files in a named format."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.files.atomic import BUFFER_BYTES, replacing
from crawlers.graphs.writers.csv import write_csv
from crawlers.graphs.writers.gexf import write_gexf
from crawlers.graphs.writers.graphml import write_graphml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from crawlers.graphs.looks import GraphLayout, LookOf
    from crawlers.graphs.model import Graph, GraphSize


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
