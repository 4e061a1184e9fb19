"""Crawls real sites by importance in several orders, and compares their scores with PageRank while pages are read.

    python -m bench.scale.broad HOSTS FOLDER [--orders aopic,aopic-cyclic,aopic-random] [--fetches 500,1000,…,20000]

One crawl per order, in its own store under FOLDER, continued from one number of fetches to the next. The truth
is networkx's PageRank (damping .85) on the graph that the crawl knows at that moment: pages that were read or wait to
be, the links between them, redirects followed; pages that wait lead nowhere. `tau` is Kendall's over the 1,000 most
important pages of that graph, `read` how many of them are read, `L1` the sum of all errors of the pages that are read.
For all orders alike, `found` is how many of the 1,000 most important pages of the first order's final graph are read.
`cyclic` reads pages as they were discovered, over and over: breadth first, the first time.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import networkx as nx
from scipy.stats import kendalltau

from crawlers.items import State
from crawlers.storage.database import Database
from crawlers.storage.importance import top_pages, totals_of
from crawlers.storage.queries import crawl_named

ROOT = Path(__file__).resolve().parents[2]
TOP = 1000
# Fewer requests in flight than sites, as on the web; otherwise every site always has a request, whatever its pages are
# worth.
REQUESTS = 4
FIXED = {"LOG_LEVEL": "ERROR", "STOP_FILE": ""}
MAX_PAGES = 10_000_000  # pages of a crawl: all of them
_PAGES = "SELECT id, url, moved_to, state FROM page WHERE state IN (0, 1, 2)"
_LINKS = "SELECT source_id, target_id FROM link"

QueueShares = dict[str, float]


def crawl(hosts: Path, folder: Path, order: str, fetches: int, requests: int) -> None:
    """Continue the crawl of *order* until it has fetched that many pages."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "scrapy", "crawl", "broad", "-a", f"hosts={hosts.resolve()}"]
    for name, value in {**FIXED, "ORDER": order, "PAGE_BUDGET": fetches, "CONCURRENT_REQUESTS": requests}.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def believed(store: Path) -> QueueShares:
    """What the crawl believes of each page that it read."""
    database = Database(f"sqlite:///{store}")
    named = crawl_named(database, "broad")
    with database.read() as connection:
        totals = totals_of(connection, named.id)
    assert totals is not None
    beliefs = {page.url: page.importance or 0.0 for page in top_pages(database, named.id, totals, MAX_PAGES)}
    database.close()
    return beliefs


def pagerank(store: Path) -> QueueShares:
    """PageRank of the pages that the crawl knows, by URL."""
    whole = nx.DiGraph()
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(_PAGES).fetchall()
        moved = {page: to for page, _, to, state in rows if state == State.MOVED}
        urls = {page: url for page, url, _, state in rows if state != State.MOVED}
        whole.add_nodes_from(urls.values())
        for source, target in connection.execute(_LINKS):
            seen = set()
            while target in moved and target not in seen:
                seen.add(target)
                target = moved[target]
            if source in urls and target in urls and source != target:
                whole.add_edge(urls[source], urls[target])
    return nx.pagerank(whole, alpha=0.85, tol=1e-10, max_iter=500)


def first(rank: QueueShares) -> list[str]:
    return sorted(rank, key=lambda url: (-rank[url], url))[:TOP]


def compared(shares: QueueShares, rank: QueueShares) -> tuple[float, float, int]:
    """tau of the top, L1 of the pages read, how many of the top are read."""
    top = first(rank)
    tau = kendalltau([rank[url] for url in top], [shares.get(url, 0.0) for url in top]).statistic
    whole = sum(rank[url] for url in shares)
    l1 = sum(abs(share - rank[url] / whole) for url, share in shares.items())
    return tau, l1, sum(url in shares for url in top)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", default="aopic,aopic-cyclic,aopic-random")
    parser.add_argument("--fetches", default="500,1000,2000,5000,10000,20000")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="in flight, all sites together")
    options = parser.parse_args()
    orders = options.orders.split(",")
    steps = [int(number) for number in options.fetches.split(",")]
    final: list[str] = []
    print("| order | fetches | pages read | tau of the top | of it read | L1 | found |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for order in orders:
        rows = []
        for fetches in steps:
            crawl(options.hosts, options.folder / order, order, fetches, options.requests)
            store = options.folder / order / "crawl.sqlite"
            shares = believed(store)
            rank = pagerank(store)
            rows.append((fetches, shares, *compared(shares, rank)))
        final = final or first(rank)
        for fetches, shares, tau, l1, read in rows:
            found = sum(url in shares for url in final)
            print(
                f"| {order} | {fetches:,} | {len(shares):,} | {tau:.3f} | {read:,} | {l1:.3f} | {found:,} |", flush=True
            )


if __name__ == "__main__":
    main()
