"""The graph of a site contains the importance of its pages if the crawl computed it."""

import pytest

from crawlers.graphs.export import write_site_graphs
from crawlers.storage.queries import sites_of
from tests.support.scored_store import A, B, Linked, store

networkx = pytest.importorskip("networkx")

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/1", f"{A}/2", f"{A}/new")),
    Linked(f"{A}/1", (f"{A}/",), body="same"),
    Linked(f"{A}/2", (f"{A}/",), body="same"),
    Linked(f"{B}/", (f"{A}/",)),
    Linked(f"{A}/new"),
]


def written(database, folder, crawl_id, measures=()):
    sites = sites_of(database, crawl_id)
    formats = ["gexf", "graphml", "csv"]
    list(write_site_graphs(database, crawl_id, sites, sites, folder, formats, measures))
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
