"""The pages of all sites as one graph: numbers, degrees and the links between sites, however a mission stores them."""

import pytest
from sqlalchemy import insert, update

from crawlers.graphs.crawl_map import CrawlGraph
from crawlers.store.reading.queries import crawl_named, sites_of
from crawlers.store.schema.tables import crawl, link
from tests.support.stored_rows import begin
from tests.support.stored_site import Stored, store


@pytest.fixture
def stored(sqlite, plain_missions):
    """A store with two sites; a page of the first links to one of the second, as to an external URL."""
    begin(sqlite, mission="plain")
    store(
        sqlite,
        [Stored("/", 0, links={1: 2}), Stored("/a", external=("http://b.test/x", "http://c.test/"))],
        name="http://a.test",
    )
    store(sqlite, [Stored("/", 0, links={1: 1}), Stored("/x")], name="http://b.test", base="http://b.test")
    return sqlite


def graph_of(database):
    return CrawlGraph(database, crawl_named(database, "1"), sites_of(database, 1))


def test_links_between_sites_are_edges_and_count_in_degrees(stored):
    graph = graph_of(stored)
    assert list(graph.edges()) == [(1, [(2, 2)]), (2, [(4, 1)]), (3, [(4, 1)]), (4, [])]
    nodes = list(graph.nodes())
    assert [(node[0], node[1], node.in_degree, node.out_degree) for node in nodes] == [
        (1, "http://a.test/", 0, 1),
        (2, "http://a.test/a", 1, 1),
        (3, "http://b.test/", 0, 1),
        (4, "http://b.test/x", 2, 0),
    ]
    assert len(graph.ids) == 4


def test_links_of_missions_that_cross_sites_are_edges_too(stored):
    with stored.write() as connection:
        connection.execute(update(crawl).values(mission="wide"))
        pages = dict(map(tuple, connection.exec_driver_sql("SELECT url, id FROM page")))
        ends = {"source_id": pages["http://b.test/x"], "target_id": pages["http://a.test/"], "count": 3}
        connection.execute(insert(link), ends)
    graph = graph_of(stored)
    assert dict(graph.edges())[4] == [(1, 3)]
    assert graph.node(pages["http://b.test/x"]) == 4
    assert graph.node(12345) is None
