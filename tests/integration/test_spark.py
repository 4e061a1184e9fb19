"""What Spark computes from the Parquet of a crawl equals the project's own measures."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

from crawlers.graphs.dataset import DATASET, write_dataset
from crawlers.items import State
from crawlers.store.database import Database
from tests.support.scale_free import copy_model
from tests.support.services import unavailable
from tests.support.spark_measures import (
    PROGRAM,
    compare_contents,
    compare_sites,
    compare_urls,
    rows_of,
    submit,
    why_not,
)
from tests.support.stored_site import MOVED, REFUSED, Stored, store

PAGES = 30
ERROR = 1e-3  # of all ranks together; with a smaller one and a damping of 0.85, there are five times as many steps
DAMPING = 0.5
# The graph is small: what makes large ones quick takes longer than it saves.
OPTIONS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
SUBMITTED = f"""
import sys
sys.path.insert(0, {str(PROGRAM.parent)!r})
import graph_measures
spark = graph_measures.SparkSession.builder.getOrCreate()
every = [word for name in graph_measures.MEASURES for word in ("--measure", name)]
ranks = ["--damping", "{DAMPING}", "--tolerance", "{ERROR}"]
graph_measures.compute(spark, [sys.argv[1], sys.argv[2] + "/contents", *ranks, *every])
graph_measures.compute(spark, [sys.argv[1], sys.argv[2] + "/urls", *ranks, "--nodes", "urls", "--measure", "pagerank"])
"""


class Computed(NamedTuple):
    """The store, and the rows that Spark wrote."""

    database: Database
    site_ids: list[int]
    urls: dict[int, str]
    contents: list[dict[str, Any]]
    ranks: list[dict[str, Any]]
    sites: list[dict[str, Any]]


def web(seed):
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
    if missing := why_not():
        unavailable(missing)
    folder = tmp_path_factory.mktemp("spark")
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
    site_ids = [store(database, web(seed)) for seed in (1, 2)]
    write_dataset(database, site_ids, folder / DATASET)
    (folder / "program.py").write_text(SUBMITTED)
    submit(folder / "program.py", [str(folder / DATASET), str(folder)], OPTIONS)
    urls = {row["id"]: row["url"] for row in rows_of(folder / DATASET / "pages")}
    contents, ranks = rows_of(folder / "contents" / "pages"), rows_of(folder / "urls" / "pages")
    yield Computed(database, site_ids, urls, contents, ranks, rows_of(folder / "contents" / "sites"))
    database.close()


def test_measures_of_contents_are_those_of_the_graphs_of_sites(computed):
    results = compare_contents(computed.database, computed.site_ids, computed.contents, DAMPING)
    assert {result.measure for result in results} == {"degrees", "pagerank", "weak-components", "strong-components"}
    assert all(result.rows > PAGES and not result.unequal for result in results)
    assert max(result.error for result in results) < 2 * ERROR
    assert sum(row["pagerank"] for row in computed.contents) == pytest.approx(1.0)
    assert len({row["strong_component_size"] for row in computed.contents}) > 1
    assert len({row["weak_component"] for row in computed.contents}) > len(computed.site_ids)


def test_comparison_finds_a_wrong_row(computed):
    wrong = [
        {**row, "in_degree": 99, "weak_component": 0, "strong_component_size": 99} for row in computed.contents[:1]
    ]
    for rows in (wrong + computed.contents[1:], computed.contents[1:]):
        results = compare_contents(computed.database, computed.site_ids, rows, DAMPING)
        assert all(result.unequal or result.measure == "pagerank" for result in results)


def test_pagerank_of_urls_is_that_of_the_store(computed):
    result = compare_urls(computed.database, 1, computed.ranks, DAMPING)
    assert not result.unequal
    assert result.error < ERROR
    assert any(computed.urls[row["id"]].endswith("/waits/") for row in computed.ranks)
    assert sum(row["pagerank"] for row in computed.ranks) == pytest.approx(1.0)


def test_links_between_sites_are_those_of_the_web_fragment(computed):
    result = compare_sites(computed.database, 1, computed.sites)
    assert (result.rows, result.unequal) == (2, 0)
