"""The graph of a site is a function of the web: redirects followed, duplicates merged, in any order of pages."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.graphs.export import graph_paths, write_graph
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import Node
from crawlers.store.database import Database
from crawlers.store.schema.tables import LinkRow
from tests.support.stored_rows import new_page, write_rows
from tests.support.stored_site import DONE, MOVED, REFUSED, Stored, store


def graph_of(database, pages, order=None):
    graph = SiteGraph(database, store(database, pages, order), "a.test")
    edges = list(graph.edges())
    return edges, list(graph.nodes())


def test_page_becomes_a_node_with_all_its_attributes(database):
    pages = [
        Stored("/", 0, links={1: 3, 2: 1}, title="Home"),
        Stored("/a/", 1, links={0: 1}, external=("http://b.test/x", "http://b.test/y")),
        Stored("/gone/", 1, REFUSED, links={0: 5}),
    ]
    edges, nodes = graph_of(database, pages)
    assert edges == [(1, [(2, 3)]), (2, [(1, 1)])]
    assert nodes == [
        Node(1, "http://a.test/", 0, 200, "Home", 1, 1, 0, 0),
        Node(2, "http://a.test/a/", 1, 200, "", 1, 1, 2, 0),
    ]


def test_duplicates_are_one_node_at_the_lowest_of_their_levels(database):
    pages = [
        Stored("/", 0, links={1: 1, 2: 2, 3: 4}),
        Stored("/far/", 2, body="same", links={4: 1}),
        Stored("/near2/", 1, body="same"),
        Stored("/near1/", 1, body="same"),
        Stored("/end/", 3, links={2: 1}),
    ]
    edges, nodes = graph_of(database, pages)
    assert [(node.url, node.duplicates, node.in_degree) for node in nodes] == [
        ("http://a.test/", 0, 0),
        ("http://a.test/near1/", 2, 2),
        ("http://a.test/end/", 0, 1),
    ]
    assert edges == [(1, [(2, 7)]), (2, [(3, 1)]), (3, [(2, 1)])]


def test_links_to_redirects_that_leave_the_site_count_as_external_once(database):
    pages = [
        Stored("/", 0, links={1: 1, 2: 4}, external=("http://b.test/x",)),
        Stored("/r1/", 1, MOVED, moved_to=2),
        Stored("/r2/", 1, MOVED, leaves=True),
    ]
    edges, nodes = graph_of(database, pages)
    assert edges == [(1, [])]
    assert nodes[0].external_links == 2


def test_page_that_is_stored_while_the_graph_is_written_appears_in_the_next_one(database):
    site_id = store(database, [Stored("/", 0)])
    graph = SiteGraph(database, site_id, "a.test")
    write_rows(database, new_page(10**6, site_id, DONE, level=1), LinkRow(10**6, 1, 1))
    assert list(graph.edges()) == [(1, [])]
    assert len(list(graph.nodes())) == 1


@st.composite
def sites(draw):
    size = draw(st.integers(1, 9))
    index = st.integers(0, size - 1)
    return [
        Stored(
            f"/{draw(st.sampled_from(['a', 'B', 'é', '~']))}{number}/",
            draw(st.integers(0, 3)),
            draw(st.sampled_from([DONE, DONE, DONE, MOVED, REFUSED])),
            draw(st.sampled_from([None, None, "x", "y"])),
            draw(st.dictionaries(index, st.integers(1, 3), max_size=5)),
            tuple(draw(st.sets(st.sampled_from(["http://b.test/1", "http://b.test/2"])))),
            draw(st.none() | index),
            draw(st.booleans()),
        )
        for number in range(size)
    ]


def gexf(database, folder, pages, order):
    graph = SiteGraph(database, store(database, pages, order), "a.test", "pages and links")
    write_graph(graph, folder / "graph", "gexf")
    return graph_paths(folder / "graph", "gexf")[0].read_bytes()


def test_file_is_byte_identical_for_any_order_of_pages_and_any_database(tmp_path, postgresql_url):
    databases = [Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}"), Database(postgresql_url)]

    @settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    @given(pages=sites(), rng=st.randoms(use_true_random=False))
    def check(pages, rng):
        order = list(range(len(pages)))
        files = set()
        for database in (*databases, databases[0]):
            rng.shuffle(order)
            files.add(gexf(database, tmp_path, pages, order))
        assert len(files) == 1

    check()
    for database in databases:
        database.close()
