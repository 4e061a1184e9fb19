"""Writes graphs to files by the name of a format."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from crawlers.errors import ConfigError
from crawlers.graphs.writers.csv import write_csv
from crawlers.graphs.writers.gexf import write_gexf
from crawlers.graphs.writers.graphml import write_graphml
from crawlers.storage.files.atomic import BUFFER_BYTES, replacing

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator
    from pathlib import Path

    from crawlers.graphs.model import Graph, GraphSize


class Writer(Protocol):
    """Writes a graph: to *out*, with *edges* as scratch space, or as a second file."""

    def __call__(
        self, graph: Graph, out: IO[bytes], edges: IO[bytes], date: datetime.date | None = None
    ) -> GraphSize: ...


class GraphFormat(NamedTuple):
    """A format: its writer and what its file names end with."""

    write: Writer
    ending: str
    edges_ending: str | None = None  # of the second file, in formats of two


FORMATS = {
    "gexf": GraphFormat(write_gexf, ".gexf"),
    "graphml": GraphFormat(write_graphml, ".graphml"),
    "csv": GraphFormat(write_csv, ".nodes.csv", ".edges.csv"),
}


def graph_format(name: str) -> GraphFormat:
    """Return the format called *name*; raise ConfigError if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"unknown graph format {name!r}: use one of {', '.join(FORMATS)}") from None


def graph_paths(base: Path, name: str) -> list[Path]:
    """Return the files that the format *name* makes of *base*, a path without ending.

    >>> from pathlib import Path
    >>> [path.name for path in graph_paths(Path("result/a.test_8600"), "csv")]
    ['a.test_8600.nodes.csv', 'a.test_8600.edges.csv']
    """
    format_ = graph_format(name)
    return [base.with_name(base.name + end) for end in (format_.ending, format_.edges_ending) if end]


def write_graph(graph: Graph, base: Path, name: str = "gexf", date: datetime.date | None = None) -> GraphSize:
    """Write *graph* in the format *name* to the files `graph_paths` tells, making the folder if need be.

    Of the two files of CSV each is replaced at once, first the edges, directly after them the nodes.
    Raises ConfigError if a file can't be made, StoreError if the disk fills up; the old files are
    untouched then.
    """
    paths = graph_paths(base, name)
    with ExitStack() as stack:
        out = stack.enter_context(replacing(paths[0]))
        edges = stack.enter_context(replacing(paths[1]) if len(paths) > 1 else _scratch(paths[0].parent))
        return graph_format(name).write(graph, out, edges, date)


@contextmanager
def _scratch(folder: Path) -> Iterator[IO[bytes]]:
    """Give a file without a name, which vanishes with the process."""
    with tempfile.TemporaryFile(dir=folder, buffering=BUFFER_BYTES) as stream:
        yield stream
