"""The Parquet of a crawl has all of its rows, and folds into the graphs of its sites."""

from collections import Counter
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlers.errors import ConfigError
from crawlers.graphs import dataset
from crawlers.graphs.dataset import DATASET, TABLES, DatasetSize, write_dataset
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.store.database import Database
from tests.support.stored_site import DONE, MOVED, Stored, store

arrow_dataset = pytest.importorskip("pyarrow.dataset")


def export(database, tmp_path, sites):
    size = write_dataset(database, sites, tmp_path / DATASET)
    read = {name: arrow_dataset.dataset(tmp_path / DATASET / name, partitioning="hive") for name in TABLES}
    tables = {name: one.to_table().to_pylist() for name, one in read.items()}
    assert size == DatasetSize(**{name: len(rows) for name, rows in tables.items()})
    return tables


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def folded(tables, site_id):
    """Return nodes and edges, by URL, as the reference tells readers to fold them."""
    pages = {row["id"]: row for row in tables["pages"] if row["site_id"] == site_id}
    url = {number: page["url"] for number, page in pages.items()}
    node = {number: url.get(page["representative_id"]) for number, page in pages.items()}
    edges = Counter()
    for row in tables["links"]:
        source, target = node.get(row["source_id"]), node.get(row["target_id"])
        if source and target and source != target:
            edges[source, target] += row["count"]
    return sorted(node[number] for number, page in pages.items() if page["representative_id"] == number), edges


def site_graph(database, site_id):
    graph = SiteGraph(database, site_id, "")
    pairs = [(source, target, weight) for source, targets in graph.edges() for target, weight in targets]
    label = {node.id: node.url for node in graph.nodes()}
    return sorted(label.values()), Counter({(label[a], label[b]): weight for a, b, weight in pairs})


WEB = [
    Stored("/", 0, links={1: 3, 2: 1, 3: 1, 5: 2}, title="Home", external=("http://b.test/x", "http://b.test/y")),
    Stored("/far/", 2, body="same", links={0: 1}),
    Stored("/near/", 1, body="same", links={1: 4, 4: 1}),
    Stored("/moved/", 1, MOVED, moved_to=4),
    Stored("/again/", 2, MOVED, moved_to=1),
    Stored("/gone/", 1, State.REFUSED),
    Stored("/circle/", 1, MOVED, moved_to=7),
    Stored("/back/", 1, MOVED, moved_to=6),
    Stored("/out/", 1, State.REFUSED, leaves=True),
]


def test_pages_have_their_columns_and_the_pages_that_stand_for_them(database, tmp_path):
    site_id = store(database, WEB)
    tables = export(database, tmp_path, [site_id])
    pages = {row["url"].removeprefix("http://a.test"): row for row in tables["pages"]}
    ids = {path: row["id"] for path, row in pages.items()}
    assert [row["id"] for row in tables["pages"]] == sorted(ids.values())
    near = ids["/near/"]
    assert {path: row["representative_id"] for path, row in pages.items()} == {
        "/": ids["/"], "/far/": near, "/near/": near, "/moved/": near, "/again/": near,
        "/gone/": None, "/circle/": None, "/back/": None, "/out/": None,
    }  # fmt: skip
    finals = {path: row["final_id"] for path, row in pages.items() if row["final_id"] is not None}
    assert finals == {"/moved/": ids["/far/"], "/again/": ids["/far/"]}
    assert {path: row["moved_to"] for path, row in pages.items()}["/moved/"] == ids["/again/"]
    home = pages["/"]
    assert (home["site_id"], home["level"], home["state"], home["status"]) == (site_id, 0, "done", 200)
    assert (home["title"], home["size_bytes"], home["first_site"]) == ("Home", 9, site_id)
    assert pages["/gone/"]["state"] == "refused"


def test_links_have_ids_and_counts_and_external_links_the_urls(database, tmp_path):
    site_id = store(database, WEB)
    tables = export(database, tmp_path, [site_id])
    path = {row["id"]: row["url"].removeprefix("http://a.test") for row in tables["pages"]}
    links = [(path[row["source_id"]], path[row["target_id"]], row["count"]) for row in tables["links"]]
    assert ("/", "/far/", 3) in links
    assert len(links) == 7
    keys = [(row["source_id"], row["target_id"]) for row in tables["links"]]
    assert keys == sorted(keys)
    external = {(path[row["page_id"]], row["url"], row["site"], row["count"]) for row in tables["external_links"]}
    assert external == {
        ("/", "http://b.test/x", "http://b.test", 1),
        ("/", "http://b.test/y", "http://b.test", 1),
        ("/out/", "http://left.test/", "http://b.test", 1),
    }


@given(st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_folded_graph_of_any_site_is_that_of_the_site(sqlite, tmp_path_factory, data):
    size = data.draw(st.integers(1, 8))
    numbers = st.integers(0, size - 1)

    def page(number):
        state = data.draw(st.sampled_from([DONE, DONE, MOVED, State.REFUSED, State.WAITING])) if number else DONE
        links = data.draw(st.dictionaries(numbers, st.integers(1, 3), max_size=4)) if state is DONE else {}
        body = data.draw(st.sampled_from([None, "x", "y"]))
        moved_to = data.draw(numbers) if state is MOVED else None
        return Stored(f"/{number}", data.draw(st.integers(0, 2)), state, body, links, moved_to=moved_to)

    site_id = store(sqlite, [page(number) for number in range(size)], data.draw(st.permutations(range(size))))
    tables = export(sqlite, tmp_path_factory.mktemp("any"), [site_id])
    assert folded(tables, site_id) == site_graph(sqlite, site_id)


def test_partitions_hold_whole_sites_and_a_bounded_number_of_urls(sqlite, tmp_path, monkeypatch):
    sites = [store(sqlite, [Stored(f"/{number}", 0) for number in range(size)]) for size in (1, 2, 9, 1, 1)]
    monkeypatch.setattr(dataset, "PARTITION_URLS", 3)
    tables = export(sqlite, tmp_path, sites)
    firsts = {row["id"]: row["first_site"] for row in tables["sites"]}
    assert list(firsts.values()) == [sites[0], sites[0], sites[2], sites[3], sites[3]]
    pages = {row["id"]: row for row in tables["pages"]}
    assert all(page["first_site"] == firsts[page["site_id"]] for page in pages.values())
    assert all(row["first_site"] == pages[row["source_id"]]["first_site"] for row in tables["links"])
    assert [row["urls"] for row in tables["sites"]] == [1, 2, 9, 1, 1]
    for name in TABLES:  # also those without rows, whose columns readers want to know
        places = {path.parent.name for path in (tmp_path / DATASET / name).rglob("part-00000.parquet")}
        assert places == {f"first_site={first}" for first in set(firsts.values())}


def test_equal_stores_of_both_kinds_give_equal_files(sqlite, postgresql_url, tmp_path):
    with closing(Database(postgresql_url)) as other:
        for database, name in ((sqlite, "sqlite"), (other, "postgresql")):
            site_id = store(database, WEB, name="http://a.test")
            write_dataset(database, [site_id], tmp_path / name)
        write_dataset(sqlite, [site_id], tmp_path / "again")
    assert files(tmp_path / "sqlite") == files(tmp_path / "postgresql") == files(tmp_path / "again")


def test_export_replaces_only_an_export(sqlite, tmp_path):
    site_id = store(sqlite, WEB)
    write_dataset(sqlite, [site_id], tmp_path / "a")
    write_dataset(sqlite, [site_id], tmp_path / "a")
    (tmp_path / "a" / "thesis.txt").write_text("")
    with pytest.raises(ConfigError, match=r"contains thesis.txt, which no export wrote; choose another folder"):
        write_dataset(sqlite, [site_id], tmp_path / "a")
    assert (tmp_path / "a" / "thesis.txt").exists()
