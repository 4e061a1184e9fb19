"""Tests of the GraphML writer, by reading back."""

import io

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.files.csv_tables import clean
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.graphml import write_graphml
from crawlers.graphs.model import PAGE_COLUMNS, Column
from tests.unit.graphs.test_gexf import GRAPH


def graphml(graph):
    out = io.BytesIO()
    write_graphml(graph, out, io.BytesIO())
    return out.getvalue()


def test_networkx_reads_back_every_node_attribute_and_edge():
    network = nx.read_graphml(io.BytesIO(graphml(GRAPH)), node_type=int)
    assert type(network) is nx.DiGraph
    names = ["label", *(column.name for column in PAGE_COLUMNS)]
    assert dict(network.nodes(data=True)) == {row[0]: dict(zip(names, row[1:], strict=True)) for row in GRAPH.rows}
    assert set(network.edges(data="weight")) == {(1, 2, 3), (2, 1, 1), (3, 1, 2)}
    assert (network.graph["name"], network.graph["description"]) == ("a.test:8600", "pages < & >")


@pytest.mark.parametrize(
    ("type_", "value"),
    [("integer", -3), ("long", 1 << 40), ("double", 1e-9), ("boolean", False), ("string", "x")],
)
def test_every_type_keeps_its_values(type_, value):
    graph = MemoryGraph([(1, "a", value), (2, "b", None)], [], (Column("any name, even <this>", type_),))
    network = nx.read_graphml(io.BytesIO(graphml(graph)))
    assert network.nodes["1"]["any name, even <this>"] == value
    assert type(network.nodes["1"]["any name, even <this>"]) is type(value)
    assert dict(network.nodes["2"]) == {"label": "b"}


@given(st.text(st.characters(exclude_categories=()), min_size=1))
def test_any_text_round_trips(title):
    graph = MemoryGraph([(1, title, title)], [], (Column("title", "string"),))
    read = nx.read_graphml(io.BytesIO(graphml(graph))).nodes["1"]
    assert (read["label"], read["title"]) == (clean(title), clean(title))
