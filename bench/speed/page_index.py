"""What a crawl pays for what only the panel and reports read of its pages.

    python -m bench.speed.page_index [--of index] [--pairs 12] [--concurrency 16]

Crawls the same site into a new store without and with it in turn: the *index* `page_of_site`, by which pages are
counted and listed, or the *latency* of responses, which is null otherwise. Prints the ratios of CPU seconds and of the
size of the store, with / without: geometric means and their intervals of 95 %.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from bench.running import cost_of
from bench.speed.panel_load import crawl, mean_ratio
from bench.speed.website import serve
from crawlers.storage import page_rows
from crawlers.storage.database import Database

INDEX = "page_of_site"
KINDS = ("index", "latency")


def crawl_without(url: str, concurrency: int, kind: str) -> None:
    """Crawl the site of *url* in this process, into the store of its folder, without one *kind*."""
    if kind == "index":
        database = Database("sqlite:///crawl.sqlite")
        with database.write() as connection:
            connection.exec_driver_sql(f"DROP INDEX {INDEX}")
        database.close()
    if kind == "latency":
        made = page_rows.EndedPage

        def row(*values: Any, latency_s: float | None, **others: Any) -> page_rows.EndedPage:
            return made(*values, **others)

        page_rows.EndedPage = row  # type: ignore[assignment, misc]
    crawl(url, concurrency, "measured")


def measure(url: str, concurrency: int, without: str) -> dict[str, float]:
    """Return the cost of one crawl, and the bytes of its store."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("--concurrency", str(concurrency), "--only", url, without)
        cost = cost_of(folder, "bench.speed.page_index", *words)
        return cost | {"bytes": (Path(folder) / "crawl.sqlite").stat().st_size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=KINDS, default=KINDS[0])
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--only", nargs=2, metavar=("URL", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        crawl_without(options.only[0], options.concurrency, options.only[1])
        return
    cpu, sizes = [], []
    with serve() as url:
        for pair in range(-1, options.pairs):  # the first one warms caches up
            order = (False, True) if pair % 2 else (True, False)
            costs = {is_on: measure(url, options.concurrency, "" if is_on else options.of) for is_on in order}
            if pair >= 0:
                cpu.append(costs[True]["cpu_s"] / costs[False]["cpu_s"])
                sizes.append(costs[True]["bytes"] / costs[False]["bytes"])
                print(f"CPU {cpu[-1]:.3f}, bytes {sizes[-1]:.3f}", flush=True)
    print(f"CPU seconds: {mean_ratio(cpu)}")
    print(f"bytes: {mean_ratio(sizes)}")


if __name__ == "__main__":
    main()
