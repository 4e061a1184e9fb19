"""Computes degrees, PageRank, components and the graph of sites from the Parquet of `scrapy graph --format parquet`.

    spark-submit spark/graph_measures.py result/web_graph.parquet measures

This program needs Spark 4 and nothing else, so it can be given to any cluster as it is; FOLDER and OUT are paths or
URLs that all machines can read and write (s3a://…, hdfs://…). It replaces two tables in OUT: `pages`, one row per node,
and `sites`, one row per pair of sites. MEASURES says what is in them.

With `--nodes contents`, the default, the graph is that of the GEXF files: redirects are followed, and equal pages of a
site are one node. With `--nodes urls` it is that of `scrapy graph --top --pagerank`: redirects are followed, and every
URL that was read or waits is a node. In both, several links from one page to another are one, and self-links none.

Every loop cuts the lineage of its tables, because a plan that grows with each step soon takes longer to make than to
run; and it doubles with each step that reads its table twice. By default the cut keeps the rows on the executors
(localCheckpoint), which is fast, but a lost executor ends the program; with --checkpoints FOLDER, shared by all
machines, they are written there.

The number of partitions follows from the number of links, unless spark.sql.shuffle.partitions is configured.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, NamedTuple

from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

MEASURES = {
    "degrees": "in_degree, out_degree",
    "pagerank": "pagerank, which sums to 1",
    "weak-components": "weak_component, the least id of its nodes, and weak_component_size",
    "strong-components": "strong_component, likewise, and strong_component_size; long paths take many steps",
    "sites": "source, target, urls, links",
}
DEFAULTS = ("degrees", "pagerank", "weak-components", "sites")
DAMPING = 0.85
TOLERANCE = 1e-9  # upper bound of the sum of the errors of all ranks
STEPS_AT_ONCE = 5  # of PageRank between two cuts of the lineage
LINKS_A_PARTITION = 5_000_000  # 80 MB of pairs of ids
MAX_STEPS = 500  # 0.85 ** 500 is below any tolerance
PARTITIONS = "spark.sql.shuffle.partitions"  # its default, 200, is too many for a site and too few for a large crawl
DISK = StorageLevel.MEMORY_AND_DISK


class Graph(NamedTuple):
    """A directed graph without parallel edges and self-links; its tables are kept by the executors."""

    nodes: DataFrame  # id
    edges: DataFrame  # source, target


class Cut:
    """Cuts the lineage of tables: reliably, if the session has a folder of checkpoints."""

    def __init__(self, spark: SparkSession, folder: str | None) -> None:
        self._is_reliable = folder is not None
        if folder is not None:
            spark.sparkContext.setCheckpointDir(folder)

    def __call__(self, table: DataFrame) -> DataFrame:
        return table.checkpoint() if self._is_reliable else table.localCheckpoint(storageLevel=DISK)


def partitions(spark: SparkSession, folder: str) -> int:
    """Return the number of partitions of joins and sums: enough for the memory of a task, and for all processors."""
    links = spark.read.parquet(f"{folder}/links").count()
    return max(math.ceil(links / LINKS_A_PARTITION), spark.sparkContext.defaultParallelism)


def read_graph(spark: SparkSession, folder: str, nodes: str) -> Graph:
    """Return the graph whose *nodes* are contents or urls."""
    pages = spark.read.parquet(f"{folder}/pages")
    links = spark.read.parquet(f"{folder}/links").select("source_id", "target_id")
    if nodes == "contents":
        node_of = pages.select("id", f.col("representative_id").alias("node")).where("node IS NOT NULL")
        known = node_of.where("node = id").select("id")
    else:
        known = pages.where("state IN ('done', 'waiting')").select("id")
        ends = pages.select("id", f.coalesce("final_id", "id").alias("node"))
        node_of = ends.join(known.withColumnRenamed("id", "node"), "node", "left_semi").select("id", "node")
    edges = (
        links.join(node_of.toDF("source_id", "source"), "source_id")
        .join(node_of.toDF("target_id", "target"), "target_id")
        .where("source <> target")
        .select("source", "target")
        .distinct()
    )
    # PageRank joins both with the ranks by node, and need not move them again.
    return Graph(known.repartition("id").persist(DISK), edges.repartition("source").persist(DISK))


def degrees(graph: Graph) -> DataFrame:
    """Return id, in_degree, out_degree."""
    inward = graph.edges.groupBy(f.col("target").alias("id")).agg(f.count("*").alias("in_degree"))
    outward = graph.edges.groupBy(f.col("source").alias("id")).agg(f.count("*").alias("out_degree"))
    return graph.nodes.join(inward, "id", "left").join(outward, "id", "left").fillna(0)


def pagerank(graph: Graph, cut: Cut, damping: float = DAMPING, tolerance: float = TOLERANCE) -> DataFrame:
    """Return id, pagerank, which sum to 1.

    As in the project, y = 1 + d Pᵀ y is solved, where P has zero rows for pages without links; divided by its sum, y is
    PageRank in which these pages link to all pages. So no step needs a sum over all nodes. Starting from y = 1, y only
    grows, in n steps at most q = dⁿ times as much as in the n before. So if it grew by r, the error of all values is at
    most q r / (1 - q).
    """
    shares = graph.edges.join(graph.edges.groupBy("source").agg((damping / f.count("*")).alias("share")), "source")
    shares = shares.repartition("source").persist(DISK)
    values = cut(graph.nodes.select("id", f.lit(1.0).alias("value")))
    rest = damping**STEPS_AT_ONCE
    for _ in range(0, MAX_STEPS, STEPS_AT_ONCE):
        before = values.withColumnRenamed("value", "before")
        for _ in range(STEPS_AT_ONCE):
            values = _step(graph.nodes, shares, values)
        both = cut(values.join(before, "id"))
        total, growth = both.agg(f.sum("value"), f.sum(f.col("value") - f.col("before"))).first()
        values = both.select("id", "value")
        if 2.0 * rest * growth / (1.0 - rest) <= tolerance * total:
            break
    shares.unpersist()
    return values.select("id", (f.col("value") / total).alias("pagerank"))


def _step(nodes: DataFrame, shares: DataFrame, values: DataFrame) -> DataFrame:
    paid = shares.join(values.withColumnRenamed("id", "source"), "source")
    paid = paid.select(f.col("target").alias("id"), (f.col("value") * f.col("share")).alias("value"))
    return nodes.select("id", f.lit(1.0).alias("value")).union(paid).groupBy("id").agg(f.sum("value").alias("value"))


def weak_components(graph: Graph, cut: Cut) -> DataFrame:
    """Return id, weak_component, weak_component_size.

    Kiveris et al. (2014), Connected Components in MapReduce and Beyond, section 3: large-star and small-star in turns
    until every node is linked to the least node only. Few steps, whatever the longest path is.
    """
    pairs = cut(graph.edges.select(*_ordered("source", "target")).distinct())
    state = _fingerprint(pairs)
    while True:
        both_ways = pairs.union(pairs.select(f.col("low").alias("high"), f.col("high").alias("low")))
        least = both_ways.groupBy("high").agg(f.least(f.min("low"), "high").alias("least"))
        large = both_ways.join(least, "high").where("low > high").select(*_ordered("low", "least"))
        large = large.where("low <> high").distinct()
        least = large.groupBy("high").agg(f.min("low").alias("least"))
        small = large.join(least, "high").select(*_ordered("low", "least"))
        small = small.union(least.select("high", f.col("least").alias("low"))).where("low <> high").distinct()
        pairs = cut(small)
        before, state = state, _fingerprint(pairs)
        if state == before:
            break
    found = graph.nodes.join(pairs.select(f.col("high").alias("id"), "low"), "id", "left")
    return _sized(found.select("id", f.coalesce("low", "id").alias("weak_component")), "weak_component")


def _ordered(one: str, other: str) -> list[Column]:
    return [f.greatest(one, other).alias("high"), f.least(one, other).alias("low")]


def _fingerprint(pairs: DataFrame) -> tuple[int, int]:
    """Return two numbers that change when *pairs* do: stars only shrink, and their centres only fall."""
    count, total = pairs.agg(f.count("*"), f.sum(f.xxhash64("high", "low").cast("decimal(38,0)"))).first()
    return count, total


def _sized(components: DataFrame, name: str) -> DataFrame:
    sizes = components.groupBy(name).agg(f.count("*").alias(f"{name}_size"))
    return components.join(sizes, name).select("id", name, f"{name}_size")


def strong_components(graph: Graph, cut: Cut) -> DataFrame:
    """Return id, strong_component, strong_component_size.

    Orzan (2004), On Distributed Verification and Verified Distribution, section 6.4 (colouring): every node gets the
    least id that reaches it, its colour; the nodes of a colour that reach the node with this id are its component. The
    others go on without them. Nodes that no circle contains are trimmed.
    """
    edges, components = graph.edges, graph.nodes.select("id", f.col("id").alias("strong_component")).limit(0)
    while not (edges := _trimmed(edges, cut)).isEmpty():
        nodes = edges.select(f.explode(f.array("source", "target")).alias("id")).distinct()
        colours = _spread(edges, nodes.withColumn("colour", f.col("id")), cut)
        inner = cut(_same_colour(edges, colours))
        backward = inner.select(f.col("target").alias("source"), f.col("source").alias("target"))
        component = _spread(backward, colours.where("id = colour"), cut)
        components = components.union(component)
        left = inner.join(component.select(f.col("id").alias("source")), "source", "left_anti")
        edges = left.join(component.select(f.col("id").alias("target")), "target", "left_anti")
    number = f.coalesce("strong_component", "id").alias("strong_component")
    return _sized(graph.nodes.join(components, "id", "left").select("id", number), "strong_component")


def _trimmed(edges: DataFrame, cut: Cut) -> DataFrame:
    """Return the *edges* without those of nodes that none of them leads to or from, again and again."""
    edges = cut(edges)
    count, before = edges.count(), -1
    while count != before:
        starts = edges.select(f.col("source").alias("target")).distinct()
        ends = edges.select(f.col("target").alias("source")).distinct()
        inner = edges.join(ends, "source", "left_semi").join(starts, "target", "left_semi")
        edges = cut(inner.select("source", "target"))
        count, before = edges.count(), count
    return edges


def _spread(edges: DataFrame, colours: DataFrame, cut: Cut) -> DataFrame:
    """Return id, colour: the least of the *colours* of the node and of those from which *edges* lead to it."""
    state = cut(colours.select("id", "colour", f.lit(True).alias("is_new")))
    while not state.where("is_new").isEmpty():
        news = state.where("is_new").select(f.col("id").alias("source"), "colour")
        passed = edges.join(news, "source").select(f.col("target").alias("id"), "colour", f.lit(None).alias("known"))
        all_of_node = state.select("id", "colour", f.col("colour").alias("known")).union(passed).groupBy("id")
        state = all_of_node.agg(f.min("colour").alias("colour"), f.min("known").alias("known"))
        state = cut(state.select("id", "colour", f.expr("known IS NULL OR colour < known").alias("is_new")))
    return state.select("id", "colour")


def _same_colour(edges: DataFrame, colours: DataFrame) -> DataFrame:
    """Return source, target, colour of the *edges* whose ends have one colour."""
    of_source = edges.join(colours.toDF("source", "colour"), "source")
    return of_source.join(colours.toDF("target", "colour"), ["target", "colour"]).select("source", "target", "colour")


def site_links(spark: SparkSession, folder: str) -> DataFrame:
    """Return source, target, urls, links: the links between hosts, as `scrapy graph --level site` counts them.

    All sites of the crawl and those that they link to. Equal pages count once, http and https are one host, and an
    address of a site is that site.
    """
    sites, pages, links, external_links = (
        spark.read.parquet(f"{folder}/{name}") for name in ("sites", "pages", "links", "external_links")
    )
    hosts = sites.select(f.col("id").alias("site_id"), _host("site").alias("source"))
    everywhere = f.explode(f.array_union(f.array("site"), "addresses")).alias("site")
    addresses = sites.select(everywhere, _host("site").alias("known"))
    holders = pages.where("representative_id = id OR state = 'refused'").join(hosts, "site_id")
    holders = holders.select(f.col("id").alias("page_id"), "source")
    targets = pages.join(hosts.withColumnRenamed("source", "target"), "site_id").select("id", "target", "key")
    outward = (
        external_links.join(holders, "page_id")
        .join(f.broadcast(addresses), "site", "left")
        .select("source", f.coalesce("known", _host("site")).alias("target"), "key", "count")
    )
    inward = links.withColumnRenamed("source_id", "page_id").join(holders, "page_id")
    inward = inward.select("source", f.col("target_id").alias("id"), "count")
    moved = pages.where("moved_to IS NOT NULL").join(hosts, "site_id")
    moved = moved.select("source", f.col("moved_to").alias("id"), f.lit(1).alias("count"))
    within = inward.union(moved).join(targets, "id").select("source", "target", "key", "count")
    counted = outward.union(within).where("source <> target").groupBy("source", "target", "key")
    counted = counted.agg(f.sum("count").alias("links")).groupBy("source", "target")
    return counted.agg(f.count("*").alias("urls"), f.sum("links").alias("links"))


def _host(site: str) -> Column:
    return f.regexp_replace(site, "^[a-z]+://", "")


def compute(spark: SparkSession, arguments: Sequence[str] | None = None) -> None:
    """Compute what the *arguments* ask for, of the process by default."""
    options = _options(arguments)
    measures = options.measure or DEFAULTS
    if not spark.sparkContext.getConf().contains(PARTITIONS):
        spark.conf.set(PARTITIONS, partitions(spark, options.folder))
    cut = Cut(spark, options.checkpoints)
    if set(measures) - {"sites"}:
        graph = read_graph(spark, options.folder, options.nodes)
        results = graph.nodes
        for name, compute_measure in (
            ("degrees", degrees),
            ("pagerank", lambda graph: pagerank(graph, cut, options.damping, options.tolerance)),
            ("weak-components", lambda graph: weak_components(graph, cut)),
            ("strong-components", lambda graph: strong_components(graph, cut)),
        ):
            if name in measures:
                results = results.join(compute_measure(graph), "id")
        results.write.mode("overwrite").parquet(f"{options.out}/pages")
    if "sites" in measures:
        site_links(spark, options.folder).write.mode("overwrite").parquet(f"{options.out}/sites")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:18} {columns}" for name, columns in MEASURES.items()),
    )  # fmt: skip
    parser.add_argument("folder", help="the folder web_graph.parquet")
    parser.add_argument("out", help="the folder of the results")
    parser.add_argument("--nodes", choices=("contents", "urls"), default="contents", help="what a node is")
    parser.add_argument("--measure", action="append", choices=tuple(MEASURES), help="may be repeated")
    parser.add_argument("--damping", type=float, default=DAMPING, help="of PageRank, in (0, 1)")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="of PageRank: sum of all errors")
    parser.add_argument("--checkpoints", metavar="FOLDER", help="where the steps of loops are stored")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    session = SparkSession.builder.appName("graph measures").getOrCreate()
    compute(session)
    session.stop()
