"""What a second worker brings: pages a second with WORKERS=1 and WORKERS=2, in alternating order.

    python -m bench.speed.workers [--sites 20] [--rounds 3] [--workers 1,2] [--stores sqlite,postgresql]

Each crawl fetches 1,000 pages of every site from nginx, on this machine, as a user would: the command in processes of
its own, everything stored, with graphs. Two times are taken. The whole time includes the start of the processes and the
files at the end. The steady rate is that of the middle half of the pages, as the store counts them, when all workers
have joined and have sites. CPU milliseconds a page are those of the same time, of all processes of the crawler, of the
web server and, with PostgreSQL, of the database server; so it can be seen what each had of the processors. *Queued* are
the milliseconds a page in which any of their threads could have run, but other threads or programs did: a rate at which
they are many is that of the machine, not of the crawler. Ratios are medians over rounds. With --fast S the exit status
is 1 if the steady rate with SQLite is not S times as high.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from bench.processor_time import tree_cpu_s, tree_queued_s
from bench.speed.many_sites import serve_sites
from bench.speed.website import PAGES
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.speed.many_sites import Web

ROOT = Path(__file__).parents[2]
LOOK_S = 0.5
PARALLEL = 4  # downloads at a time from a site

Parts = tuple[list[int], list[int], list[int]]  # processes of crawler, web server and store


class Look(NamedTuple):
    """What had happened when the measurement looked: seconds, pages, CPU seconds of each part, and queued seconds."""

    s: float
    pages: float
    crawler_cpu_s: float
    web_cpu_s: float
    store_cpu_s: float
    queued_s: float  # of all parts


class Cost(NamedTuple):
    """What a crawl took; CPU milliseconds of each part while the rate was steady."""

    pages: int
    whole_s: float
    per_s: float
    crawler_ms: float
    web_ms: float
    store_ms: float
    queued_ms: float  # of all threads of these three

    @property
    def cores(self) -> float:
        """The processors that were busy, on average."""
        return self.per_s * (self.crawler_ms + self.web_ms + self.store_ms) / 1000


def cost(looks: Sequence[Look]) -> Cost:
    """Return what the crawl took that was looked at: the rate is that of the middle half of its pages.

    Between two looks that found different numbers the number grows evenly, since pages are stored in batches.

    >>> seen = ((0, 0), (5, 0), (6, 100), (7, 200), (8, 300), (9, 400), (20, 400))
    >>> cost([Look(seconds, pages, 2 * seconds, 0, 0, 0) for seconds, pages in seen])
    Cost(pages=400, whole_s=20, per_s=100.0, crawler_ms=20.0, web_ms=0.0, store_ms=0.0, queued_ms=0.0)
    """
    found = [looks[0], *(one for one, before in zip(looks[1:], looks, strict=False) if one.pages > before.pages)]
    pages = looks[-1].pages

    def at(number: float) -> Look:
        after = next(n for n, one in enumerate(found) if one.pages >= number)
        few, many = found[after - 1], found[after]
        part = (number - few.pages) / (many.pages - few.pages)
        return Look(*(a + part * (b - a) for a, b in zip(few, many, strict=True)))

    first, last = at(pages / 4), at(3 * pages / 4)
    per_page_ms = [1000 * (b - a) / (last.pages - first.pages) for a, b in zip(first, last, strict=True)]
    return Cost(int(pages), looks[-1].s, 1000 / per_page_ms[0], *per_page_ms[2:])


@contextmanager
def counted_pages(url: str) -> Iterator[Callable[[], int]]:
    """Yield a function that returns the number of ended pages of the store *url*, which may not exist yet."""
    engine = create_engine(
        url.replace("sqlite:///", "sqlite:///file:") + "?mode=ro&uri=true" if "sqlite" in url else url
    )
    most = 0

    def pages() -> int:
        nonlocal most
        with suppress(DBAPIError), engine.connect() as connection:
            most = int(connection.execute(text("SELECT coalesce(sum(pages), 0) FROM worker")).scalar_one())
        return most

    yield pages
    engine.dispose()


def watch(is_running: Callable[[], bool], pages: Callable[[], int], processes: Callable[[], Parts]) -> list[Look]:
    """Look at a crawl until it is not running; *processes* returns those of crawler, web server and store.

    Their descendants are counted with them.
    """
    began = time.perf_counter()

    def look() -> Look:
        parts = processes()
        cpu_s = [sum(map(tree_cpu_s, part)) for part in parts]
        queued_s = sum(tree_queued_s(process) for part in parts for process in part)
        return Look(time.perf_counter() - began, pages(), *cpu_s, queued_s)

    looks = [look()]
    while is_running():
        time.sleep(LOOK_S)
        looks.append(look())
    return looks


def measure(web: Web, workers: int, url: str, server: int, settings: Sequence[str] = ()) -> Cost:
    """Crawl all sites once; *url* is an empty store, or empty for SQLite, *server* the process of its server, or 0."""
    with tempfile.TemporaryDirectory(prefix="crawl-") as temporary:
        folder = Path(temporary)
        store = url or f"sqlite:///{folder / 'crawl.sqlite'}"
        (folder / "hosts.txt").write_text("".join(f"{site};{PARALLEL};;0\n" for site in web.urls), "utf-8")
        command = [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", "hosts=hosts.txt"]
        for setting in (f"WORKERS={workers}", f"DATABASE_URL={store}", *settings):
            command += ["-s", setting]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        with (folder / "log").open("wb") as log, counted_pages(store) as pages:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            parts = [process.pid], [web.process], [server]
            looks = watch(lambda: process.poll() is None, pages, lambda: parts)
        if process.returncode:
            raise SystemExit(f"the crawl ended with status {process.returncode}:\n{(folder / 'log').read_text()}")
        return cost(looks)


@contextmanager
def stores(kind: str) -> Iterator[tuple[Path | None, int]]:
    """Yield the socket folder of a server, if *kind* is one, and its process."""
    if kind == "sqlite":
        yield None, 0
        return
    with running_postgresql() as socket:
        yield socket, int((socket / "data" / "postmaster.pid").read_text("utf-8").splitlines()[0])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.workers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", default="1,2", help="numbers of workers; ratios are to the first")
    parser.add_argument("--stores", default="sqlite,postgresql")
    parser.add_argument("--fast", type=float, default=0.0, help="the required ratio of steady rates with SQLite")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of all crawls")
    options = parser.parse_args()
    numbers = [int(number) for number in options.workers.split(",")]
    worst = 0
    with serve_sites(options.sites) as web:
        print(f"{'':<43} {'CPU ms a page':>22}")
        print(
            f"{'store':<11} {'workers':>7} {'pages':>7} {'whole s':>7} {'pages/s':>7} "
            f"{'crawler':>8} {'web':>6} {'store':>6} {'queued':>7} {'cores':>6}"
        )
        for kind in options.stores.split(","):
            rounds: list[dict[int, Cost]] = []
            with stores(kind) as (socket, server):
                for turn in range(options.rounds):
                    costs = {}
                    for number in numbers if turn % 2 == 0 else numbers[::-1]:
                        with fresh_database(socket) if socket is not None else nullcontext("") as url:
                            costs[number] = one = measure(web, number, url, server, options.set)
                        print(
                            f"{kind:<11} {number:>7} {one.pages:>7} {one.whole_s:>7.1f} {one.per_s:>7.0f} "
                            f"{one.crawler_ms:>8.2f} {one.web_ms:>6.2f} {one.store_ms:>6.2f} {one.queued_ms:>7.2f} "
                            f"{one.cores:>6.2f}",
                            flush=True,
                        )
                    rounds.append(costs)
            pages = {one.pages for costs in rounds for one in costs.values()}
            if pages != {options.sites * PAGES}:
                print(f"{kind}: crawls ended with different numbers of pages: {pages}")
                worst = 1
            for number in numbers[1:]:
                pairs = [(costs[numbers[0]], costs[number]) for costs in rounds]
                summary = {
                    "steady_ratio": statistics.median(b.per_s / a.per_s for a, b in pairs),
                    "whole_ratio": statistics.median(a.whole_s / b.whole_s for a, b in pairs),
                    "cpu_ratio": statistics.median(b.crawler_ms / a.crawler_ms for a, b in pairs),
                    "store_share": statistics.median(b.per_s * b.store_ms / 1000 / b.cores for _, b in pairs),
                }
                rounded = {name: round(value, 2) for name, value in summary.items()}
                print(json.dumps({"bench": "workers", "store": kind, "workers": number, **rounded}), flush=True)
                if kind == "sqlite" and number == 2 and summary["steady_ratio"] < options.fast:
                    worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
