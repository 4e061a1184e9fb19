"""The part of a graph that is drawn: the most linked nodes, and the links that show most."""

from crawlers.graphs.important_part import Neighbourhood, graph_map
from crawlers.graphs.looks import GraphLayout
from crawlers.graphs.model import Column, MemoryGraph
from crawlers.items import Node

SIZE = 6
GRAPH = MemoryGraph(
    [Node(n, f"http://a.test/{n}", n % 3, 200, f"Page {n}", SIZE - n, 3, 0, 0) for n in range(1, SIZE + 1)],
    [(source, [(target, 1) for target in range(1, source)]) for source in range(2, SIZE + 1)],
    name="a.test",
)


def test_the_most_linked_nodes_and_the_links_to_the_least_linked_of_them_remain(monkeypatch):
    monkeypatch.setattr("crawlers.graphs.important_part.MAP_EDGES", 3)
    drawn = graph_map(GRAPH, GraphLayout(), max_nodes=4)
    assert [node.label[-1] for node in drawn.nodes] == ["1", "2", "3", "4"]
    assert drawn.edges == [(2, 1), (3, 1), (3, 2)]  # the links to page 1, which has most, are left out
    assert (drawn.all_nodes, drawn.all_edges) == (SIZE, 15)
    assert drawn.subset == (
        "The 4 pages to which most pages link, out of 6, and 3 of 15 links; links to pages with few links come first."
    )
    assert [meaning.text for meaning in drawn.legend] == ["level 0", "level 1", "level 2"]


def test_sites_are_drawn_with_the_colours_of_their_sets():
    sites = MemoryGraph(
        [(1, "a.test", "target", 0), (2, "b.test", "accompanying", 1)],
        [(1, [(2, 5)])],
        (Column("set", "string"), Column("in_degree", "integer")),
    )
    drawn = graph_map(sites, GraphLayout())
    assert drawn.is_of_sites
    assert [meaning.text for meaning in drawn.legend] == ["crawled site", "other site"]
    assert [node.colour for node in drawn.nodes] == [meaning.colour for meaning in drawn.legend]


CHAIN = MemoryGraph(
    [Node(n, f"http://{'ab'[n % 2]}.test/{n}", 0, 200, "", 1, 1, 0, 0) for n in range(1, 7)],
    [(n, [(n + 1, 1)]) for n in range(1, 6)],
    name="chain",
)


def test_a_neighbourhood_has_the_nodes_that_some_links_in_either_direction_separate_from_its_centre():
    drawn = graph_map(CHAIN, GraphLayout(), around=Neighbourhood(3, 2))
    assert [node.label[-1] for node in drawn.nodes] == ["1", "2", "3", "4", "5"]
    assert drawn.edges == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert not drawn.is_whole
    assert drawn.subset.startswith("The 5 pages nearest to http://b.test/3, out of 6, and 4 of 5 links; ")


def test_the_nearest_nodes_of_a_large_neighbourhood_remain_whatever_links_to_them():
    drawn = graph_map(GRAPH, GraphLayout(), max_nodes=2, around=Neighbourhood(6, 3))
    assert [node.label[-1] for node in drawn.nodes] == ["1", "6"]  # no node links to 6
