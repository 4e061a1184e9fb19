"""Runs Spark on this machine, and compares what spark/graph_measures.py computes with the project's own measures.

Every value is compared with networkx on the graphs of the GEXF files, with the PageRank of `scrapy graph --top
--pagerank`, and with the links between sites of `scrapy graph --level site`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import networkx
import pyarrow.parquet as parquet

from crawlers.graphs.analysis import StoredPageRank, analyse
from crawlers.graphs.site_graph import SiteGraph
from crawlers.graphs.web_fragment import count_fragment
from crawlers.urls.domains import host_group

PROGRAM = Path(__file__).resolve().parents[2] / "spark" / "graph_measures.py"
# Spark listens on loopback only, and without its web pages.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
}


class Compared(NamedTuple):
    """A result of Spark beside the project's own."""

    measure: str
    rows: int
    unequal: int  # rows with another value, or that one of both does not have
    error: float = 0.0  # sum of the differences of all ranks


def why_not():
    """Return what is missing on this machine to run Spark, or an empty string."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed; run `make spark`"
    return "" if shutil.which("java") else "Java is not installed; Spark needs version 17 or later"


def submit(program, arguments, options):
    """Run *program* by Spark on two processors of this machine.

    Raises `RuntimeError` with what it printed if it fails.
    """
    spark = importlib.util.find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    command = [str(Path(spark.origin).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    for name, value in {**LOCAL, **options}.items():
        command += ["--conf", f"{name}={value}"]
    done = subprocess.run(
        [*command, str(program), *arguments],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"Spark failed: {done.stdout[-3000:]}")


def rows_of(folder):
    return parquet.read_table(folder).to_pylist()


def compare_contents(database, site_ids, rows, damping):
    """Compare degrees, PageRank and components of the graphs of sites."""
    by_id = {row["id"]: row for row in rows}
    unequal, error, nodes = dict.fromkeys(("degrees", "strong-components", "weak-components"), 0), 0.0, 0
    for site_id in site_ids:
        graph = SiteGraph(database, site_id, "")
        measures = analyse(graph, ("in_degree", "out_degree", "component_size")).values()
        whole = networkx.DiGraph({source: [target for target, _ in targets] for source, targets in graph.edges()})
        whole.add_nodes_from(row[0] for row in graph.nodes())
        row_of = {graph.node(page): row for page, row in by_id.items() if graph.representative(page) == page}
        nodes += len(whole)
        for node in whole:
            *degrees, size = (value_of(node) for value_of in measures)
            row = row_of.get(node, {})
            unequal["degrees"] += [row.get("in_degree"), row.get("out_degree")] != degrees
            unequal["strong-components"] += row.get("strong_component_size") != size
        for component in networkx.weakly_connected_components(whole):
            wanted = min((row_of[node]["id"] for node in component if node in row_of), default=None), len(component)
            rows_found = (row_of.get(node, {}) for node in component)
            found = [(row.get("weak_component"), row.get("weak_component_size")) for row in rows_found]
            unequal["weak-components"] += sum(one != wanted for one in found)
        # No link leads from one site to another, so the ranks of a site are those of its own graph, times its part.
        ranks = (
            networkx.pagerank(whole, alpha=damping, weight=None, tol=1e-12 / len(whole), max_iter=1000) if whole else {}
        )
        part = sum(row["pagerank"] for row in row_of.values())
        error += sum(abs(row_of[node]["pagerank"] - part * rank) for node, rank in ranks.items() if node in row_of)
    surplus = abs(len(rows) - nodes)
    return [Compared("pagerank", len(rows), surplus, error)] + [
        Compared(name, len(rows), count + surplus) for name, count in unequal.items()
    ]


def compare_urls(database, crawl_id, rows, damping):
    """Compare PageRank of all URLs with that of the store."""
    own = StoredPageRank(database, crawl_id, damping)
    unequal = sum(own.rank(row["id"]) <= 0.0 for row in rows)
    error = sum(abs(own.rank(row["id"]) - row["pagerank"]) for row in rows)
    return Compared("pagerank of URLs", len(rows), unequal, error)


def compare_sites(database, crawl_id, rows):
    """Compare the links between sites."""
    counts = count_fragment(database, crawl_id, host_group)
    name = counts.sites
    own = {(name[pair.source - 1], name[pair.target - 1], pair.urls, pair.links) for pair in counts.pairs}
    found = {tuple(row[column] for column in ("source", "target", "urls", "links")) for row in rows}
    return Compared("sites", len(rows), len(own ^ found))
