"""Measures the SQL frontier on SQLite: memory per waiting URL, memory over time, time per lease by number of hosts.

    python -m bench.speed.frontier_memory [--urls 1000000] [--only ram|flat|time]

Every measurement of memory is made in a process of its own: resident memory (VmRSS) after N waiting URLs
less what the process held when the empty frontier was open. That includes what does not grow with the
frontier: SQLite's page caches (up to 16 MB a connection) and memory that was freed but not returned to the
system. So it is measured once more without these: connections closed, `malloc_trim` called.

"Time" is wall time of `lease` and `acknowledge` of a page without links, median of rounds that take turns
between the two frontiers, commits included.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlers.bandits.turns import RoundRobin
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import Frontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import Page, State, Target
from crawlers.ranking.page_orders import BREADTH_FIRST
from crawlers.store.database import Database
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.sites.site_opening import SiteList, SiteRow
from crawlers.store.writing.writer import Writer
from crawlers.urls.keys import page_key
from tests.support.frontier_state import pending_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RAM_SITES = 20
AT_ONCE = 10  # URLs added by one call: about what a page has that is new
FLAT_CACHE_URLS = 200_000
FEW, MANY = 20, 20_000
DELAY_S = 1.0
ROUNDS, LEASES = 25, 2000


@contextmanager
def opened(sites: int, **limits: int) -> Iterator[tuple[Frontier, list[int], Writer]]:
    """An empty frontier in a temporary folder, with the ids of its *sites* and its writer."""
    with tempfile.TemporaryDirectory(prefix="bench-frontier-") as folder:
        database = Database(f"sqlite:///{Path(folder) / 'crawl.sqlite'}")
        rows = [SiteRow(0, f"http://www.host{n}.test", 1, None, DELAY_S) for n in range(sites)]
        crawl = crawls.begin(database, Command("bench", "bench", {}, SiteList(rows)), 0.0)
        writer = Writer(database)
        store = SqlFrontierStore(database, writer, crawl.id, looks_back=False)
        frontier = Frontier(store, BREADTH_FIRST, PullBudget(RoundRobin(), 0, records=False), **limits)
        for row in crawl.sites:
            frontier.open_site(SiteRow(row.id, row.site, 1, None, DELAY_S), 0.0)
        yield frontier, [row.id for row in crawl.sites], writer
        writer.close()
        database.close()


def fill(frontier: Frontier, sites: list[int], first: int, last: int) -> None:
    """Add the URLs number *first* to *last*, evenly over the *sites*; some 75 characters each."""
    for start in range(first, last, AT_ONCE):
        candidates = []
        for number in range(start, min(start + AT_ONCE, last)):
            site_id = sites[number // AT_ONCE % len(sites)]
            site = f"http://www.host{site_id}.test"
            url = f"{site}/section-{number % 97}/articles/{number:012}/some-title.html"
            candidates.append(Candidate(site_id, Target(url, url, page_key(url), site), 1))
        frontier.add(candidates, 0.0)


def resident_bytes() -> int:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def grow(marks: list[int], **limits: int) -> list[int]:
    """Resident bytes beyond those of the empty frontier when so many URLs wait; last, without page caches."""
    with opened(RAM_SITES, **limits) as (frontier, sites, writer):
        fill(frontier, sites, 0, AT_ONCE)
        writer.flush()
        before = resident_bytes()
        sizes = []
        for first, last in zip([AT_ONCE, *marks], marks, strict=False):
            fill(frontier, sites, first, last)
            writer.flush()
            sizes.append(resident_bytes() - before)
        assert pending_of(frontier) == marks[-1]
        writer._database.close()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)
        sizes.append(resident_bytes() - before)
    return sizes


class Turns:
    """Leases and acknowledges on a frontier whose hosts each receive one request per second."""

    def __init__(self, frontier: Frontier, hosts: int) -> None:
        self._frontier = frontier
        self._step_s = 1.01 * DELAY_S / hosts  # so that every host is due when its turn comes, whatever the rounding
        self._ticks = 0

    def take(self, number: int) -> float:
        """Seconds per page of *number* pages."""
        frontier = self._frontier
        start = time.perf_counter()
        for _ in range(number):
            self._ticks += 1
            now = 10.0 + self._ticks * self._step_s
            (lease,) = frontier.lease(now, 1)
            frontier.acknowledge(lease, Decision(Page(lease.id, lease.url, lease.level, State.DONE, 200)), now)
        return (time.perf_counter() - start) / number


def times(urls: int) -> dict[int, float]:
    """Seconds per lease and acknowledgement, by number of hosts."""
    with opened(FEW) as few, opened(MANY) as many:
        turns = {}
        for frontier, sites, writer in (few, many):
            fill(frontier, sites, 0, urls)
            writer.flush()
            turns[len(sites)] = Turns(frontier, len(sites))
        gc.collect()
        gc.freeze()
        for one in turns.values():
            one.take(LEASES)
        rounds = [{hosts: one.take(LEASES) for hosts, one in turns.items()} for _ in range(ROUNDS)]
    return {hosts: statistics.median(one[hosts] for one in rounds) for hosts in turns}


def _child(kind: str, urls: int) -> Any:
    command = [sys.executable, "-m", "bench.speed.frontier_memory", "--urls", str(urls), "--child", kind]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measured(kind: str, urls: int) -> Any:
    if kind == "ram":
        return grow([urls])
    if kind == "flat":
        return grow([urls, 2 * urls, 3 * urls], cache_urls=FLAT_CACHE_URLS)
    return times(urls)


def report(kind: str, urls: int, found: Any) -> dict[str, float]:
    """Print a table; return the figures for the JSON line."""
    if kind == "ram":
        full, bare = found
        print(f"memory at {urls:,} waiting URLs, default caches: {full / 1e6:.0f} MB = {full / urls:.0f} bytes a URL")
        print(f"  without page caches and freed memory: {bare / 1e6:.0f} MB = {bare / urls:.0f} bytes a URL")
        return {"bytes_per_url": round(full / urls, 1), "bytes_per_url_bare": round(bare / urls, 1)}
    if kind == "flat":
        print(f"memory with at most {FLAT_CACHE_URLS:,} known URLs in the cache:")
        for number, size in enumerate(found[:-1], 1):
            print(f"  {number * urls:>12,} waiting URLs: {size / 1e6:6.1f} MB")
        print(f"  without page caches and freed memory: {found[-1] / 1e6:.1f} MB")
        return {f"mb_at_{number}n": round(size / 1e6, 1) for number, size in enumerate(found[:-1], 1)}
    few, many = (float(found[str(hosts)]) * 1e6 for hosts in (FEW, MANY))
    print(f"time per lease and acknowledgement, {urls:,} URLs in all, median of {ROUNDS} x {LEASES}:")
    print(f"  {FEW:>7,} hosts: {few:6.1f} µs")
    print(f"  {MANY:>7,} hosts: {many:6.1f} µs    ratio {many / few:.2f}")
    return {"us_few_hosts": round(few, 1), "us_many_hosts": round(many, 1), "ratio": round(many / few, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["ram", "flat", "time"])
    parser.add_argument("--child", choices=["ram", "flat", "time"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measured(arguments.child, arguments.urls)))
        return
    figures: dict[str, float] = {"urls": arguments.urls}
    for kind in ("ram", "flat", "time"):
        if arguments.only in (None, kind):
            figures |= report(kind, arguments.urls, _child(kind, arguments.urls))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
