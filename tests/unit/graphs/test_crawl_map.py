"""What can be drawn of a crawl, and what is said if it can't."""

from __future__ import annotations

import pytest

from crawlers.errors import ConfigError
from crawlers.graphs import crawl_map as module
from crawlers.graphs.crawl_map import (
    MemoryGraph,
    Neighbourhood,
    crawl_graph,
    crawl_map,
    graph_map,
    map_request,
    sites_by_pages,
)
from crawlers.graphs.looks import GraphLayout
from crawlers.graphs.model import Column
from crawlers.items import Node
from crawlers.store.reading.queries import crawl_named
from crawlers.urls.resolution import resolve
from tests.support.stored_crawl import stored_crawl


@pytest.fixture
def crawl(sqlite):
    return crawl_named(sqlite, str(stored_crawl(sqlite)))


@pytest.mark.parametrize("given", [{"size": "beauty"}, {"nodes": "5001"}, {"hops": "0"}])
def test_other_words_are_refused(given):
    with pytest.raises(ConfigError, match=r"must be one of: "):
        map_request(given, "host")


def test_sites_with_most_pages_come_first(sqlite, crawl):
    assert sites_by_pages(sqlite, crawl.id, 5) == ["http://c.test", "http://a.test"]
    assert sites_by_pages(sqlite, crawl.id, 1) == ["http://c.test"]


@pytest.mark.parametrize(
    ("name", "some"), [("http://a.test", "http://a.test/a"), ("pages", "http://c.test/7"), ("host", "b.test")]
)
def test_each_graph_is_drawn(sqlite, crawl, name, some):
    drawn = crawl_map(sqlite, crawl, map_request({"graph": name}, ""), [])
    assert some in [node.label for node in drawn.nodes]
    assert drawn.is_whole


@pytest.mark.parametrize(("name", "centre"), [("http://a.test", "http://a.test/untitled"), ("host", "a.test")])
def test_a_neighbourhood_is_that_of_a_url(sqlite, crawl, name, centre):
    wanted = map_request({"graph": name, "url": "a.test/untitled", "hops": "1"}, "")
    drawn = crawl_map(sqlite, crawl, wanted, [resolve("http://a.test/untitled", "")])
    assert centre in [node.label for node in drawn.nodes]
    assert not drawn.is_whole or name == "host"


def test_what_can_not_be_drawn_is_said(sqlite, crawl, monkeypatch):
    wanted = map_request({"graph": "http://a.test", "url": "http://a.test/never"}, "")
    with pytest.raises(ConfigError, match=r"http://a\.test/never is not a page of this graph; choose another graph"):
        crawl_map(sqlite, crawl, wanted, [resolve("http://a.test/never", "")])
    with pytest.raises(ConfigError, match=r"'http://z\.test' is not a site of the crawl spring \(number 1\)"):
        crawl_graph(sqlite, crawl, "http://z.test")
    monkeypatch.setattr(module, "MOST_PAGES", 3)
    with pytest.raises(ConfigError, match="choose a site, or the graph of sites"):
        crawl_graph(sqlite, crawl, "pages")


SIZE = 6
GRAPH = MemoryGraph(
    [Node(n, f"http://a.test/{n}", n % 3, 200, f"Page {n}", SIZE - n, 3, 0, 0) for n in range(1, SIZE + 1)],
    [(source, [(target, 1) for target in range(1, source)]) for source in range(2, SIZE + 1)],
    name="a.test",
)


def test_the_most_linked_nodes_and_the_links_to_the_least_linked_of_them_remain(monkeypatch):
    monkeypatch.setattr("crawlers.graphs.crawl_map.MAP_EDGES", 3)
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
