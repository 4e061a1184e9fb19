"""A graph tells on request when its pages were seen."""

import networkx
import pytest
from sqlalchemy import update

from crawlers.graphs.export import write_site_graphs
from crawlers.storage.queries import CrawledSite
from crawlers.storage.schema.tables import page
from tests.support.stored_site import Stored, store

PAGES = [Stored("/", 0, links={1: 1}), Stored("/1", 1, body="same"), Stored("/2", 1, body="same")]


@pytest.fixture
def site(database):
    number = store(database, PAGES)
    with database.write() as connection:
        for place, (found_at, fetched_at) in {"/": (0, 60), "/1": (120, 180), "/2": (90, 3600)}.items():
            times = {"found_at": found_at, "fetched_at": fetched_at}
            connection.execute(update(page).where(page.c.url == f"http://a.test{place}").values(times))
    return CrawledSite(number, "http://a.test", None)


def attributes(database, site, folder, measures):
    list(write_site_graphs(database, 1, [site], [site], folder, ["gexf"], measures))
    graph = networkx.read_gexf(folder / "a.test.gexf", version="1.3")
    return {of["label"]: of for _, of in graph.nodes(data=True)}


@pytest.mark.both_stores
def test_node_was_first_and_last_seen_at_the_times_of_its_pages(database, site, tmp_path):
    found = attributes(database, site, tmp_path, ["last_seen", "pagerank", "first_seen"])
    assert {label: (of["first_seen"], of["last_seen"]) for label, of in found.items()} == {
        "http://a.test/": ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z"),
        "http://a.test/1": ("1970-01-01T00:01:30Z", "1970-01-01T01:00:00Z"),  # of both duplicates
    }
    assert all("pagerank" in of for of in found.values())


def test_times_are_written_on_request_only(database, site, tmp_path):
    found = attributes(database, site, tmp_path, [])
    assert not any({"first_seen", "last_seen"} & of.keys() for of in found.values())
