"""Writes a graph as GEXF 1.3, the format that Gephi opens, as GraphML, and as CSV.

Equal graphs give equal bytes: the files contain no date and no program version. GraphML is read by networkx, igraph,
yEd, Cytoscape and Gephi; it does not distinguish an empty text from a missing one. CSV has two tables, nodes and edges,
with the headings that Gephi's import looks for.

Two attributes of GEXF are omitted deliberately. Edges have no id, which the schema allows and which saves a sixth of
the file; and ``idtype="integer"`` is not set, because Gephi names edges without an id e0, e1 … and could not store
those in a graph whose ids are integers. With the look of the nodes, each of them has the elements of the module viz, by
which Gephi draws it; without, the namespace of the module is not declared.

References
----------
.. [1] GEXF Working Group (2022), GEXF 1.3 schema and primer, https://gexf.net
.. [2] Brandes, Eiglsperger, Lerner (2004), GraphML Primer, http://graphml.graphdrawing.org
.. [3] RFC 4180, Common Format and MIME Type for CSV Files; so lines end with CRLF
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING
from xml.sax import saxutils

from crawlers.files.csv_tables import cell, clean, guarded, write_rows
from crawlers.graphs.model import GraphSize, copy_edges, write_edges, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.looks import Look, LookOf
    from crawlers.graphs.model import Column, Graph


HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gexf xmlns="http://gexf.net/1.3"{viz} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://gexf.net/1.3 http://gexf.net/1.3/gexf.xsd" version="1.3">'
)
VIZ = ' xmlns:viz="http://gexf.net/1.3/viz"'
EDGE = ('<edge source="', '" target="', '" weight="', '"/>\n')

# A parser turns the last three into spaces in an attribute, and a bare \r into \n anywhere.
_ESCAPES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def escape(text: str) -> str:
    r"""Return *text* for use in an XML attribute or element, without characters that XML forbids (see `clean`).

    >>> escape('a < "b"\n')
    'a &lt; &quot;b&quot;&#10;'
    """
    return saxutils.escape(clean(text), _ESCAPES)


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


def attribute_texts(values: Sequence[Value], openings: Sequence[str], end: str) -> str:
    """Return each of *values* that is not None between its opening and the *end*."""
    found = []
    for opening, value in zip(openings, values, strict=True):
        if isinstance(value, str):
            found.append(f"{opening}{escape(value)}{end}")
        elif (text := str(value) if type(value) is int else cell(value)) is not None:
            found.append(f"{opening}{text}{end}")
    return "".join(found)


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


_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
)
_GRAPHML_EDGE = ('<edge source="', '" target="', '"><data key="weight">', "</data></edge>\n")
_GRAPHML_TYPES = {"integer": "int", "long": "long", "double": "double", "boolean": "boolean", "string": "string"}


def write_graphml(graph: Graph, out: IO[bytes], edges: IO[bytes], look: LookOf | None = None) -> GraphSize:
    """Write *graph* to *out*; *edges* is a readable temporary file, as large as the edges.

    Name and description become attributes of the graph, the label becomes an attribute of the nodes; GraphML has no
    *look*.
    """
    edge_count = write_edges(graph, edges, _GRAPHML_EDGE)
    write_lines(_graphml_head(graph), out)
    node_count = write_lines(_graphml_nodes(graph), out)
    copy_edges(edges, out)
    write_lines(["</graph>", "</graphml>"], out)
    return GraphSize(node_count, edge_count)


def _graphml_head(graph: Graph) -> Iterator[str]:
    about = {"name": graph.name, "description": graph.description}
    yield _GRAPHML_HEAD
    for name in about:
        yield f'<key id="{name}" for="graph" attr.name="{name}" attr.type="string"/>'
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>'
    for number, (name, type_) in enumerate(graph.columns):
        # The id of a key must be an XML name token, which the name of a column need not be.
        yield f'<key id="n{number}" for="node" attr.name="{escape(name)}" attr.type="{_GRAPHML_TYPES[type_]}"/>'
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="int"/>'
    yield '<graph id="graph" edgedefault="directed">'
    for name, text in about.items():
        if text:
            yield f'<data key="{name}">{escape(text)}</data>'


def _graphml_nodes(graph: Graph) -> Iterator[str]:
    openings = [f'<data key="n{number}">' for number in range(len(graph.columns))]
    for number, label, *values in graph.nodes():
        attributes = attribute_texts(values, openings, "</data>")
        yield f'<node id="{number}"><data key="label">{escape(label)}</data>{attributes}</node>'
