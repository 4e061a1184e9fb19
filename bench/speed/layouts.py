"""Measures what GRAPH_LAYOUT costs: CPU seconds and memory of positions and of communities, each in its own process.

    python -m bench.speed.layouts [--nodes 1000,5000,20000] [--links 25]

The graphs are seeded, and shaped like sites: sections of 50 pages that link to each other and to their neighbours, and
to which the home page and a menu of 10 pages belong, to which all pages link. "MB" is the growth of the process beyond
its input.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time

from crawlers.algorithms.maps.communities import communities
from crawlers.algorithms.maps.force_layout import force_layout

SECTION, MENU = 50, 11
METHODS = {"positions": force_layout, "communities": communities}


def site_like(nodes: int, links: int, seed: int = 1) -> list[tuple[int, int]]:
    """Return about *nodes* times *links* edges; most of them lead to the menu and within a section."""
    rng = random.Random(seed)
    edges = set()
    for source in range(nodes):
        first = source - source % SECTION
        edges.update((source, target) for target in range(min(MENU, nodes)))
        for _ in range(max(links - MENU, 1)):
            target = rng.randrange(first, first + SECTION) if rng.random() < 0.9 else rng.randrange(nodes)
            edges.add((source, target % nodes))
    return sorted((source, target) for source, target in edges if source != target)


def measure(method: str, nodes: int, links: int) -> dict[str, float]:
    """Return the costs of *method* in this process."""
    edges = site_like(nodes, links)
    METHODS[method](100, site_like(100, links))  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    METHODS[method](nodes, edges)
    seconds = time.process_time() - started
    return {
        "edges": len(edges),
        "seconds": seconds,
        "megabytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", default="1000,5000,20000")
    parser.add_argument("--links", type=int, default=25)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, int(options.nodes), options.links)))
        return
    print("| nodes | edges | what | CPU seconds | MB |\n|---|---|---|---|---|")
    for nodes in options.nodes.split(","):
        for method in METHODS:
            command = [sys.executable, "-m", "bench.speed.layouts", "--one", method, "--nodes", nodes]
            text = subprocess.run(
                [*command, "--links", str(options.links)], check=True, capture_output=True, text=True
            ).stdout
            found = json.loads(text)
            cells = (f"{int(nodes):,}", f"{found['edges']:,}", method, f"{found['seconds']:.1f}")
            print(f"| {' | '.join(cells)} | {found['megabytes']:.0f} |")


if __name__ == "__main__":
    main()
