"""Graphs have the importance of pages if the crawl computed it, and on request when they were seen."""

import networkx
import pytest
from sqlalchemy import update

from crawlers.graphs.export import ResultFiles
from crawlers.reports.site_results import write_site_results
from crawlers.store.reading.queries import crawl_numbered, sites_of
from crawlers.store.schema.tables import page
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import execute

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/1", f"{A}/2", f"{A}/new")),
    Linked(f"{A}/1", (f"{A}/",), body="same"),
    Linked(f"{A}/2", (f"{A}/",), body="same"),
    Linked(f"{B}/", (f"{A}/",)),
    Linked(f"{A}/new"),
]


def written(database, folder, crawl_id, measures=()):
    wanted = ResultFiles(["gexf", "graphml", "csv"], measures, None, ())
    crawl = crawl_numbered(database, crawl_id)
    list(write_site_results(database, crawl, sites_of(database, crawl_id), folder, wanted))
    return networkx.read_gexf(folder / "a.test.gexf")


@pytest.mark.both_stores
def test_duplicates_share_the_sum_of_their_importance(database, tmp_path):
    crawl = store(database, PAGES)
    graph = written(database, tmp_path, crawl.id)
    found = {node["label"]: node["importance"] for _, node in graph.nodes(data=True)}
    importance = {url: crawl.share(url) for url in crawl.pages}
    expected = {f"{A}/": importance[f"{A}/"], f"{A}/1": importance[f"{A}/1"] + importance[f"{A}/2"]}
    assert found == pytest.approx(expected, abs=1e-12)
    in_graphml = networkx.read_graphml(tmp_path / "a.test.graphml")
    assert {node["label"]: node["importance"] for _, node in in_graphml.nodes(data=True)} == found
    head, first, *_ = (tmp_path / "a.test.nodes.csv").read_text().splitlines()
    assert head.endswith(",duplicates,importance")
    assert first.endswith(f",{found[f'{A}/']}")


def test_measures_follow_the_importance_column(database, tmp_path):
    crawl = store(database, PAGES)
    written(database, tmp_path, crawl.id, ["pagerank"])
    assert (tmp_path / "a.test.nodes.csv").read_text().splitlines()[0].endswith(",importance,pagerank")


def test_node_was_first_and_last_seen_at_the_times_of_its_pages_which_are_written_on_request(database, tmp_path):
    crawl = store(database, PAGES)
    for path, (found_at, fetched_at) in {"/": (0, 60), "/1": (120, 180), "/2": (90, 3600)}.items():
        times = {"found_at": found_at, "fetched_at": fetched_at}
        execute(database, update(page).where(page.c.url == A + path).values(times))
    nodes = written(database, tmp_path, crawl.id, ["last_seen", "pagerank", "first_seen"]).nodes.values()
    assert {of["label"]: (of["first_seen"], of["last_seen"]) for of in nodes} == {
        f"{A}/": ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z"),
        f"{A}/1": ("1970-01-01T00:01:30Z", "1970-01-01T01:00:00Z"),  # of both duplicates
    }
    assert all("pagerank" in of for of in nodes)
    nodes = written(database, tmp_path, crawl.id).nodes.values()
    assert not any({"first_seen", "last_seen"} & of.keys() for of in nodes)
