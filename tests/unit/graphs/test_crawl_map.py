"""What can be drawn of a crawl, and what is said if it can't."""

import pytest

from crawlers.errors import ConfigError
from crawlers.graphs import crawl_map as module
from crawlers.graphs.crawl_map import crawl_graph, crawl_map, map_request, sites_by_pages
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
