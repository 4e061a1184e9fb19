"""Writes a graph as GEXF 1.3, the format that Gephi opens.

Equal graphs give equal bytes: the file contains a date only if the caller gives one, and no program version.

Two attributes are omitted deliberately. Edges have no id, which the schema allows and which saves a sixth of
the file; and ``idtype="integer"`` is not set, because Gephi names edges without an id e0, e1 … and
could not store those in a graph whose ids are integers.

References
----------
.. [1] GEXF Working Group (2022), GEXF 1.3 schema and primer, https://gexf.net
"""

from __future__ import annotations

import re
import shutil
from typing import IO, TYPE_CHECKING

from crawlers.graphs.model import GraphSize, write_edges, write_lines
from crawlers.storage.files.cells import cell, clean

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator

    from crawlers.graphs.model import Graph

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gexf xmlns="http://gexf.net/1.3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://gexf.net/1.3 http://gexf.net/1.3/gexf.xsd" version="1.3">'
)
EDGE = ('<edge source="', '" target="', '" weight="', '"/>\n')
COPY_BYTES = 1 << 20

_SPECIAL = re.compile('[&<>"\t\n\r]')
_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    # A parser turns these three into spaces in an attribute, and a bare \r into \n anywhere.
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


def escape(text: str) -> str:
    r"""Return *text* for use in an XML attribute or element, without characters that XML forbids (see `clean`).

    >>> escape('a < "b"\n')
    'a &lt; &quot;b&quot;&#10;'
    """
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], clean(text))


def write_gexf(graph: Graph, out: IO[bytes], edges: IO[bytes], date: datetime.date | None = None) -> GraphSize:
    """Write *graph* to *out*; *edges* is a readable temporary file, as large as the edges.

    The schema requires the nodes first, but the graph yields its edges first: they are buffered in *edges*.
    *date* becomes the date of last modification. A value of None omits the attribute of that node.
    """
    edge_count = write_edges(graph, edges, EDGE)
    write_lines(_head(graph, date), out)
    node_count = write_lines(_nodes(graph), out)
    write_lines(["</nodes>", "<edges>"], out)
    edges.seek(0)
    shutil.copyfileobj(edges, out, COPY_BYTES)
    write_lines(["</edges>", "</graph>", "</gexf>"], out)
    return GraphSize(node_count, edge_count)


def _head(graph: Graph, date: datetime.date | None) -> Iterator[str]:
    yield HEAD
    yield f'<meta lastmodifieddate="{date:%Y-%m-%d}">' if date else "<meta>"
    yield "<creator>crawlers</creator>"
    yield f"<keywords>{escape(graph.name)}</keywords>"  # a graph has no name in GEXF
    yield f"<description>{escape(graph.description)}</description>"
    yield "</meta>"
    yield '<graph defaultedgetype="directed" mode="static">'
    yield '<attributes class="node" mode="static">'
    for name, type_ in graph.columns:
        yield f'<attribute id="{escape(name)}" title="{escape(name)}" type="{type_}"/>'
    yield "</attributes>"
    yield "<nodes>"


def _nodes(graph: Graph) -> Iterator[str]:
    openings = [f'<attvalue for="{escape(column.name)}" value="' for column in graph.columns]
    for number, label, *values in graph.nodes():
        parts = [f'<node id="{number}" label="{escape(label)}"><attvalues>']
        for opening, value in zip(openings, values, strict=True):
            text = escape(value) if isinstance(value, str) else cell(value)
            if text is not None:
                parts.append(f'{opening}{text}"/>')
        parts.append("</attvalues></node>")
        yield "".join(parts)
