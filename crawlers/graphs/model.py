"""Defines the graph that writers and analyses read, and the functions that all writers share.

A graph is streamed and never held in memory: first all edges, then all nodes, because the degrees of the
nodes are counted while the edges are read. Nothing here knows the source of a graph or its file format.
"""

from __future__ import annotations

import shutil
from array import array
from itertools import chain
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, Protocol
from xml.sax import saxutils

from crawlers.files.csv_tables import Value, cell, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    FurtherColumns = Mapping["Column", Callable[[int], Value]]

ColumnType = Literal["integer", "long", "double", "boolean", "string"]
Row = tuple[int, str, *tuple[Value, ...]]  # id, label, then one value for each column

_ESCAPES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
COPY_BYTES = 1 << 20
EDGES_AT_ONCE = 4096  # keeps the text of a page with a million links below 0.5 MB
CACHED_EDGES = 500_000  # 8 MB
SEEN = FIRST_SEEN, LAST_SEEN = "first_seen", "last_seen"
MEASURES = ("in_degree", "out_degree", "component", "component_size", "pagerank", "hub", "authority")  # see `analysis`


class Column(NamedTuple):
    """An attribute of the nodes; the types are those of GEXF (integer has 32 bits, long 64)."""

    name: str
    type: ColumnType


# A Node of items.py is a Row: its id, its URL as label, then these.
PAGE_COLUMNS = (
    Column("level", "integer"),
    Column("status", "integer"),
    Column("title", "string"),
    Column("in_degree", "integer"),
    Column("out_degree", "integer"),
    Column("external_links", "integer"),
    Column("duplicates", "integer"),
)


class Graph(Protocol):
    """A directed graph without parallel edges, whose edges have a weight."""

    @property
    def name(self) -> str:
        """The subject of the graph, such as ``apache2.test:8600``."""

    @property
    def description(self) -> str:
        """One sentence for people; may be empty."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The attributes of the nodes, in the order of the values in each row."""

    @property
    def ids(self) -> Sequence[int]:
        """The ids of all nodes, ascending."""

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        """Yield each source id, ascending, with its (target id, weight) pairs, ascending.

        May be called repeatedly: an analysis reads the edges once more than a writer.
        """

    def nodes(self) -> Iterator[Row]:
        """Yield the rows in order of id; call it only after `edges` is exhausted."""


class ExtendedGraph:
    """*graph* with *further* columns, each with the function that returns its value for a node, given by its id.

    Columns that the graph has already are not repeated.
    """

    def __init__(self, graph: Graph, further: FurtherColumns) -> None:
        known = {column.name for column in graph.columns}
        new = {column: value_of for column, value_of in further.items() if column.name not in known}
        self.name = graph.name
        self.description = graph.description
        self.columns = (*graph.columns, *new)
        self.ids = graph.ids
        self._graph = graph
        self._values = tuple(new.values())

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        return self._graph.edges()

    def nodes(self) -> Iterator[Row]:
        for row in self._graph.nodes():
            number, label, *values = row
            all_values = (*values, *(value_of(number) for value_of in self._values))
            yield number, label, *all_values


class CachedGraph:
    """*graph*, the edges of which are read only once from where it has them, if they are few.

    That is at most `CACHED_EDGES` between at most a tenth as many nodes; others are read each time.
    """

    def __init__(self, graph: Graph) -> None:
        self.name = graph.name
        self.description = graph.description
        self.columns = graph.columns
        self.ids = graph.ids
        self._graph = graph
        self._links: tuple[array[int], array[int], array[int]] | None = None

    def nodes(self) -> Iterator[Row]:
        return self._graph.nodes()

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        if self._links is None:
            yield from self._read_edges()
            return
        sources, ends, pairs = self._links
        start = 0
        for source, end in zip(sources, ends, strict=True):
            yield source, list(zip(pairs[start:end:2], pairs[start + 1 : end : 2], strict=True))
            start = end

    def _read_edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        sources, ends, pairs = array("q"), array("q"), array("q")  # the pairs of all sources, one after the other
        is_small = len(self.ids) <= CACHED_EDGES // 10  # pages have ten links and more
        for source, targets in self._graph.edges():
            if is_small and len(pairs) + 2 * len(targets) > 2 * CACHED_EDGES:
                is_small, pairs = False, array("q")
            if is_small:
                pairs.extend(chain.from_iterable(targets))
                sources.append(source)
                ends.append(len(pairs))
            yield source, targets
        if is_small:
            self._links = sources, ends, pairs


def edge_places(graph: Graph, most: int) -> NDArray[np.int64] | None:
    """Return the edges of *graph*, as two columns of places in its ids; None if there are more than *most* of them."""
    import numpy as np

    sources, targets = array("q"), array("q")
    for source, its in graph.edges():
        if len(sources) + len(its) > most:
            return None
        sources.extend([source] * len(its))
        targets.extend([target for target, _ in its])
    ids = np.array(graph.ids, dtype=np.int64)
    return np.column_stack([np.searchsorted(ids, numbers) for numbers in (sources, targets)])


class GraphSize(NamedTuple):
    """The numbers of nodes and edges written."""

    nodes: int
    edges: int


def write_edges(graph: Graph, out: IO[bytes], around: tuple[str, str, str, str]) -> int:
    """Write one piece of text for each edge to *out* and return the number of edges.

    *around* is the ASCII text before the source, between source and target, between target and weight, and
    after the weight.
    """
    before, between, after, end = around
    count = 0
    for source, targets in graph.edges():
        head = f"{before}{source}{between}"
        for start in range(0, len(targets), EDGES_AT_ONCE):
            some = targets[start : start + EDGES_AT_ONCE]
            out.write("".join([f"{head}{target}{after}{weight}{end}" for target, weight in some]).encode())
        count += len(targets)
    return count


def escape(text: str) -> str:
    r"""Return *text* for use in an XML attribute or element, without characters that XML forbids (see `clean`).

    >>> escape('a < "b"\n')
    'a &lt; &quot;b&quot;&#10;'
    """
    return saxutils.escape(clean(text), _ESCAPES)


def attribute_texts(values: Sequence[Value], openings: Sequence[str], end: str) -> str:
    """Return each of *values* that is not None between its opening and the *end*."""
    found = []
    for opening, value in zip(openings, values, strict=True):
        if isinstance(value, str):
            found.append(f"{opening}{escape(value)}{end}")
        elif (text := str(value) if type(value) is int else cell(value)) is not None:
            found.append(f"{opening}{text}{end}")
    return "".join(found)


def copy_edges(edges: IO[bytes], out: IO[bytes]) -> None:
    """Append *edges*, which were written before the nodes, to *out*."""
    edges.seek(0)
    shutil.copyfileobj(edges, out, COPY_BYTES)


def write_lines(lines: Iterable[str], out: IO[bytes]) -> int:
    """Write each of *lines* and a newline to *out* as UTF-8, and return the number of lines."""
    count = 0
    for line in lines:
        out.write(f"{line}\n".encode())
        count += 1
    return count
