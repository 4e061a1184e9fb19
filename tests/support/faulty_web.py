"""A random web whose servers fail in every way that is worth a retry, and which knows its true graphs.

Pages, links, limits and faults depend on the seed. A page fails at its first requests, whoever sends them, and responds
from then on; a few never respond. So what a crawl finds does not depend on its kills, nor on what it repeats.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx

from crawlers.files.atomic import file_stem
from tests.support.sites.server import Web

if TYPE_CHECKING:
    from collections.abc import Sequence


HOME = "/"
ERROR, RESET, STALL, BUSY = "status 500", "reset", "stall", "status 429"
ALWAYS = (ERROR,) * 1000  # faults of a page that never responds
RETRY_TIMES = 2  # of the crawls
SETTINGS = {
    "RETRY_TIMES": RETRY_TIMES,
    "RETRY_BACKOFF_SECONDS": 0.05,
    "DOWNLOAD_TIMEOUT": 3,
    "ROBOTSTXT_OBEY": 1,
    "SITEMAPS_ENABLED": 0,  # servers count requests that no page links to
}


class Limits(NamedTuple):
    """What hosts.txt, or robots.txt, says about a host; and its number of pages, if it is not that of the others."""

    parallel: int
    delay_s: float
    crawl_delay_s: float = 0.0
    pages: int = 0


@dataclass(frozen=True, slots=True)
class RandomPage:
    """A page with its links, by path, and the faults of its first requests."""

    links: Sequence[str]
    external: Sequence[tuple[int, str]]  # number of the host, path
    faults: Sequence[str]
    pause_s: float


class FaultyWeb:
    """*pages* pages in equal parts on one host for each of *limits*, served during the `with` block.

    *stalls* pages do not respond to their first request until it is given up. With status 429, hosts request a pause of
    *rest_s* seconds. On a busy machine, a request may be delayed by *slack_s* seconds.
    """

    def __init__(self, seed, pages, limits, stalls=20, rest_s=1, slack_s=0.1):
        self._rest_s = rest_s
        self._slack_s = slack_s
        rng = random.Random(seed)
        self._limits = limits
        sizes = [one.pages or pages // len(limits) for one in limits]
        stalled = {(host, rng.randrange(1, sizes[host])) for host in rng.choices(range(len(limits)), k=stalls)}
        self._pages = [
            {_path(n): _random_page(rng, n, sizes, host, is_stalled=(host, n) in stalled) for n in range(size)}
            for host, size in enumerate(sizes)
        ]
        self._served = Counter()
        self.on_request = None
        self._web = Web(**{f"host{number}": self._handler(number) for number in range(len(limits))})
        self.origins = [site.origin for site in self._web.sites.values()]

    def __enter__(self):
        self._web.__enter__()
        return self

    def __exit__(self, *exit_of):
        self._web.__exit__(*exit_of)

    def hosts(self):
        """Return the lines of hosts.txt."""
        return [
            f"{origin};{limits.parallel};;{limits.delay_s * 1000:.0f}"
            for origin, limits in zip(self.origins, self._limits, strict=True)
        ]

    def begin(self):
        """Forget all requests: the next crawl meets the same faults as the first."""
        self._served.clear()
        for site in self._web.sites.values():
            site.requests.clear()
            site.most_at_once = 0

    @property
    def size(self):
        return sum(map(len, self._pages))

    @property
    def requests(self):
        return sum(len(site.requests) for site in self._web.sites.values())

    def _handler(self, host):
        async def respond(exchange):
            if self.on_request is not None:
                self.on_request()
            path = exchange.path
            if path == "/robots.txt":
                delay_s = self._limits[host].crawl_delay_s
                text = f"User-agent: *\nCrawl-delay: {delay_s}\n" if delay_s else ""
                await exchange.page(text, 200 if delay_s else 404, Content_Type="text/plain")
                return
            served = self._served[host, path]
            self._served[host, path] += 1
            page = self._pages[host].get(path)
            if page is None:
                await exchange.page("missing", 404)
                return
            await asyncio.sleep(page.pause_s)
            fault = page.faults[served] if served < len(page.faults) else ""
            if fault == RESET:
                exchange.reset()
            elif fault == STALL:
                await exchange.until_closed()
            elif fault == BUSY:
                await exchange.page("later", 429, Retry_After=self._rest_s)
            elif fault:
                await exchange.page("broken", 500)
            else:
                await exchange.page(self._html(host, path, page))

        return respond

    def _html(self, host, path, page):
        links = [*page.links, *(self.origins[other] + target for other, target in page.external)]
        anchors = " ".join(f'<a href="{link}">{number}</a>' for number, link in enumerate(links))
        return f"<!DOCTYPE html><title>{host}{path}</title><p>Page {path} of host {host}.</p>{anchors}"

    # What a crawl should have found and done ---------------------------------------------------------

    def levels(self, host):
        """Return the level of each page that can be reached and responds at last."""
        pages = self._pages[host]
        levels = {HOME: 0}
        following = deque([HOME])
        while following:
            path = following.popleft()
            for link in pages[path].links:
                if link in pages and pages[link].faults is not ALWAYS and link not in levels:
                    levels[link] = levels[path] + 1
                    following.append(link)
        return levels

    def problems(self, folder, runs):
        """Yield what is wrong with a crawl: its graphs in *folder*, and its requests.

        Its runs were started at the times *runs*, in seconds of the monotonic clock.
        """
        yield from self._wrong_graphs(folder)
        for (host, site), limits in zip(enumerate(self._web.sites.values()), self._limits, strict=True):
            if site.most_at_once > limits.parallel:
                yield f"{site.origin}: {site.most_at_once} requests at once, {limits.parallel} are allowed"
            yield from _too_early(site.origin, site.requests, limits, self._slack_s)
            yield from self._in_rests(host, site.requests, runs)
            yield from self._too_often(host, site.requests, runs)

    def _wrong_graphs(self, folder):
        """Yield the differences between the graphs in *folder* and the truth."""
        for host, origin in enumerate(self.origins):
            graph = nx.read_gexf(folder / f"{file_stem(origin)}.gexf")
            names = dict(graph.nodes("label"))
            levels = {f"{origin}{path}": level for path, level in self.levels(host).items()}
            found = {names[node]: level for node, level in graph.nodes("level")}
            edges = {(names[a], names[b]): weight for a, b, weight in graph.edges(data="weight")}
            external = {names[node]: number for node, number in graph.nodes("external_links")}
            of = {f"{origin}{path}": page for path, page in self._pages[host].items()}
            links = Counter(
                (url, f"{origin}{link}") for url in levels for link in of[url].links if f"{origin}{link}" in levels
            )
            wanted = {edge: number for edge, number in links.items() if edge[0] != edge[1]}
            yield from _differences(f"{origin} nodes", levels, found)
            yield from _differences(f"{origin} edges", wanted, edges)
            wanted_external = {url: len(set(of[url].external)) for url in levels}
            yield from _differences(f"{origin} external links", wanted_external, external)

    def _in_rests(self, host, requests, runs):
        served = Counter()
        rests_s = []
        for one in requests:
            page = self._pages[host].get(one.path)
            if page is not None and page.faults[served[one.path] :][:1] == (BUSY,):
                rests_s.append(one.at_s + page.pause_s)
            served[one.path] += 1
        for rest_s in rests_s:
            if any(rest_s <= began_s < rest_s + self._rest_s / 2 for began_s in runs):
                continue  # it may have been lost in a kill, before it was committed
            for one in requests:
                if rest_s + self._slack_s < one.at_s < rest_s + self._rest_s - self._slack_s:
                    yield f"{self.origins[host]}{one.path}: requested {one.at_s - rest_s:.2f} s after status 429"

    def _too_often(self, host, requests, runs):
        reachable = {link for path in self.levels(host) for link in self._pages[host][path].links}
        times = defaultdict(list)
        for one in requests:
            times[one.path].append(one.at_s)
        yield from (f"{self.origins[host]}{path}: never requested" for path in reachable - times.keys())
        for path in times.keys() - {"/robots.txt"}:
            if path not in reachable and path != HOME:
                yield f"{self.origins[host]}{path}: requested, but no page links to it"
                continue
            page = self._pages[host].get(path)
            faults = 0 if page is None or page.faults is ALWAYS else len(page.faults)
            most = RETRY_TIMES + 1 if page is not None and page.faults is ALWAYS else 1
            for began_s, ended_s in pairwise([*runs, float("inf")]):
                ordinary = sum(began_s <= at_s < ended_s for at_s in times[path][faults:])
                if ordinary > most:
                    yield f"{self.origins[host]}{path}: {ordinary} requests in one run"


def _path(number):
    return f"/{number}.html" if number else HOME


def _random_page(rng, number, sizes, host, *, is_stalled):
    """A page has links to farther pages, so that nearly all can be reached, to nearer ones, and to missing ones."""
    pages = sizes[host]
    children = [child for child in (3 * number + 1, 3 * number + 2, 3 * number + 3) if child < pages]
    links = [_path(n) for n in (*children, *(rng.randrange(pages) for _ in range(rng.randrange(6))))]
    if rng.random() < 0.03:
        links.append(f"/missing{number}.html")
    rng.shuffle(links)
    others = [(host + rng.randrange(1, len(sizes))) % len(sizes) for _ in range(2)]
    external = [(other, _path(rng.randrange(sizes[other]))) for other in others]
    chance = rng.random()
    faults = ()
    if is_stalled:
        faults = (STALL,)
    elif number == 0:
        faults = rng.choice([(), (ERROR,), (BUSY, RESET)])
    elif chance < 0.02:
        faults = ALWAYS
    elif chance < 0.05:
        faults = (BUSY,) * rng.choice((1, 2))
    elif chance < 0.15:
        faults = tuple(rng.choices((ERROR, RESET), k=rng.choice((1, 2))))
    elif chance < 0.17:
        faults = rng.choice([(ERROR, BUSY), (BUSY, RESET)])
    return RandomPage(links, external, faults, rng.uniform(0.0, 0.02))


def _too_early(origin, requests, limits, slack_s):
    """Yield where requests came more than *slack_s* faster than the delay allows, over any number in a row."""
    latest_s = float("-inf")  # at which request 0 would have come, at the given delay
    for number, one in enumerate(requests):
        delay_s = max(limits.delay_s, limits.crawl_delay_s)
        shifted_s = one.at_s - number * delay_s
        if shifted_s < latest_s - slack_s:
            gap_s = one.at_s - requests[number - 1].at_s
            yield f"{origin}{one.path}: {latest_s - shifted_s:.2f} s too early, {gap_s:.2f} s after the last request"
            latest_s = shifted_s  # so that one such request is reported once
        latest_s = max(latest_s, shifted_s)


def _differences(what, wanted, found):
    for name in {*wanted, *found}:
        if wanted.get(name) != found.get(name):
            yield f"{what}: {name}: {found.get(name)} instead of {wanted.get(name)}"
