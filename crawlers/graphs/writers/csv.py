"""Writes a graph as two CSV tables, nodes and edges, with the headings that Gephi's import looks for.

References
----------
.. [1] RFC 4180, Common Format and MIME Type for CSV Files; so lines end with CRLF
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from crawlers.graphs.model import GraphSize, write_edges
from crawlers.storage.files.cells import guarded, guarded_cell

if TYPE_CHECKING:
    from crawlers.graphs.model import Graph

EDGE = ("", ",", ",Directed,", "\r\n")


def write_csv(graph: Graph, out: IO[bytes], edges: IO[bytes]) -> GraphSize:
    """Write the nodes of *graph* to *out* and its edges to *edges*, as UTF-8 without byte order mark.

    CSV cannot hold the name and the description; they are omitted.
    """
    edges.write(b"Source,Target,Type,Weight\r\n")
    edge_count = write_edges(graph, edges, EDGE)
    lines = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(lines, lineterminator="\r\n")  # with "\n", Python 3.11 leaves a lone \r unquoted
    table.writerow(["Id", "Label", *(guarded(column.name) for column in graph.columns)])
    node_count = 0
    for number, label, *values in graph.nodes():
        if len(values) != len(graph.columns):
            raise ValueError(f"node {number}: expected {len(graph.columns)} values, got {len(values)}")
        table.writerow([number, guarded(label), *map(guarded_cell, values)])
        node_count += 1
    lines.detach()
    return GraphSize(node_count, edge_count)
