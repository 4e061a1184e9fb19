"""Crawls real sites by importance in several orders, and holds what each believes against PageRank, as pages come in.

    python -m bench.broad HOSTS FOLDER [--orders aopic,aopic-cyclic,aopic-random] [--fetches 500,1000,…,20000]

One crawl an order, in a store of its own under FOLDER, that goes on from one number of fetches to the next. The truth is
networkx's PageRank (damping .85) on the final graph: the pages that any of the crawls had read at the end, and the links
between them; folded as each crawl folded them, redirects followed. `tau` is Kendall's over the 1,000 most important
pages of that graph, a page that a crawl has not read having no importance yet; `read` is how many of them it has read.
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

ROOT = Path(__file__).resolve().parents[1]
TOP = 1000
_BELIEVED = """
    SELECT p.url, i.history, p.fetched_at IS NOT NULL FROM importance i JOIN page p ON p.id = i.page_id
    WHERE i.queue >= 0"""
_PAGES = f"SELECT id, url, moved_to, state = {int(State.DONE)} FROM page WHERE state IN (1, 2)"
_LINKS = "SELECT source_id, target_id FROM link"
_VISITS = "SELECT count(*), count(DISTINCT page_id) FROM pull"


def crawl(hosts: Path, folder: Path, order: str, fetches: int) -> None:
    """Let the crawl of *order* go on until it has fetched so many pages."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "scrapy", "crawl", "broad", "-a", f"hosts={hosts.resolve()}"]
    for name, value in {"ORDER": order, "PAGE_BUDGET": fetches, "LOG_LEVEL": "ERROR", "STOP_FILE": ""}.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def believed(store: Path) -> tuple[dict[str, float], int, int]:
    """What the crawl believes of each page that it read; its downloads, and the pages among them."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(_BELIEVED).fetchall()
        visits, pages = connection.execute(_VISITS).fetchone()
    return {url: history for url, history, is_read in rows if is_read}, visits, pages


def graph(stores: list[Path]) -> nx.DiGraph:
    """The pages that any of the crawls read, by URL, with the links between them."""
    whole = nx.DiGraph()
    for store in stores:
        with closing(sqlite3.connect(store)) as connection:
            rows = connection.execute(_PAGES).fetchall()
            moved = {page: to for page, _, to, is_done in rows if not is_done}
            urls = {page: url for page, url, _, is_done in rows if is_done}
            whole.add_nodes_from(urls.values())
            for source, target in connection.execute(_LINKS):
                seen = set()
                while target in moved and target not in seen:
                    seen.add(target)
                    target = moved[target]
                if source in urls and target in urls and source != target:
                    whole.add_edge(urls[source], urls[target])
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", default="aopic,aopic-cyclic,aopic-random")
    parser.add_argument("--fetches", default="500,1000,2000,5000,10000,20000")
    options = parser.parse_args()
    orders = options.orders.split(",")
    steps = [int(number) for number in options.fetches.split(",")]
    beliefs = {}
    for order in orders:
        for fetches in steps:
            crawl(options.hosts, options.folder / order, order, fetches)
            beliefs[order, fetches] = believed(options.folder / order / "crawl.sqlite")
            print(f"{order}: {fetches:,} fetched, {beliefs[order, fetches][2]:,} pages", file=sys.stderr, flush=True)
    whole = graph([options.folder / order / "crawl.sqlite" for order in orders])
    rank = nx.pagerank(whole, alpha=0.85, tol=1e-10, max_iter=500)
    top = sorted(rank, key=lambda url: (-rank[url], url))[:TOP]
    print(f"final graph: {len(whole):,} pages, {whole.number_of_edges():,} links")
    print("fetches   " + "   ".join(f"{order:>22}" for order in orders))
    for fetches in steps:
        cells = []
        for order in orders:
            shares, _, pages = beliefs[order, fetches]
            tau = kendalltau([rank[url] for url in top], [shares.get(url, 0.0) for url in top]).statistic
            cells.append(f"{tau:6.3f} {sum(url in shares for url in top):5} of {pages:6,}")
        print(f"{fetches:7,}   " + "   ".join(cells))
    print(f"(tau of the top {TOP:,}, how many of them are read, of how many pages read)")


if __name__ == "__main__":
    main()
