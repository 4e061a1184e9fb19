"""Opens a site of many known URLs in mid-crawl, and prints how long its parts take and how long they stop the reactor.

python -m bench.scale.site_opening [--urls 100000] [--waiting 20000] [--url postgresql://…]

CPU time is printed. While another thread reads what the store knows of the site, the main thread computes all the time,
like a busy reactor; its longest pause is printed, and for comparison the longest without that.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.site_rules import RoundRobin
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.algorithms.urls.keys import url_key
from crawlers.frontier.backends.sql import SqlFrontier
from crawlers.frontier.protocols import SiteState
from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.schema.tables import LinkGroupRow, NewPage, PullRow
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from crawlers.frontier.frontier_store import SiteStart

SITE = "http://a.test"
GROUPS = 50
BATCH = 50_000


def _fill(database: Database, site_id: int, urls: int, waiting: int) -> None:
    """Add the site's pages, of which the last *waiting* ones wait, and a pull for each of the others."""
    for first in range(1, urls + 1, BATCH):
        changes = ChangeSet()
        for number in range(first, min(first + BATCH, urls + 1)):
            url = f"{SITE}/section/{number % 100}/page-{number}.html"
            state = State.WAITING if number > urls - waiting else State.DONE
            place = (0, 1 + number * 4 // urls, 0, 0.0, int(state), None, None, None, 0.0, 0.0, 1 + number % GROUPS)
            changes.add(NewPage(number, site_id, url_key(url), url, *place))
            if state is State.DONE:
                changes.add(PullRow(site_id, number, float(number % 7), 0.0))
        with database.write() as connection:
            write_changes(connection, changes)
    with database.write() as connection:
        write_changes(connection, ChangeSet(*(LinkGroupRow(site_id, 1 + n, f"group {n}") for n in range(GROUPS))))


def _longest_pause(future: Future[list[SiteStart]] | Future[None]) -> float:
    """Compute until *future* is done; return the longest time in seconds for which this thread could not."""
    longest, last = 0.0, time.perf_counter()
    while not future.done():
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest


def measure(database: Database, order: str, site_id: int) -> None:
    """Print how long it takes to read and to open the site under *order*."""
    writer = Writer(database)
    frontier = SqlFrontier(database, writer, 1, RoundRobin(), ORDERS[order](OrderOptions()), records_pulls=True)
    cpu = time.process_time()
    (start,) = frontier.load_sites([site_id])
    read_s = time.process_time() - cpu
    with ThreadPoolExecutor(1) as threads:
        began = time.perf_counter()
        pause_s = _longest_pause(threads.submit(frontier.load_sites, [site_id]))
        idle_s = _longest_pause(threads.submit(time.sleep, time.perf_counter() - began))
    cpu = time.process_time()
    frontier.open_site(SiteState(site_id, SITE, 1, 0.0), 0.0, start)
    open_s = time.process_time() - cpu
    cpu = time.process_time()
    writer.submit(frontier.close_site(site_id, 0.0))
    close_s = time.process_time() - cpu
    writer.close()
    print(
        f"{order}: read in {1000 * read_s:.0f} ms, opened in {1000 * open_s:.1f} ms, closed in {1000 * close_s:.1f} ms "
        f"of CPU time; a busy thread paused for {1000 * pause_s:.0f} ms at most while it was read in another thread, "
        f"and for {1000 * idle_s:.0f} ms while that one was idle",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale.site_opening", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--waiting", type=int, default=20_000)
    parser.add_argument("--url", help="of an empty database; without it, an SQLite file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="opening-") as temporary:
        database = Database(chosen.url or f"sqlite:///{Path(temporary) / 'crawl.sqlite'}")
        row = crawls.begin(database, "opening", "bench", [SiteRow(0, SITE, 1, None, 0.0)], {}, 0.0)
        _fill(database, row.sites[0].id, chosen.urls, chosen.waiting)
        for order in ("bfs", "groups"):
            measure(database, order, row.sites[0].id)
        database.close()


if __name__ == "__main__":
    main()
