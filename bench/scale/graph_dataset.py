"""Measures `scrapy graph --format parquet`: seconds, peak memory and bytes a row, by the size of the store.

    python -m bench.scale.graph_dataset [FOLDER] [--pages 1000000] [--links 10000000] [--sites 5000]

The store is generated in FOLDER if it is not there: a crawl of that many sites, of which a site in a hundred has a
tenth of all pages together; every twentieth page is a duplicate, every twentieth a redirect, and every page links to
ten pages of its site, drawn by popularity, and to an external URL. It is exported by a process of its own, whose peak
of the resident memory is that of the whole process with Python, pyarrow and SQLite. Half of the pages, to compare, show
what memory depends on.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.speed.graph_writing import resident_mb
from crawlers.algorithms.urls.keys import page_key
from crawlers.graphs.dataset.dataset_export import DATASET, write_dataset
from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.database import Database
from crawlers.storage.queries import crawl_named, sites_of
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from collections.abc import Iterator

FOUND_AT_ONCE = 7  # pages of a site that have neighbouring numbers: they were found on one page
OF_TWENTY = (State.MOVED, *[State.DONE] * 19)
EXTERNAL_URLS = 100_000
BEGAN_AT = 1.7e9
BUILDING = ("journal_mode=OFF", "synchronous=OFF", "cache_size=-500000", "locking_mode=EXCLUSIVE")
_PAGE = (
    "INSERT INTO page (id, site_id, key, url, variant, level, hops, priority, state, found_at, state_at, fetched_at,"
    f" attempts, status, moved_to, content_hash, title, content_type, size_bytes) VALUES ({', '.join('?' * 19)})"
)


def site_name(site: int) -> str:
    return f"https://www.daily-{site:05}.com"


def fill(path: Path, pages: int, links: int, sites: int) -> None:
    """Make the store at *path*."""
    database = Database(f"sqlite:///{path}")
    rows = [SiteRow(0, site_name(site), 4, None, 1.0) for site in range(sites)]
    crawl = crawls.begin(database, "bench", "sitegraph", rows, {}, BEGAN_AT)
    database.close()
    owners = _owners(pages, sites)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in BUILDING:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        connection.executemany(_PAGE, _pages(owners, crawl.sites[0].id))
        connection.executemany("INSERT INTO link VALUES (?, ?, ?)", _links(owners, links // pages))
        urls = ((number, f"https://elsewhere-{number % 997}.org", f"/{number}") for number in range(EXTERNAL_URLS))
        connection.executemany(
            "INSERT INTO external_url VALUES (?, ?, ?, ?)", ((n, site, site + path, n) for n, site, path in urls)
        )
        places = np.random.default_rng(2).integers(0, EXTERNAL_URLS, pages).tolist()
        connection.executemany("INSERT INTO external_link VALUES (?, ?, 1, 1)", enumerate(places, 1))
        connection.execute("COMMIT")


def _owners(pages: int, sites: int) -> np.ndarray:
    """The site of each page, from 0, seven pages in a row; a hundredth of the sites have half of all pages."""
    generator = np.random.default_rng(0)
    blocks = pages // FOUND_AT_ONCE + 1
    large = generator.integers(0, max(sites // 100, 1), blocks)
    site = np.where(generator.random(blocks) < 0.5, large, generator.integers(0, sites, blocks))
    return np.repeat(site, FOUND_AT_ONCE)[:pages]


def _pages(owners: np.ndarray, first_site: int) -> Iterator[tuple[Any, ...]]:
    previous: dict[int, int] = {}  # the last page of each site
    for number, site in enumerate(owners.tolist(), 1):
        url = f"{site_name(site)}/section-{number % 37}/2026/11/{number:09}/what-happened-yesterday.html"
        key = page_key(url)
        state = OF_TWENTY[number % 20] if site in previous else State.DONE
        moved_to = previous[site] if state is State.MOVED else None
        content = f"{page_key(str(previous.get(site, site))) if number % 20 == 1 else key:032x}"
        found = (number, first_site + site, key, url, 0, min(number // 5000, 9), 0, 0.0, int(state), BEGAN_AT, BEGAN_AT)
        answer = (BEGAN_AT + number, 1, 301 if moved_to else 200, moved_to, None if moved_to else content)
        yield (*found, *answer, f"What happened on day {number % 4999}", "text/html; charset=utf-8", number % 90_000)
        previous[site] = number


def _links(owners: np.ndarray, a_page: int) -> Iterator[tuple[int, int, int]]:
    """So many different targets of each page, on its site, the first pages of which are the most popular."""
    generator = np.random.default_rng(1)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(owners.max() + 2))
    sizes = np.diff(starts)
    for first in range(0, len(owners), 100_000):
        some = owners[first : first + 100_000]
        drawn = generator.random((len(some), a_page)) ** 2 * sizes[some][:, None]
        targets = order[starts[some][:, None] + drawn.astype(np.int64)] + 1
        targets.sort(axis=1)
        for source, row in enumerate(targets.tolist(), first + 1):
            for target in dict.fromkeys(row):
                yield source, target, 1 + target % 3


def export(path: Path) -> dict[str, float]:
    """Export the store beside it; return what it took."""
    database = Database(f"sqlite:///{path}", create=False)
    crawl = crawl_named(database, None)
    site_ids = [site.id for site in sites_of(database, crawl.id)]
    before_mb = resident_mb("VmHWM")
    start, cpu = time.perf_counter(), time.process_time()
    size = write_dataset(database, site_ids, path.with_suffix("") / DATASET)
    seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    database.close()
    return {
        **size._asdict(),
        "seconds": round(seconds, 1),
        "cpu_s": round(cpu_s, 1),
        "before_mb": round(before_mb),
        "peak_mb": round(resident_mb("VmHWM")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--sites", type=int, default=5_000)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)  # the child: export this store
    options = parser.parse_args()
    if options.one:
        print(json.dumps(export(options.one)))
        return
    with tempfile.TemporaryDirectory(prefix="bench-dataset-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print("| pages | links | seconds | CPU s | MB before | MB at the peak |\n|--:|--:|--:|--:|--:|--:|")
        for parts in (4, 2, 1):
            pages, links = options.pages // parts, options.links // parts
            path = folder / f"{pages}-{links}-{options.sites}.sqlite"
            if not path.exists():
                fill(path, pages, links, options.sites)
            command = [sys.executable, "-m", "bench.scale.graph_dataset", "--one", str(path)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"| {found['pages']:,} | {found['links']:,} | {found['seconds']} | {found['cpu_s']} "
                f"| {found['before_mb']} | {found['peak_mb']} |",
                flush=True,
            )
        report(path.with_suffix("") / DATASET, found)


def report(folder: Path, found: dict[str, float]) -> None:
    """Print rows, files and bytes of each table in *folder*."""
    print("\n| table | rows | files | MB | bytes a row |\n|---|--:|--:|--:|--:|")
    for table in ("sites", "pages", "links", "external_links"):
        sizes = [file.stat().st_size for file in (folder / table).rglob("*.parquet")]
        rows = found[table]
        print(f"| {table} | {rows:,} | {len(sizes)} | {sum(sizes) / 1e6:.1f} | {sum(sizes) / rows:.1f} |")


if __name__ == "__main__":
    main()
