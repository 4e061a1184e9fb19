"""What delays and requests in flight cost a harvest: "Under politeness" in docs/measurements/bandits.md.

    python -m bench.harvest.politeness RECORD hosts.txt [--rules auto] [--budgets 300,600] [-s RULE_WAIT_SECONDS=30]
    python -m bench.harvest.politeness --web universities [--webs 20]
    python -m bench.harvest.politeness --real hosts.txt [--rules auto] [--budgets 600] [--share-of example.org]

RECORD: a file in which the responses of the sites of hosts.txt are kept: what is not in it is requested once. Instead
of sites, `--web` simulates webs of a profile of `scrapy lab simulate`.

The clock is simulated, the crawl is real (`bench.simulators.timed_crawl`): store, frontier, politeness, rule and order.
Downloads take 0.05 to 1 s, the same time in every run. Prints the distinct external URLs of each delay and number of
requests in flight, as a share of those without delay and with one request in flight, and the simulated time. `--real`
crawls the sites instead, without delay and with 0.5 s, and takes as long as it takes.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.client
import math
import random
import sqlite3
import statistics
import tempfile
import time
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from bench.harvest.real import harvest as harvest_really
from bench.simulators.timed_crawl import Harvest, harvest, settings_of
from crawlers.algorithms.ranking.page_orders import GROUPING, PLACING
from crawlers.algorithms.simulation.web_generator import PROFILES, pinned
from crawlers.algorithms.urls.keys import url_key
from crawlers.algorithms.urls.link_resolver import LinkResolver
from crawlers.algorithms.urls.redirect_targets import redirect_of
from crawlers.algorithms.urls.resolution import resolve
from crawlers.extraction.response import ResponseReader, WebResponse
from crawlers.inputs.hosts_file import parse_hosts
from crawlers.inputs.url_settings import normalization
from crawlers.items import ExternalLink, Page, SiteLimits, State
from crawlers.spiders.base import link_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.simulators.timed_crawl import Web

DELAYS_S = (0.0, 0.5, 2.0)
IN_FLIGHT = (1, 16, 64)
REAL = (
    (0.0, 1, 30.0),
    (0.5, 16, 0.0),
    (0.5, 16, 30.0),
    (0.0, 16, 0.0),
    (0.0, 16, 30.0),
)  # and RULE_WAIT_SECONDS
MAX_BYTES = 20_000_000


def seconds_of(url: str) -> float:
    """Return the time of a download: log-normal around 0.2 s, from 0.05 to 1 s."""
    return min(max(random.Random(url).lognormvariate(math.log(0.2), 0.7), 0.05), 1.0)


class RecordedWeb:
    """Real sites, each URL requested once ever, for crawls with an *order*."""

    def __init__(self, record: Path, hosts: Path, order: str) -> None:
        self.sites: Sequence[SiteLimits] = parse_hosts(hosts.read_text("utf-8"), str(hosts))
        self._record = sqlite3.connect(record)
        self._record.execute("CREATE TABLE IF NOT EXISTS response (url TEXT PRIMARY KEY, status, type, location, body)")
        settings = settings_of()
        self._options = normalization(settings)
        self._reader = ResponseReader(
            LinkResolver(self._options),
            link_tags(settings),
            frozenset(settings.getlist("HTML_TYPES")),
            groups=order in GROUPING,
            places=order in PLACING,
        )
        self._pages: dict[str, Page] = {}

    def seconds(self, url: str) -> float:
        return seconds_of(url)

    def page(self, url: str) -> Page:
        if url not in self._pages:
            status, content_type, location, body = self._response(url)
            redirect = redirect_of(url, status, location, self._options)
            response = WebResponse(url, status, body, content_type, redirect)
            page = self._reader.read(response, 0, 0, 0.0)
            # Without the parsed document.
            groups = None if page.link_groups is None else dict(page.link_groups)
            places = None if page.link_places is None else dict(page.link_places)
            self._pages[url] = dataclasses.replace(page, link_groups=groups, link_places=places)
        return self._pages[url]

    def _response(self, url: str) -> tuple[int, str | None, bytes | None, bytes]:
        found = self._record.execute("SELECT status, type, location, body FROM response WHERE url = ?", (url,))
        row = found.fetchone()
        if row is None:
            row = requested(url)
            self._record.execute("INSERT INTO response VALUES (?, ?, ?, ?, ?)", (url, *row))
            self._record.commit()
        return row


def requested(url: str) -> tuple[int, str | None, bytes | None, bytes]:
    """Return status, content type, location and body of *url*."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=30)
    try:
        connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""))
        response = connection.getresponse()
        location = response.getheader("Location")
        found = None if location is None else location.encode("latin-1")
        return response.status, response.getheader("Content-Type"), found, response.read(MAX_BYTES)
    finally:
        connection.close()


class GeneratedWeb:
    """Sites with known *yields*: all pages of a site are linked from its home page, in the order of the list."""

    def __init__(self, yields: list[list[int]], pages: int) -> None:
        self._yields = [its[:pages] for its in yields]
        self.sites: Sequence[SiteLimits] = [SiteLimits(f"http://site{number}.test") for number in range(len(yields))]

    def seconds(self, url: str) -> float:
        return seconds_of(url)

    def page(self, url: str) -> Page:
        site, _, path = url.removeprefix("http://site").partition(".test/")
        number, its = int(path or 0), self._yields[int(site)]
        found = [link(f"http://e{site}.test/{number}/{n}") for n in range(its[number])]
        root = f"http://site{site}.test"
        links = [(resolve(root, f"/{n}"), 1) for n in range(1, len(its))] if number == 0 else []
        return Page(0, url, 0, State.DONE, 200, content_signature=url_key(url), links=links, external=found)


def link(url: str) -> tuple[ExternalLink, int]:
    target = resolve(url, url)
    return ExternalLink(url, target.key, target.site, "", "", "", "", "a"), 1


def limited(web: Web, delay_s: float, parallel: int) -> Web:
    """Give all sites of *web* the same politeness."""
    web.sites = [dataclasses.replace(site, delay_s=delay_s, parallel=parallel) for site in web.sites]
    return web


def generated(profile: str, webs: int, pages: int) -> list[Callable[[], Web]]:
    def one(seed: int) -> Web:
        return GeneratedWeb(pinned(profile, np.random.default_rng([1, seed])), pages)

    return [cache(lambda seed=seed: one(seed)) for seed in range(webs)]


def crawl_really(hosts: Path, pairs: list[tuple[str, str]], budgets: list[int], parallel: int, site: str) -> None:
    """Crawl the sites of *hosts* with delays and requests in flight, waiting and not, and print what was found."""
    sites = [limits.site for limits in parse_hosts(hosts.read_text("utf-8"), str(hosts))]
    for (rule, order), budget, (delay_s, in_flight, wait_s) in product(pairs, budgets, REAL):
        with tempfile.TemporaryDirectory() as folder:
            polite = Path(folder) / "hosts.txt"
            polite.write_text("".join(f"{name};{parallel};;{1000 * delay_s:.0f}\n" for name in sites))
            began_at = time.monotonic()
            limits = {"CONCURRENT_REQUESTS": in_flight, "RULE_WAIT_SECONDS": wait_s, "MAX_LEVEL": 5}
            pulls, urls, _ = harvest_really(polite, budget, None, RULE=rule, ORDER=order, **limits)
        of_site = sum(name.endswith(f"//{site}") for name, _ in pulls) / len(pulls)
        text = f"delay {delay_s:3.1f} s, {in_flight:2} in flight, wait {wait_s:g} s: {urls:7,} URLs"
        seconds = time.monotonic() - began_at
        print(f"{rule} x {order}, {budget} pages, {text} {seconds:6,.0f} s  {of_site:.1%} of {site}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--real", type=Path)
    parser.add_argument("record", type=Path, nargs="?")
    parser.add_argument("hosts", type=Path, nargs="?")
    parser.add_argument("--web", choices=PROFILES)
    parser.add_argument("--webs", type=int, default=20)
    parser.add_argument("--rules", default="auto,gittins,ucb1")
    parser.add_argument("--orders", default="learnt,groups,bfs")
    parser.add_argument("--budgets", default="300,600,2000")
    parser.add_argument("--parallel", type=int, default=2, help="requests in flight to a site at most")
    parser.add_argument("--share-of", default="", help="a site of which the share of the downloads is shown")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    budgets = [int(budget) for budget in given.budgets.split(",")]
    if given.real:
        pairs = list(product(given.rules.split(","), given.orders.split(",")))
        crawl_really(given.real, pairs, budgets, given.parallel, given.share_of)
        return
    more = dict(one.split("=", 1) for one in given.settings)
    webs = generated(given.web, given.webs, max(budgets)) if given.web else []
    for order in ["bfs"] if given.web else given.orders.split(","):
        if not given.web:
            webs = [cache(lambda order=order: RecordedWeb(given.record, given.hosts, order))]
        for rule in given.rules.split(","):
            for budget in budgets:
                print(f"{rule} x {order}, {budget} pages", flush=True)
                base: list[Harvest] = []
                for delay_s in DELAYS_S:
                    for in_flight in IN_FLIGHT:
                        settings = {"RULE": rule, "ORDER": order, "PAGE_BUDGET": budget, **more}
                        settings["CONCURRENT_REQUESTS"] = in_flight
                        runs = [harvest(limited(web(), delay_s, given.parallel), settings) for web in webs]
                        base = base or runs
                        print(line(delay_s, in_flight, runs, base, given.share_of), flush=True)


def line(delay_s: float, in_flight: int, runs: list[Harvest], base: list[Harvest], site: str) -> str:
    urls = sum(run.urls[-1] for run in runs)
    share = urls / sum(run.urls[-1] for run in base)
    seconds = statistics.fmean(run.seconds for run in runs)
    text = f"  delay {delay_s:3.1f} s, {in_flight:2} in flight: {urls:7,} URLs {share:6.3f} {seconds:8,.0f} s"
    if site:
        of_site = sum(run.pages.get(site, 0) for run in runs) / sum(sum(run.pages.values()) for run in runs)
        text += f"  {of_site:.1%} of {site}"
    return text


if __name__ == "__main__":
    main()
