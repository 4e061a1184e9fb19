"""Writes a graph as two CSV tables, nodes and edges, with the headings that Gephi's import looks for.

References
----------
.. [1] RFC 4180, Common Format and MIME Type for CSV Files; so lines end with CRLF
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from crawlers.files.csv_tables import guarded, write_rows
from crawlers.graphs.model import GraphSize, write_edges

if TYPE_CHECKING:
    from crawlers.graphs.looks import LookOf
    from crawlers.graphs.model import Graph

EDGE = ("", ",", ",Directed,", "\r\n")


def write_csv(graph: Graph, out: IO[bytes], edges: IO[bytes], look: LookOf | None = None) -> GraphSize:
    """Write the nodes of *graph* to *out* and its edges to *edges*, as UTF-8 without byte order mark.

    CSV cannot hold the name, the description and the *look*; they are omitted.
    """
    edges.write(b"Source,Target,Type,Weight\r\n")
    edge_count = write_edges(graph, edges, EDGE)
    columns = ["Id", "Label", *(guarded(column.name) for column in graph.columns)]
    rows = ((value for _, value in zip(columns, node, strict=True)) for node in graph.nodes())
    return GraphSize(write_rows(out, columns, rows), edge_count)
