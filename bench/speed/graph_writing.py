"""Times the writers of graphs against networkx: CPU seconds and memory, each in a process of its own.

    python -m bench.speed.graph_writing [--nodes 30000 --edges 1570000]

The graph is random but seeded, with the size of the one in the paper by default. The CPU time includes
what the kernel does for the process. "MB beyond the input" is the peak of the resident memory while
building and writing, less what the process held when the input (lists of tuples) was complete.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import networkx as nx

from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.export import graph_paths, write_graph
from crawlers.graphs.model import PAGE_COLUMNS
from crawlers.items import Node

OURS = ("gexf", "graphml", "csv")
CHECKED_NODES, CHECKED_EDGES = 2000, 40_000  # small enough for networkx to read back in a second


def synthetic_graph(nodes: int, edges: int, seed: int = 1) -> MemoryGraph:
    """Return a graph of *nodes* pages with *edges* links in all, evenly spread over the pages."""
    rng = random.Random(seed)
    links = []
    left = edges
    for source in range(1, nodes + 1):
        count = left // (nodes - source + 1)
        left -= count
        targets = sorted(rng.sample(range(1, nodes + 1), count))
        links.append((source, [(target, 1 + target % 3) for target in targets]))
    rows = [
        Node(number, f"http://apache2.test:8600/manual/{number:x}.html", number % 7, 200,
             f"Page {number} & <more>", 52, 52, number % 5, number % 2)
        for number in range(1, nodes + 1)
    ]  # fmt: skip
    return MemoryGraph(rows, links, name="apache2.test:8600", description="synthetic")


def network_of(graph: MemoryGraph) -> nx.DiGraph:
    """Return *graph* with all attributes, as somebody would build it for `networkx.write_gexf`."""
    network = nx.DiGraph()
    names = ["label", *(column.name for column in PAGE_COLUMNS)]
    for number, *values in graph.nodes():
        network.add_node(number, **dict(zip(names, values, strict=True)))
    for source, targets in graph.edges():
        network.add_weighted_edges_from([(source, target, weight) for target, weight in targets])
    return network


def resident_mb(field: str) -> float:
    """Return a line of /proc/self/status in MB: VmRSS is the resident memory now, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def measure(writer: str, nodes: int, edges: int, base: Path) -> dict[str, float]:
    """Write the graph with *writer* in this process and return what it cost."""
    graph = synthetic_graph(nodes, edges)
    gc.collect()
    gc.freeze()  # the collector's walks over the input are not the writer's fault
    before_mb = resident_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak, see proc_pid_clear_refs(5)
    started = time.process_time()
    if writer in OURS:
        built = started
        write_graph(graph, base, writer)
        paths = graph_paths(base, writer)
    else:
        network = network_of(graph)
        built = time.process_time()
        nx.write_gexf(network, base.with_suffix(".gexf"), version="1.3")
        paths = [base.with_suffix(".gexf")]
    ended = time.process_time()
    peak_mb = max(resident_mb("VmHWM"), resident_mb("VmRSS"))
    return {
        "build_s": round(built - started, 3),
        "write_s": round(ended - built, 3),
        "beyond_input_mb": round(peak_mb - before_mb, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "file_mb": round(sum(path.stat().st_size for path in paths) / 1e6, 1),
    }


def reads_back() -> bool:
    """Return whether networkx reads from our GEXF and GraphML the same graph that it builds itself."""
    graph = synthetic_graph(CHECKED_NODES, CHECKED_EDGES)
    expected = network_of(graph)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "a"
        for name in ("gexf", "graphml"):
            write_graph(graph, base, name)
        found = [
            nx.read_gexf(graph_paths(base, "gexf")[0], node_type=int, version="1.3"),
            nx.read_graphml(graph_paths(base, "graphml")[0], node_type=int),
        ]
    return all(nx.utils.graphs_equal(expected, network) for network in map(_without_defaults, found))


def _without_defaults(network: nx.DiGraph) -> nx.DiGraph:
    network.graph.clear()  # name, description and what the readers note about attributes
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the writers of graphs with networkx.")
    parser.add_argument("--nodes", type=int, default=30_000)
    parser.add_argument("--edges", type=int, default=1_570_000)
    parser.add_argument("--repeat", type=int, default=3, help="runs of our writers; the median counts")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the child: measure this writer
    options = parser.parse_args()
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(options.one, options.nodes, options.edges, Path(folder) / "a")))
        return

    size = ["--nodes", str(options.nodes), "--edges", str(options.edges)]
    results = {}
    for writer in (*OURS, "networkx"):
        command = [sys.executable, "-m", "bench.speed.graph_writing", *size, "--one", writer]
        runs = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(options.repeat if writer in OURS else 1)
        ]
        results[writer] = sorted(runs, key=lambda run: run["write_s"])[len(runs) // 2]
    report(results, {"nodes": options.nodes, "edges": options.edges, "reads_back": reads_back()})


def report(results: dict[str, dict[str, float]], about: dict[str, object]) -> None:
    """Print the table, and as last line everything in JSON."""
    theirs = results["networkx"]
    print(f"{about['nodes']} nodes, {about['edges']} edges; CPU seconds; networkx {nx.__version__}")
    print(f"{'':10}{'build':>8}{'write':>8}{'x faster':>10}{'x with build':>14}{'MB beyond':>11}{'MB file':>9}")
    for writer, cost in results.items():
        write_ratio = theirs["write_s"] / cost["write_s"]
        all_ratio = (theirs["build_s"] + theirs["write_s"]) / (cost["build_s"] + cost["write_s"])
        print(
            f"{writer:10}{cost['build_s']:8.2f}{cost['write_s']:8.2f}{write_ratio:10.1f}{all_ratio:14.1f}"
            f"{cost['beyond_input_mb']:11.1f}{cost['file_mb']:9.1f}"
        )
        cost["times_as_fast"] = round(write_ratio, 1)
        cost["times_as_fast_with_build"] = round(all_ratio, 1)
    print(json.dumps({**about, "writers": results}))


if __name__ == "__main__":
    main()
