"""Measures what a fetch costs a frontier in the store, pages by their cash: lease, acknowledgement, cash paid.

    python -m bench.scale.importance_store [--pages 10000] [--sites 20]

The web is that of `bench.ranking.importance`, its pages spread over sites. Nothing is downloaded: what is measured
is the frontier and the store behind it, until all is committed. First every page is met and read once, as far as
cash leads there within as many fetches as there are pages; then as many pages again, most of which are known and did
not change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from bench.simulators.scale_free import copy_model
from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.ranking.page_orders import ORDERS, OrderOptions
from crawlers.algorithms.urls.keys import page_key
from crawlers.frontier.backends.sql import SqlFrontier
from crawlers.frontier.protocols import Candidate, Decision, SiteState
from crawlers.items import Page, State, Target
from crawlers.storage import crawls
from crawlers.storage.database import Database
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.writer import Writer

PARALLEL = 64
AT_ONCE = 64  # leases open at a time


class StoredWalk:
    """A crawl of the web *links*, spread over *sites*, on a frontier in *folder*."""

    def __init__(self, folder: Path, links: dict[int, list[int]], sites: int, order: str) -> None:
        self._database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
        self._names = [f"http://www.host{n}.test" for n in range(sites)]
        rows = [SiteRow(0, name, PARALLEL, None, 0.0) for name in self._names]
        crawl = crawls.begin(self._database, "bench", "bench", rows, {}, 0.0)
        self._writer = Writer(self._database)
        self._frontier = SqlFrontier(self._database, self._writer, crawl.id, Best(), ORDERS[order](OrderOptions()))
        for row in crawl.sites:
            self._frontier.open_site(SiteState(row.id, row.site, PARALLEL, 0.0), 0.0)
        self._targets = {page: self._target(page) for page in links}
        self._links = {
            target.url: [(self._targets[to], 1) for to in links[page]] for page, target in self._targets.items()
        }
        ids = {row.site: row.id for row in crawl.sites}
        roots = [self._targets[page] for page in list(links)[:sites]]
        self._frontier.add([Candidate(ids[target.site], target) for target in roots], 0.0)
        self._now = 1.0

    def _target(self, page: int) -> Target:
        site = self._names[page % len(self._names)]
        url = f"{site}/section-{page % 97}/articles/{page:012}/some-title.html"
        return Target(url, url, page_key(url), site)

    def take(self, fetches: int) -> tuple[float, float]:
        """Seconds, and CPU seconds of all threads, for so many fetches, until the last is committed."""
        start, cpu = time.perf_counter(), time.process_time()
        left = fetches
        while left:
            leases = self._frontier.lease(self._now, min(AT_ONCE, left))
            for lease in leases:
                self._now += 0.001
                links = self._links[lease.url]
                site = lease.url[: lease.url.index("/section")]
                page = Page(
                    *(lease.id, lease.url, lease.level, State.DONE, 200),
                    content_hash=page_key(lease.url).to_bytes(16),
                    links=[link for link in links if link[0].site == site],
                    cross_site_links=[link for link in links if link[0].site != site],
                )
                self._frontier.acknowledge(lease, Decision(page), self._now)
            left -= len(leases)
        self._writer.flush()
        return time.perf_counter() - start, time.process_time() - cpu

    def close(self) -> None:
        self._writer.close()
        self._database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--sites", type=int, default=20)
    options = parser.parse_args()
    links = {page: list(targets) for page, targets in copy_model(options.pages, random.Random(1)).items()}
    print(f"{options.pages:,} pages on {options.sites} sites, {sum(map(len, links.values())):,} links")
    print("| order | fetches a second | a CPU second | of known pages | a CPU second |\n|---|--:|--:|--:|--:|")
    for order in ("aopic", "opic", "aopic-cyclic", "aopic-random"):
        with tempfile.TemporaryDirectory(prefix="bench-importance-") as folder:
            walk = StoredWalk(Path(folder), links, options.sites, order)
            both = [walk.take(options.pages) for _ in range(2)]
            walk.close()
        cells = [f"{options.pages / seconds:,.0f}" for pair in both for seconds in pair]
        print(f"| {order} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
