"""How much a crawl is slowed by a panel that four browsers watch.

    python -m bench.speed.panel_load [--pairs 12] [--concurrency 16] [--store FILE] [--cold]

Crawls a site without and with a panel in turn. Each of four browsers loads a live page every two seconds, as its script
does: the list of crawls, the overview of the crawl, its workers, its pictures. With a *FILE*, such as the store of
bench.scale.panel, the crawls are added to a copy of it, and two of the browsers watch the large crawl in it. With
--cold the panel has just been started, and computes everything that they see while the crawl runs. Prints the ratios of
the crawl's seconds and CPU seconds, with / without, of each pair, their geometric mean with its interval of 95 %, and
the CPU seconds of the panel. Exit status 1 if the mean slows the crawl by more than 5 %.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.processor_time import tree_cpu_s
from bench.running import ROOT, cost_of, run
from bench.speed.website import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOWED = 1.05
EVERY_S = 2.0
START_S = 60.0


def crawl(url: str, parallel: int, name: str) -> None:
    """Crawl the site of *url* in this process, into the store of its folder."""
    from scrapy.settings import Settings

    from crawlers.spiders.sitegraph import SiteGraphSpider

    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    own = {"CONCURRENT_REQUESTS": parallel, "LOG_FILE": "crawl.log", "GRAPH_FORMATS": [], "CRAWL": name}
    settings.setdict(own, priority="cmdline")
    run(SiteGraphSpider, settings, hosts=f"{url};{parallel};;0")


class Watchers:
    """A panel of the store in *folder*, and browsers that watch it."""

    def __init__(self, folder: str, crawls: tuple[int, int], *, is_cold: bool) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "scrapy", "web", "--port", str(port)]
        self._panel = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        self._origin = f"http://127.0.0.1:{port}"
        self._is_over = threading.Event()
        large, own = crawls
        drawn = tuple(f"/crawls/{large}/pictures/{name}.json" for name in ("pulls", "levels", "http-states"))
        turns_of = (("/",), (f"/crawls/{own}",), (f"/crawls/{large}/work",), (f"/crawls/{large}/pictures", *drawn))
        self.polls = 0
        deadline = time.monotonic() + START_S
        while not self._answers() and time.monotonic() < deadline:
            time.sleep(0.2)
        # What is computed once is no load of a crawl that lasts for hours.
        while not is_cold and not all(self._is_complete(path) for path in ("/", *turns_of[2], *turns_of[3])):
            time.sleep(0.2)
        self._cpu_s = tree_cpu_s(self._panel.pid)
        first = (EVERY_S * place / len(turns_of) for place in range(len(turns_of)))
        self._threads = [threading.Thread(target=self._watch, args=one) for one in zip(turns_of, first, strict=True)]
        for thread in self._threads:
            thread.start()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self._origin}/login", timeout=5).close()
        except OSError:
            return False
        return True

    def _is_complete(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(self._origin + path, timeout=60) as response:
                text = response.read().decode()
                return response.status == 200 and "Being computed since" not in text and "being counted" not in text
        except urllib.error.HTTPError as error:
            return error.code == 404  # there is no crawl yet

    def _watch(self, paths: tuple[str, ...], first_after_s: float) -> None:
        wait_s = first_after_s
        while not self._is_over.wait(wait_s):
            wait_s = EVERY_S
            for path in paths:
                try:
                    urllib.request.urlopen(self._origin + path, timeout=30).read()
                    self.polls += 1
                except urllib.error.HTTPError as error:
                    if error.code != 404:  # the crawl has no row yet
                        raise

    def end(self) -> float:
        """End the panel; return the CPU seconds that it has used since the browsers came."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        spent_s = tree_cpu_s(self._panel.pid) - self._cpu_s
        self._panel.send_signal(signal.SIGTERM)
        self._panel.wait()
        return spent_s


@contextmanager
def watching(folder: str, crawls: tuple[int, int], *, is_on: bool, is_cold: bool) -> Iterator[list[float]]:
    """Watch the crawls during the block; yields a list that gets the panel's CPU seconds and the number of polls."""
    spent: list[float] = []
    watchers = Watchers(folder, crawls, is_cold=is_cold) if is_on else None
    try:
        yield spent
    finally:
        if watchers is not None:
            spent += [watchers.end(), watchers.polls]


def mean_ratio(ratios: list[float]) -> str:
    """Return the geometric mean of ratios with its interval of 95 %, as text.

    The order within a pair should alternate, because its first run is the slower one. From 12 pairs on, t is about 2.1.
    """
    mean = statistics.geometric_mean(ratios)
    if len(ratios) < 2:
        return f"mean ratio {mean:.3f}"
    half = math.exp(2.1 * statistics.stdev(map(math.log, ratios)) / math.sqrt(len(ratios)))
    return f"mean ratio {mean:.3f} (95 %: {mean / half:.3f} to {mean * half:.3f}, {len(ratios)} pairs)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--cold", action="store_true", help="nothing has been computed when the crawl begins")
    parser.add_argument("--only", nargs=2, metavar=("URL", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        crawl(options.only[0], options.concurrency, options.only[1])
        return 0
    seconds, cpu = [], []
    with tempfile.TemporaryDirectory() as folder, serve() as url:
        number = 0
        if options.store:
            shutil.copy(options.store, Path(folder) / "crawl.sqlite")
            number = 1
        for pair in range(-1, options.pairs):  # the first one warms caches up
            costs = {}
            for is_on in (False, True) if pair % 2 else (True, False):
                number += 1
                with watching(folder, (1, number), is_on=is_on, is_cold=options.cold) as spent:
                    words = ("--concurrency", str(options.concurrency), "--only", url, f"n{number}")
                    costs[is_on] = cost_of(folder, "bench.speed.panel_load", *words)
                if is_on:
                    panel_s, polls = spent
            if pair < 0:
                continue
            with_it, without = costs[True], costs[False]
            seconds.append(with_it["seconds"] / without["seconds"])
            cpu.append(with_it["cpu_s"] / without["cpu_s"])
            print(
                f"{without['answers']:.0f} pages in {without['seconds']:.1f} s; watched {with_it['seconds']:.1f} s "
                f"({seconds[-1]:.3f}), CPU {cpu[-1]:.3f}; {polls:.0f} polls, CPU of the panel {panel_s:.1f} s",
                flush=True,
            )
    for what, ratios in (("seconds", seconds), ("CPU seconds", cpu)):
        print(f"{what}: {mean_ratio(ratios)}, single pairs from {min(ratios):.3f} to {max(ratios):.3f}")
    return statistics.geometric_mean(seconds) > ALLOWED


if __name__ == "__main__":
    sys.exit(main())
