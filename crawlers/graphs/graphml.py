"""Writes the graphs of a crawl as GraphML, which networkx, igraph, yEd, Cytoscape and Gephi read.

References
----------
.. [1] Brandes, Eiglsperger, Lerner (2004), GraphML Primer, http://graphml.graphdrawing.org
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from crawlers.graphs.model import GraphSize, attribute_texts, copy_edges, escape, write_edges, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.graphs.looks import LookOf
    from crawlers.graphs.model import Graph

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
