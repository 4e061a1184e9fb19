"""A graph with a layout has colours, sizes and, up to a limit, positions."""

import io

import networkx as nx
import pytest
from lxml import etree

from crawlers.errors import ConfigError
from crawlers.graphs import looks
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.export import write_laid_out
from crawlers.graphs.looks import GraphLayout, graph_layout, laid_out
from crawlers.items import Node
from tests.unit.graphs.test_gexf import VIZ, gexf

GRAPH = MemoryGraph(
    [
        Node(1, "http://a.test/", 0, 200, "Home", 2, 1, 0, 0),
        Node(2, "http://a.test/x", 1, 200, "", 1, 1, 4, 1),
        Node(5, "http://a.test/y", 2, 200, "", 0, 1, 0, 0),
    ],
    [(1, [(2, 3)]), (2, [(1, 1), (2, 1)]), (5, [(1, 2)])],
    name="a.test",
)


def drawn(graph, layout):
    found = laid_out(graph, layout)
    return gexf(found.graph, found.look)


@pytest.mark.parametrize(
    ("words", "layout"),
    [
        ([], None),
        (["level"], GraphLayout("level", "in_degree")),
        (["pagerank"], GraphLayout("level", "pagerank")),
    ],
)
def test_words_of_the_setting_are_a_layout(words, layout):
    assert graph_layout(words) == layout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["beauty"], "GRAPH_LAYOUT=beauty is unknown; choose out of: level, community, in_degree, pagerank"),
        (["level", "community"], "choose one of level and community for the colours"),
        (["in_degree", "pagerank"], "one of in_degree and pagerank for the sizes"),
    ],
)
def test_other_words_are_refused(words, why):
    with pytest.raises(ConfigError, match=why):
        graph_layout(words)


@pytest.mark.parametrize("layout", [GraphLayout(), GraphLayout("community", "pagerank")])
def test_equal_graphs_give_equal_bytes_that_networkx_reads(layout):
    text = drawn(GRAPH, layout)
    assert text == drawn(GRAPH, layout)
    network = nx.read_gexf(io.BytesIO(text), node_type=int, version="1.3")
    assert set(network) == {1, 2, 5}
    for node in network:
        viz = network.nodes[node]["viz"]
        assert viz.keys() == {"color", "position", "size"}
        assert all(0 <= viz["color"][part] <= 255 for part in "rgb")
    assert network.nodes[1]["viz"]["size"] > network.nodes[5]["viz"]["size"]
    assert ("community" in network.nodes[1]) == (layout.colour == "community")


def test_look_of_a_node_is_that_of_its_level_and_degree():
    root = etree.fromstring(drawn(GRAPH, GraphLayout()))
    nodes = root.findall(".//{http://gexf.net/1.3}node")
    colours = [dict(node.find(f"{VIZ}color").attrib) for node in nodes]
    assert colours[0] == {"r": str(0xE4), "g": str(0x57), "b": str(0x2E)}
    assert len({tuple(colour.items()) for colour in colours}) == 3
    assert [float(node.find(f"{VIZ}size").get("value")) for node in nodes] == [8.75, 7.0, 4.0]
    assert [child.tag for child in nodes[0]][1:] == [f"{VIZ}color", f"{VIZ}position", f"{VIZ}size"]


@pytest.mark.parametrize("limit", ["MAX_NODES", "MAX_LAID_OUT_EDGES"])
def test_a_larger_graph_has_colours_by_level_and_no_positions(limit, monkeypatch, tmp_path):
    layout = GraphLayout("community", "pagerank")
    monkeypatch.setattr(looks, limit, 2)
    found = laid_out(GRAPH, layout)
    assert found.remark.startswith("a.test: the graph has colours by level and sizes, but no positions: more than ")
    assert found.graph is GRAPH
    said = []
    write_laid_out(GRAPH, tmp_path / "a", "gexf", layout, said.append)
    assert said == [found.remark]
    assert "viz:position" not in (tmp_path / "a.gexf").read_text("utf-8")
    monkeypatch.undo()
    whole = laid_out(GRAPH, GraphLayout())
    assert [found.look(row) for row in GRAPH.rows] == [whole.look(row)._replace(position=None) for row in GRAPH.rows]
