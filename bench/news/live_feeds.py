"""Crawls thousands of papers that publish in real time, and holds what was stored against what they published.

    python -m bench.news.live_feeds FOLDER [--feeds 3000] [--minutes 12] [--settle 3] [--before 20] [--per-second 5]
        [--polls 20] [--stall 0.1] [--lock 0] [--sitemap 0] [--links 0] [--seed 1]

Nothing is simulated but the papers (`bench.news.live_papers`): `scrapy crawl news` runs on the real clock, and is
ended by SIGINT. The items counted were published after *--settle* minutes, and that long before the end. FOLDER gets
the store and the logs of the crawl. One paper may have a sitemap of many URLs, another one a home page of many links.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.news.live_load import Sampler, print_load, print_start
from bench.news.live_papers import ARTICLE, FEED, FEED_PATH, HOME, LISTED, ROOT, SITEMAP_PATH, Options, read_log, serve
from bench.simulators.feed_simulation import Feed, Planned, poll_feeds
from bench.speed.stalls import read_stalls
from crawlers.algorithms.news.poll_plan import PollLimits, PollPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.news.live_load import Sample
    from bench.news.live_papers import Asked, Paper

MAX_PER_S = 100.0  # requests, in the simulation
MIN_S = 60.0  # FEED_MIN_SECONDS
LOCK_EVERY_S = 20.0
DELAY_S = 0.5  # SITE_DELAY_SECONDS
_DOCUMENTS = "SELECT p.url, d.stored_at FROM document d JOIN page p ON p.id = d.page_id"
# Why an item that was fetched made no document.
_PAGES = "SELECT url, state, reason FROM page"


def crawl(
    folder: Path, origins: Sequence[str], settings: dict[str, object], minutes: float, *, has_sitemap: bool
) -> list[Sample]:
    """Crawl the papers for so many *minutes*; what that used."""
    rows = "".join(f"  - site: {origin}\n    feeds: [{FEED_PATH}]\n" for origin in origins)
    if has_sitemap:
        first, *others = rows.splitlines(keepends=True)
        rows = "".join([first, f"    sitemaps: [{SITEMAP_PATH}]\n", *others])
    (folder / "sources.yaml").write_text(f"sources:\n{rows}", "utf-8")
    command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", "sources=sources.yaml"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        print(f"the crawl is process {process.pid}", file=sys.stderr, flush=True)
        sampler = Sampler(process.pid)
        sampler.start()
        try:
            process.wait(minutes * 60)
            raise SystemExit(f"the crawl ended by itself, see {log.name}")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        began = time.time()
        if process.wait(300):
            raise SystemExit(f"the crawl ended with status {process.returncode}, see {log.name}")
        sampler.done.set()
        print(f"stopped {time.time() - began:.1f} s after SIGINT")
    return sampler.samples


class Locks(threading.Thread):
    """Another process that writes to the *store* for *seconds* at a time, so that no other process can."""

    def __init__(self, store: Path, seconds: float) -> None:
        super().__init__(daemon=True)
        self._store = store
        self._seconds = seconds
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(LOCK_EVERY_S):
            with closing(sqlite3.connect(self._store, isolation_level=None, timeout=60)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                self.done.wait(self._seconds)
                connection.execute("ROLLBACK")


class Fate(NamedTuple):
    """The result for an item; times are unix, inf: never."""

    published_at: float
    shown_at: float  # the feed or home page was requested for the first time since
    fetched_at: float
    stored_at: float
    is_lost: bool  # it had left the feed before the next request, and was found nowhere else
    reason: str


NEVER = float("inf")


def fates(papers: Sequence[Paper], origins: Sequence[str], asked: Sequence[Asked], store: Path) -> list[Fate]:
    """Return the results for all items."""
    with closing(sqlite3.connect(store)) as connection:
        stored = dict(connection.execute(_DOCUMENTS))
        pages = {url: f"{state}: {reason}" for url, state, reason in connection.execute(_PAGES)}
    lists: dict[tuple[int, str], list[float]] = defaultdict(list)
    fetched: dict[tuple[int, int], float] = {}
    for one in asked:
        if one.kind in (FEED, HOME):
            lists[one.paper, one.kind].append(one.at)
        elif one.kind == ARTICLE:
            fetched.setdefault((one.paper, one.item), one.at)
    found = []
    for paper in papers:
        feeds, homes = lists[paper.number, FEED], lists[paper.number, HOME]
        for item, published_at in enumerate(paper.published):
            url = origins[paper.number] + paper.path(item)
            polled_at = _first(feeds, published_at)
            was_shown = item in paper.newest(min(polled_at, asked[-1].at), paper.window)
            fetched_at = fetched.get((paper.number, item), NEVER)
            is_lost = not was_shown and fetched_at == NEVER
            shown_at = min(polled_at if was_shown else NEVER, _first(homes, published_at), fetched_at)
            stored_at = stored.get(url, NEVER)
            found.append(Fate(published_at, shown_at, fetched_at, stored_at, is_lost, pages.get(url, "not known")))
    return found


def _first(times: Sequence[float], since: float) -> float:
    place = bisect_left(times, since)
    return times[place] if place < len(times) else NEVER


def _quantiles(values: Sequence[float]) -> str:
    if not values:
        return "-"
    ordered = sorted(values)
    cuts = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.9, 0.99, 1.0)]
    return " | ".join(f"{cut:.1f}" for cut in cuts)


def print_items(found: Sequence[Fate], since: float, until: float) -> None:
    """The results for the items that were published between two moments."""
    part = [one for one in found if since <= one.published_at < until]
    stored = [one for one in part if one.stored_at < NEVER]
    missing = [one for one in part if one.stored_at == NEVER]
    lost = [one for one in missing if one.is_lost]
    unseen = [one for one in missing if not one.is_lost and one.shown_at == NEVER]
    waiting = [one for one in missing if one.shown_at < NEVER and one.fetched_at == NEVER and not one.is_lost]
    other = [one for one in missing if one.fetched_at < NEVER]
    print(
        f"published {len(part):,}, stored {len(stored):,}, left the feed before a poll {len(lost):,}, not polled since"
        f" {len(unseen):,}, shown and not fetched {len(waiting):,}, fetched and no document {len(other):,}"
    )
    print("seconds: median | 90 % | 99 % | worst")
    print("  from publication to stored_at:", _quantiles([one.stored_at - one.published_at for one in stored]))
    print("    to the poll:", _quantiles([one.shown_at - one.published_at for one in stored]))
    print("    from there to the fetch:", _quantiles([one.fetched_at - one.shown_at for one in stored]))
    print("    from there to stored_at:", _quantiles([one.stored_at - one.fetched_at for one in stored]))
    for reason, number in Counter(one.reason for one in waiting + other).most_common(8):
        print(f"  not stored: {number} {reason}")


class _AtOnce(Planned):
    """Polls all for the first time as soon as the requests allow."""

    def first(self, feed: int, host: int) -> float:
        self.plan.add(feed, host, 0.0)
        return 0.0


def print_simulated(papers: Sequence[Paper], began: float, chosen: argparse.Namespace, *, has_homes: bool) -> None:
    """The delays that the plan gives the same items by a simulated clock, where requests take no time."""
    feeds = [
        Feed(paper.number, DELAY_S, paper.window, paper.per_s, [at - began for at in paper.published], is_dated=True)
        for paper in papers
    ]
    if has_homes:  # they show nothing that the feed did not
        feeds += [Feed(paper.number, DELAY_S, LISTED, paper.per_s, [], is_dated=False) for paper in papers]
    settle_s, days = chosen.settle * 60, chosen.minutes / 1440
    plan = _AtOnce(PollPlan(chosen.polls, PollLimits(MIN_S)))
    (found,) = poll_feeds(feeds, plan, MAX_PER_S, days, deadline_s=settle_s, count_from_s=[settle_s])
    print(f"simulated, {'with' if has_homes else 'without'} polls of home pages:", _quantiles(found.delays_s))
    print(f"  not seen until the end: {found.lost}. {plan.plan.warning}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--feeds", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=12.0, help="of the crawl")
    parser.add_argument("--settle", type=float, default=3.0, help="minutes at either end whose items are not counted")
    parser.add_argument("--before", type=float, default=20.0, help="minutes that the papers had published before")
    parser.add_argument("--per-second", type=float, default=5.0, help="items of all papers")
    parser.add_argument("--polls", type=float, default=20.0, help="FEED_POLLS_PER_SECOND")
    parser.add_argument("--stall", type=float, default=0.1, help="seconds from which a pause of the reactor counts")
    parser.add_argument("--lock", type=float, default=0.0, help="seconds for which the store is locked, every 20 s")
    parser.add_argument("--sitemap", type=int, default=0, help="old articles in the sitemap of the first paper")
    parser.add_argument("--links", type=int, default=0, help="old articles on the home page of the second paper")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder: Path = chosen.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings: dict[str, object] = {
        "SITE_DELAY_SECONDS": DELAY_S,
        "FEED_POLLS_PER_SECOND": chosen.polls,
        "FEED_MIN_SECONDS": MIN_S,
        "STOP_FILE": "",
        "EXTENSIONS": json.dumps({"bench.speed.stalls.Stalls": 0}),
        "STALLS_FILE": "stalls.tsv",
        "STALLS_LEAST_SECONDS": chosen.stall,
    }
    now = time.time()
    log = folder / "asked.tsv"
    ends = now + (chosen.minutes + 10) * 60
    options = Options(
        chosen.seed,
        chosen.feeds,
        chosen.per_second,
        now - chosen.before * 60,
        ends,
        str(log),
        chosen.sitemap,
        chosen.links,
    )
    with serve(options) as origins:
        began = time.time()
        locks = Locks(folder / "crawl.sqlite", chosen.lock)
        if chosen.lock:
            locks.start()
        samples = crawl(folder, origins, settings, chosen.minutes, has_sitemap=chosen.sitemap > 0)
        locks.done.set()
    papers, asked = options.made(), read_log(log)
    print_start(began, asked, chosen.feeds)
    print_load(began, chosen.minutes, chosen.settle, asked, samples, read_stalls(folder / "stalls.tsv"))
    found = fates(papers, origins, asked, folder / "crawl.sqlite")
    settle_s = chosen.settle * 60
    print_items(found, began + settle_s, began + chosen.minutes * 60 - settle_s)
    for has_homes in (True, False):
        print_simulated(papers, began, chosen, has_homes=has_homes)


if __name__ == "__main__":
    main()
