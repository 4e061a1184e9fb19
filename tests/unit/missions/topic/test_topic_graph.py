"""The graph of a topic: pages of all sites by rank, redirects followed, with authorities and hubs."""

from math import sqrt

import pytest

from crawlers.items import State
from crawlers.missions.topic import topic_graph
from crawlers.missions.topic.topic_graph import TopicGraph
from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.stored_pages import add_links
from tests.unit.graphs.test_gexf import gexf, problems


@pytest.fixture
def crawl_id(database):
    """Five pages of two sites: a list that links to two others, one of them by a redirect to the other site."""
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/", {"unicod": 1}, 0.25, level=0, title='Lists & "more"')
    add_page(database, 2, a, "http://a.test/best", {"unicod": 1}, 1.0)
    add_page(database, 3, b, "http://b.test/same", {"unicod": 1}, 0.5, title="Кодировки")
    add_page(database, 4, a, "http://a.test/same", {"unicod": 1}, 0.5)
    add_page(database, 5, b, "http://b.test/alone", {}, 0.0)
    add_page(database, 6, a, "http://a.test/moved", state=int(State.MOVED), moved_to=7)
    add_page(database, 7, a, "http://a.test/moved2", state=int(State.MOVED), moved_to=3)
    add_page(database, 8, a, "http://a.test/round", state=int(State.MOVED), moved_to=9)
    add_page(database, 9, a, "http://a.test/round2", state=int(State.MOVED), moved_to=8)
    add_page(database, 10, a, "http://a.test/gone", state=int(State.REFUSED))
    add_links(
        database, (1, 2, 1), (1, 3, 2), (1, 6, 3), (1, 1, 9), (1, 8, 1), (1, 10, 1), (4, 2, 1), (2, 1, 1), (3, 7, 1)
    )  # fmt: skip
    return crawl_id


@pytest.mark.parametrize("at_once", [1, 256])
def test_edges_follow_redirects_and_omit_pages_that_were_not_read(database, crawl_id, monkeypatch, at_once):
    monkeypatch.setattr(topic_graph, "SOURCES_AT_ONCE", at_once)
    graph = TopicGraph(database, crawl_id, "unicode")
    assert list(graph.edges()) == [(1, [(4, 1)]), (2, [(1, 1)]), (4, [(1, 1), (3, 5)])]


@pytest.mark.both_stores
def test_authorities_and_hubs_are_those_of_hits(database, crawl_id):
    rows = {row[0]: row[-2:] for row in TopicGraph(database, crawl_id, "unicode").nodes()}
    # Two hubs, 2 -> {1} and 4 -> {1, 3}: the greatest eigenvalue of A^T A is the golden ratio's square.
    golden = (1 + sqrt(5)) / 2
    assert rows[1][0] / rows[3][0] == pytest.approx(golden, abs=1e-6)
    assert rows[4][1] / rows[2][1] == pytest.approx(golden, abs=1e-6)
    assert sum(authority**2 for authority, _ in rows.values()) == pytest.approx(1.0)
    assert rows[5] == (0.0, 0.0)


def test_gexf_is_valid(database, crawl_id):
    assert list(problems(gexf(TopicGraph(database, crawl_id, "unicode")))) == []
