"""Writes a graph as two CSV tables, nodes and edges, with the headings that Gephi's import looks for.

Titles are written by strangers, and a spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``
as a formula. A text (label or string attribute) that begins with one of these, with their full-width
twins, or with tab, newline or carriage return therefore gets one apostrophe in front; so does a text that
begins with an apostrophe, which makes the rule reversible: whoever wants the text as it was removes one
leading apostrophe. Numbers stay as they are.

References
----------
.. [1] OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection
.. [2] RFC 4180, Common Format and MIME Type for CSV Files; so lines end with CRLF
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from crawlers.storage.graph_model import GraphSize, cell, clean, write_edges

if TYPE_CHECKING:
    import datetime

    from crawlers.storage.graph_model import Graph, Value

EDGE = ("", ",", ",Directed,", "\r\n")
FORMULA_STARTS = tuple("=+-@\t\n\r＝＋－＠'")


def write_csv(graph: Graph, out: IO[bytes], edges: IO[bytes], date: datetime.date | None = None) -> GraphSize:
    """Write the nodes of *graph* to *out* and its edges to *edges*, as UTF-8 without byte order mark.

    CSV has no place for the name, the description and the *date*; they are left out.
    """
    edges.write(b"Source,Target,Type,Weight\r\n")
    edge_count = write_edges(graph, edges, EDGE)
    lines = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(lines, lineterminator="\r\n")  # with "\n", Python 3.11 leaves a lone \r unquoted
    table.writerow(["Id", "Label", *(_guarded(column.name) for column in graph.columns)])
    node_count = 0
    for number, label, *values in graph.nodes():
        if len(values) != len(graph.columns):
            raise ValueError(f"node {number} has {len(values)} values for {len(graph.columns)} columns")
        table.writerow([number, _guarded(label), *map(guarded_cell, values)])
        node_count += 1
    lines.detach()
    return GraphSize(node_count, edge_count)


def guarded_cell(value: Value) -> str | None:
    """Return the text of *value* as a cell that no spreadsheet takes for a formula; None if there is nothing."""
    return _guarded(value) if isinstance(value, str) else cell(value)


def _guarded(text: str) -> str:
    """Return *text* so that no spreadsheet takes it for a formula.

    >>> _guarded("=1+1"), _guarded("1+1")
    ("'=1+1", '1+1')
    """
    text = clean(text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
