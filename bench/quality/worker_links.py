"""Compares the external links that several workers find with those of one process, at the same page budget.

    python -m bench.quality.worker_links [--hosts hosts.txt] [--record RECORD] [--workers 4] [--budgets 600,1500,3000]
                                         [--rules auto,gittins,ucb1] [--delays 0,50] [--seeds 1,2,3] [--runs 1]
                                         [--store sqlite] [-s NAME=VALUE]

Without `--hosts`, the built-in web is crawled. Each row is one rule, one budget and one delay (milliseconds between two
requests to a host): `extlinks` is run by one process and by several workers in turn, for each seed of the web and each
run. *URLs* are the different external URLs of all pages; *seconds* last from the begin of the crawl to its end. Ratios
are those of the workers to the process of the same seed and run: the mean of all, and the least.

With `--record` the clock is simulated (`bench.simulators.timed_crawl`), so the load of the machine does not matter: the
sites of the hosts file are requested once ever, and their responses kept in that file. Downloads take 0.05 to 1 s,
which depends on the seed; at most two requests are in flight to a site. Else crawls take as long as they take.

Exit status 1 if the mean ratio of the URLs of any row is less than 0.95, or if the pulls of a crawl are not exactly its
budget.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.harvest.politeness import RecordedWeb, limited
from bench.simulators.timed_crawl import harvest
from crawlers.spiders.extlinks import ExtLinksSpider
from tests.support.crawl_web import DEMO, WatchedWeb
from tests.support.running import Crawl
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Callable

REQUIRED = 0.95  # of the URLs of one process
PATIENCE_S = 3600.0
ORDER = ExtLinksSpider.custom_settings["ORDER"]
MOST_LEVEL = 5  # of the pages of simulated crawls, as in crawls of extlinks


class Found(NamedTuple):
    """The result of a crawl."""

    urls: int
    seconds: float
    by_worker: list[int]  # pulls


class SeededWeb(RecordedWeb):
    """Recorded sites whose download times depend on a seed."""

    seed = 0

    def seconds(self, url: str) -> float:
        """Return the time of a download: log-normal around 0.2 s, from 0.05 to 1 s."""
        drawn = random.Random(f"{self.seed} {url}").lognormvariate(math.log(0.2), 0.7)
        return min(max(drawn, 0.05), 1.0)


class Real:
    """Crawls of the command that users type, each in a folder of its own."""

    def __init__(self, stack: ExitStack, options: argparse.Namespace) -> None:
        self._stack = stack
        self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="worker-links-")))
        self._number = 0
        self._socket = stack.enter_context(running_postgresql()) if options.store == "postgresql" else None
        if options.hosts:
            self._lines = options.hosts.read_text("utf-8").splitlines()
        else:
            self._lines = stack.enter_context(WatchedWeb(DEMO, options.scale)).hosts()

    def __call__(self, delay_ms: int, seed: int, workers: int, settings: dict[str, Any]) -> Found:
        named = [line.split(";")[0] for line in self._lines if line.strip() and not line.startswith("#")]
        settings = {**settings, "WORKERS": workers}
        if self._socket is not None:
            settings["DATABASE_URL"] = self._stack.enter_context(fresh_database(self._socket))
        self._number += 1
        hosts = [f"{name};;;{delay_ms}" for name in named]
        with Crawl(self._folder / str(self._number), hosts, "extlinks", **settings) as crawl:
            ended = crawl.start(is_fresh=True).wait(PATIENCE_S)
            if ended.status:
                raise SystemExit(f"a crawl ended with status {ended.status}:\n{ended.log[-3000:]}")
            (urls,) = crawl.query("SELECT count(DISTINCT url_id) FROM external_link")[0]
            (seconds,) = crawl.query("SELECT ended_at - run_started_at FROM crawl")[0]
            by_worker = crawl.query(
                "SELECT (SELECT count(*) FROM pull WHERE worker_id = worker.id) FROM worker ORDER BY id"
            )
        return Found(urls, seconds, [pulls for (pulls,) in by_worker])


class Simulated:
    """Crawls of recorded sites on a simulated clock."""

    def __init__(self, options: argparse.Namespace, order: str) -> None:
        self._web = SeededWeb(options.record, options.hosts, order)

    def __call__(self, delay_ms: int, seed: int, workers: int, settings: dict[str, Any]) -> Found:
        self._web.seed = seed
        settings = {"MAX_LEVEL": MOST_LEVEL, **settings}
        found = harvest(limited(self._web, delay_ms / 1000, 2), settings, workers)
        return Found(found.urls[-1], found.seconds, found.workers)


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=Path, help="a file of sites; else the built-in web is crawled")
    parser.add_argument("--record", type=Path, help="simulate the clock, with the responses in this file")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--budgets", type=numbers, default="600,1500,3000", help="pages")
    parser.add_argument("--rules", type=lambda text: text.split(","), default="auto,gittins,ucb1")
    parser.add_argument("--delays", type=numbers, default="0,50", help="milliseconds between two requests to a host")
    parser.add_argument("--seeds", type=numbers, default="1,2,3", help="of the times of downloads")
    parser.add_argument("--runs", type=int, default=1, help="of each seed")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--scale", type=int, default=4, help="size of the built-in web")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    options = parser.parse_args()
    if options.record and not options.hosts:
        parser.error("--record needs --hosts")
    settings = {"ORDER": ORDER, **dict(setting.split("=", 1) for setting in options.settings)}
    is_short = False
    with ExitStack() as stack:
        crawl: Callable[..., Found]
        crawl = Simulated(options, settings["ORDER"]) if options.record else Real(stack, options)
        print(f"{'rule':<14} {'budget':>6} {'delay ms':>8} {'URLs':>7} {'ratio':>6} {'least':>6} ", end="")
        print(f"{'seconds':>8} {'ratio':>6} {'pulls by worker':>20}")
        for rule, budget, delay_ms in product(options.rules, options.budgets, options.delays):
            chosen = {"RULE": rule, "PAGE_BUDGET": budget, **settings}
            alone: list[Found] = []
            shared: list[Found] = []
            for seed in options.seeds * options.runs:
                alone.append(crawl(delay_ms, seed, 1, chosen))
                shared.append(crawl(delay_ms, seed, options.workers, chosen))
            ratios = [many.urls / one.urls for one, many in zip(alone, shared, strict=True)]
            times = [many.seconds / one.seconds for one, many in zip(alone, shared, strict=True)]
            pulls = "/".join(f"{mean(by):.0f}" for by in zip(*(found.by_worker for found in shared), strict=False))
            print(
                f"{rule:<14} {budget:>6} {delay_ms:>8} {mean(one.urls for one in alone):>7.0f} "
                f"{mean(ratios):>6.3f} {min(ratios):>6.3f} {mean(one.seconds for one in alone):>8.1f} "
                f"{mean(times):>6.2f} {pulls:>20}",
                flush=True,
            )
            is_short |= mean(ratios) < REQUIRED
            for found in alone + shared:
                if sum(found.by_worker) != budget:
                    print(f"    {sum(found.by_worker)} pulls", flush=True)
                    is_short = True
    sys.exit(int(is_short))


if __name__ == "__main__":
    main()
