"""What a second worker brings: pages a second with WORKERS=1 and WORKERS=2, in alternating order.

    python -m bench.speed.workers [--sites 20] [--rounds 3] [--workers 1,2] [--stores sqlite,postgresql]

Each crawl fetches 1,000 pages of every site from nginx, on this machine, as a user would: the command in processes of
its own, everything stored, with graphs. Two times are taken. The whole time includes the start of the processes, the
files at the end, and the progress of the parent; the steady rate is that of the middle half
of the pages, as the store counts them, when all workers have joined and all have sites. Processor time is that of the crawler (all its processes), of the web server and, with
PostgreSQL, of the database server, so that it can be seen what the crawler had of the machine. Ratios are medians over
rounds. With --fast S the exit status is 1 if the steady rate with SQLite is not S times as high.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from bench.processor_time import tree_cpu_s
from bench.speed.many_sites import serve_sites
from bench.speed.website import PAGES
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.speed.many_sites import Web

ROOT = Path(__file__).parents[2]
LOOK_S = 0.1
SITE_PARALLEL = 4


class Cost(NamedTuple):
    """What a crawl took; CPU seconds of each part."""

    pages: int
    whole_s: float
    steady_per_s: float
    crawler_cpu_s: float
    web_cpu_s: float
    store_cpu_s: float


def steady_rate(seen: Sequence[tuple[float, int]]) -> float:
    """Return pages a second while the middle half of the pages was fetched.

    *seen*: seconds, and pages until then, in order of time. Between two changes the number grows evenly, since pages
    are stored in batches.

    >>> steady_rate([(0.0, 0), (5.0, 0), (6.0, 100), (7.0, 200), (8.0, 300), (9.0, 400), (20.0, 400)])
    100.0
    """
    steps = [one for one, before in zip(seen[1:], seen, strict=False) if one[1] > before[1]]
    first = max((one for one in seen if one[1] == 0), default=seen[0])
    steps.insert(0, first)
    last = steps[-1][1]

    def at(pages: float) -> float:
        for (began, few), (ended, many) in zip(steps, steps[1:], strict=False):
            if few <= pages <= many:
                return began + (ended - began) * (pages - few) / (many - few)
        raise ValueError(f"{pages} pages were never seen")

    return 0.5 * last / (at(0.75 * last) - at(0.25 * last))


class _Counter:
    """Reads from a store, which may not exist yet, how many pages have ended."""

    def __init__(self, url: str) -> None:
        read_only = url.replace("sqlite:///", "sqlite:///file:") + "?mode=ro&uri=true" if "sqlite" in url else url
        self._engine = create_engine(read_only)

    def pages(self) -> int:
        try:
            with self._engine.connect() as connection:
                return int(connection.execute(text("SELECT coalesce(sum(pages), 0) FROM worker")).scalar_one())
        except DBAPIError:
            return 0

    def close(self) -> None:
        self._engine.dispose()


def measure(web: Web, workers: int, url: str, database_server: int | None, settings: Sequence[str] = ()) -> Cost:
    """Crawl all sites once; *url* is an empty store, *database_server* the process of its server."""
    with tempfile.TemporaryDirectory(prefix="crawl-") as temporary:
        folder = Path(temporary)
        store = url or f"sqlite:///{folder / 'crawl.sqlite'}"
        lines = "".join(f"{site};{SITE_PARALLEL};;0\n" for site in web.urls)
        (folder / "hosts.txt").write_text(lines, "utf-8")
        command = [sys.executable, "-m", "scrapy", "crawl", "sitegraph", "-a", "hosts=hosts.txt"]
        for setting in (f"WORKERS={workers}", f"DATABASE_URL={store}", *settings):
            command += ["-s", setting]
        counter = _Counter(store)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        web_cpu_s, store_cpu_s = web.cpu_s, tree_cpu_s(database_server) if database_server else 0.0
        began, seen = time.perf_counter(), [(0.0, 0)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            while process.poll() is None:
                time.sleep(LOOK_S)
                pages = counter.pages()
                seen.append((time.perf_counter() - began, max(pages, seen[-1][1])))
        whole_s = time.perf_counter() - began
        counter.close()
        if process.returncode:
            raise SystemExit(f"the crawl ended with status {process.returncode}:\n{(folder / 'log').read_text()}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Cost(
            seen[-1][1],
            whole_s,
            steady_rate(seen),
            used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime,
            web.cpu_s - web_cpu_s,
            tree_cpu_s(database_server) - store_cpu_s if database_server else 0.0,
        )


@contextmanager
def stores(kind: str) -> Iterator[tuple[Path | None, int | None]]:
    """Yield the socket folder of a server, if *kind* is one, and its process."""
    if kind == "sqlite":
        yield None, None
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
        print(
            f"{'store':<11} {'workers':>7} {'pages':>7} {'whole s':>8} {'pages/s':>8} {'steady':>7} "
            f"{'CPU ms a page: crawler':>23} {'web':>5} {'store':>6} {'cores':>6}"
        )
        for kind in options.stores.split(","):
            rounds: list[dict[int, Cost]] = []
            with stores(kind) as (socket, server):
                for turn in range(options.rounds):
                    costs = {}
                    for number in numbers if turn % 2 == 0 else numbers[::-1]:
                        with fresh_database(socket) if socket is not None else nullcontext("") as url:
                            costs[number] = cost = measure(web, number, url, server, options.set)
                        per_page = [1000 * cpu_s / cost.pages for cpu_s in cost[3:]]
                        print(
                            f"{kind:<11} {number:>7} {cost.pages:>7} {cost.whole_s:>8.1f} "
                            f"{cost.pages / cost.whole_s:>8.0f} {cost.steady_per_s:>7.0f} {per_page[0]:>23.2f} "
                            f"{per_page[1]:>5.2f} {per_page[2]:>6.2f} {sum(cost[3:]) / cost.whole_s:>6.2f}",
                            flush=True,
                        )
                    rounds.append(costs)
            pages = {cost.pages for costs in rounds for cost in costs.values()}
            if pages != {options.sites * PAGES}:
                print(f"{kind}: crawls ended with different numbers of pages: {pages}")
                worst = 1
            for number in numbers[1:]:
                pairs = [(costs[numbers[0]], costs[number]) for costs in rounds]
                steady = statistics.median(b.steady_per_s / a.steady_per_s for a, b in pairs)
                summary = {
                    "store": kind,
                    "workers": number,
                    "steady_ratio": round(steady, 2),
                    "whole_ratio": round(statistics.median(a.whole_s / b.whole_s for a, b in pairs), 2),
                    "crawler_cpu_ratio": round(
                        statistics.median(b.crawler_cpu_s / a.crawler_cpu_s for a, b in pairs), 2
                    ),
                }
                print(json.dumps({"bench": "workers", **summary}), flush=True)
                if kind == "sqlite" and number == 2 and steady < options.fast:
                    worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
