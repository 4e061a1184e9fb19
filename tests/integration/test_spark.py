"""What Spark computes from the Parquet of a crawl equals the project's own measures."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import networkx
import pytest

from bench.simulators.scale_free import copy_model
from crawlers.algorithms.urls.domains import host_group
from crawlers.graphs.analysis import analyse, to_networkx
from crawlers.graphs.dataset.dataset_export import DATASET, write_dataset
from crawlers.graphs.fragment.link_counts import count_fragment
from crawlers.graphs.site_graph import SiteGraph
from crawlers.items import State
from crawlers.storage.database import Database
from crawlers.storage.pagerank import StoredPageRank
from tests.support.services import unavailable
from tests.support.stored_site import MOVED, REFUSED, Stored, store

ROOT = Path(__file__).resolve().parents[2]
PAGES = 30
ERROR = 1e-3  # of all ranks together; with a smaller one and a damping of 0.85, there are five times as many steps
DAMPING = 0.5
# One processor compiles and plans; the graph is small.
OPTIONS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT / "spark")!r})
import graph_measures
every = [word for name in graph_measures.MEASURES for word in ("--measure", name)]
ranks = ["--damping", "{DAMPING}", "--tolerance", "{ERROR}"]
graph_measures.main([sys.argv[1], "contents", *ranks, *every])
graph_measures.main([sys.argv[1], "urls", *ranks, "--nodes", "urls", "--measure", "pagerank"])
"""


class Computed(NamedTuple):
    """The store, and the rows that Spark wrote."""

    database: Database
    site_ids: list[int]
    urls: dict[int, str]
    contents: list[dict[str, object]]
    ranks: dict[int, float]
    sites: list[dict[str, object]]


def web(seed: int) -> list[Stored]:
    """Return pages with duplicates, redirects, pages in no component with others, and pages that wait."""
    rng = random.Random(seed)
    links = {page: list(targets) for page, targets in copy_model(PAGES, rng).items()}
    numbers = {page: number for number, page in enumerate(links)}
    pages = [Stored("/alone/", 1), Stored("/waits/", 3, State.WAITING)]
    for page, targets in links.items():
        found = {numbers[target] + 2: rng.randint(1, 3) for target in targets}
        found[rng.randrange(2, PAGES)] = 1  # closes circles
        if page and numbers[page] % 10 == 9:
            pages.append(Stored(f"/{page}/", 2, MOVED, moved_to=rng.randrange(2, PAGES)))
        else:
            body = f"body {rng.randrange(5)}" if numbers[page] % 6 == 5 else None
            words = random.Random(body or page)  # equal pages have equal links to other sites
            external = tuple({f"http://b.test/{words.randrange(9)}": None for _ in range(words.randrange(3))})
            level = min(numbers[page], 4)
            pages.append(Stored(f"/{page}/", level, links={**found, 1: 1}, body=body, external=external))
    return [*pages, Stored("/out/", 1, REFUSED, leaves=True)]


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    spark = importlib.util.find_spec("pyspark")
    if spark is None or spark.origin is None or shutil.which("java") is None:
        unavailable("no Spark installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("spark")
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
    site_ids = [store(database, web(seed)) for seed in (1, 2)]
    write_dataset(database, site_ids, folder / DATASET)
    (folder / "program.py").write_text(PROGRAM)
    options = [word for name, value in OPTIONS.items() for word in ("--conf", f"{name}={value}")]
    submit = Path(spark.origin).parent / "bin" / "spark-submit"
    done = subprocess.run(
        [str(submit), "--master", "local[2]", *options, str(folder / "program.py"), DATASET],
        cwd=folder, env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=540,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]

    def rows(name: str) -> list[dict[str, object]]:
        return parquet.read_table(folder / name).to_pylist()

    urls = {row["id"]: row["url"] for row in rows(f"{DATASET}/pages")}
    ranks = {row["id"]: row["pagerank"] for row in rows("urls/pages")}
    yield Computed(database, site_ids, urls, rows("contents/pages"), ranks, rows("contents/sites"))
    database.close()


def test_degrees_pagerank_and_strong_components_are_those_of_the_graphs_of_sites(computed):
    ids = [row["id"] for row in computed.contents]
    assert len(ids) == len(set(ids))
    found = 0
    for site_id in computed.site_ids:
        graph = SiteGraph(computed.database, site_id, "")
        analysis = analyse(graph, ("in_degree", "out_degree", "component_size"))
        ranks = networkx.pagerank(to_networkx(graph), alpha=DAMPING, weight=None, tol=1e-9)
        rows = [row for row in computed.contents if graph.representative(row["id"]) == row["id"]]
        found += len(rows)
        expected = [analysis.values[graph.node(row["id"])] for row in rows]
        columns = ("in_degree", "out_degree", "strong_component_size")
        assert [tuple(row[name] for name in columns) for row in rows] == expected
        total = sum(row["pagerank"] for row in rows)  # no link leads from one site to the other
        assert sum(abs(row["pagerank"] / total - ranks[graph.node(row["id"])]) for row in rows) < 2 * ERROR
        assert len({values[2] for values in expected}) > 1
    assert found == len(ids)
    assert sum(row["pagerank"] for row in computed.contents) == pytest.approx(1.0)


def test_weak_components_are_those_of_networkx(computed):
    expected = set()
    for site_id in computed.site_ids:
        graph = SiteGraph(computed.database, site_id, "")
        page = {graph.node(row["id"]): row["id"] for row in computed.contents if graph.node(row["id"]) is not None}
        components = networkx.weakly_connected_components(to_networkx(graph))
        expected |= {frozenset(page[node] for node in component) for component in components}
    members: dict[object, set[object]] = {}
    for row in computed.contents:
        members.setdefault(row["weak_component"], set()).add(row["id"])
    assert set(map(frozenset, members.values())) == expected
    assert all(min(ids) == number for number, ids in members.items())
    assert all(row["weak_component_size"] == len(members[row["weak_component"]]) for row in computed.contents)
    assert len(expected) > len(computed.site_ids)


def test_pagerank_of_urls_is_that_of_the_store(computed):
    ranks = StoredPageRank(computed.database, 1, DAMPING)
    assert any(url.endswith("/waits/") for url in map(computed.urls.get, computed.ranks))
    assert sum(abs(ranks.rank(page) - rank) for page, rank in computed.ranks.items()) < ERROR
    assert sum(computed.ranks.values()) == pytest.approx(1.0)


def test_links_between_sites_are_those_of_the_web_fragment(computed):
    counts = count_fragment(computed.database, 1, host_group)
    name = counts.sites
    expected = {(name[pair.source - 1], name[pair.target - 1], pair.urls, pair.links) for pair in counts.pairs}
    assert {
        tuple(row[column] for column in ("source", "target", "urls", "links")) for row in computed.sites
    } == expected
    assert len(expected) == 2
