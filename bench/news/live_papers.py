"""Papers that publish in real time and are served on loopback, each at an address of its own.

    python -m bench.news.live_papers OPTIONS      what they are: `Options`, as JSON

A paper is a home page that names its feed and lists its latest articles, a feed with a window, and articles. When which
article appears is a function of the options, so that the server need not be queried. Prints the origins as one line of
JSON when it listens; ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
import sys
import time
from bisect import bisect_right
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from email.utils import formatdate
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import web

from examples.press.texts import headline, name, paragraphs, slug
from examples.webs.prose import rng_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SPREAD = 1.5  # of the log-normal rates: the fastest of 3,000 papers publishes some sixty times as much as the mean
LISTED = 10  # articles of a home page
FEED, HOME, ARTICLE, OTHER = "feed", "home", "article", "other"
FEED_PATH = "/feed.xml"
SITEMAP_PATH = "/sitemap.xml"
_OLD = re.compile(r"/archive/(\d+)/an-old-story-of-the-town-(\d+)\.html")
END_S = 20


@dataclass(frozen=True, slots=True)
class Options:
    """*papers* that publish *per_s* articles in all, from *began* to *ends*; requests are written to *log*.

    The first paper has a sitemap of *sitemap_urls* old articles and of all its new ones, if it is not 0; the home page
    of the second one has links to *home_links* old articles.
    """

    seed: int
    papers: int
    per_s: float
    began: float
    ends: float
    log: str
    sitemap_urls: int = 0
    home_links: int = 0

    def made(self) -> list[Paper]:
        rng = rng_of(f"rates {self.seed}")
        rates = [rng.lognormvariate(0.0, SPREAD) for _ in range(self.papers)]
        return [Paper(n, self, rate * self.per_s / sum(rates)) for n, rate in enumerate(rates)]


class Asked(NamedTuple):
    """A request, in the order in which they came. *item*: which article of the paper; -1 where there is none."""

    at: float
    paper: int
    kind: str
    item: int
    status: int


def read_log(path: Path) -> list[Asked]:
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [Asked(float(at), int(paper), kind, int(item), int(status)) for at, paper, kind, item, status in rows]


class Paper:
    """A paper; its articles are numbered from 0 in the order in which they appear."""

    def __init__(self, number: int, options: Options, per_s: float) -> None:
        self.number, self.per_s = number, per_s
        self._seed = f"{options.seed} {number}"
        rng = rng_of(f"paper {self._seed}")
        self.window = rng.randint(10, 20)
        self._in_sitemap = options.sitemap_urls if number == 0 else 0
        self._on_home_page = options.home_links if number == 1 else 0
        # At whole seconds: that is what pubDate and Last-Modified can tell apart.
        self.published: list[int] = []
        at = options.began
        while (at := at + rng.expovariate(per_s)) < options.ends:
            self.published.append(math.ceil(at))

    @cached_property
    def title(self) -> str:
        return f"The {name(rng_of(f'name {self._seed}'))} Paper"

    def _head(self, item: int) -> tuple[random.Random, str]:
        """Return the generator of random numbers for the text of the article, and its headline."""
        rng = rng_of(f"article {self._seed} {item}")
        return rng, headline(rng, [name(rng), name(rng)])

    def path(self, item: int) -> str:
        day = time.strftime("%Y/%m/%d", time.gmtime(self.published[item]))
        return f"/{day}/{slug(self._head(item)[1])}-{item}.html"

    def newest(self, now: float, count: int) -> range:
        """The latest articles, the oldest of them first."""
        known = bisect_right(self.published, now)
        return range(max(0, known - count), known)

    def page(self, path: str, now: float) -> tuple[str, int, str]:
        """What sort of page that is, which article, and its text; an empty one is not there."""
        if path == "/":
            return HOME, -1, self._home(now)
        if path == FEED_PATH:
            return FEED, -1, self._feed(now)
        if path == SITEMAP_PATH and self._in_sitemap:
            return OTHER, -1, self._sitemap(now)
        if path == "/robots.txt":
            return OTHER, -1, "User-agent: *\nDisallow: /search\n"
        number = path.removesuffix(".html").rpartition("-")[2]
        if number.isdecimal() and int(number) < bisect_right(self.published, now) and self.path(int(number)) == path:
            return ARTICLE, int(number), self._article(int(number))
        if (old := _OLD.fullmatch(path)) is not None:
            return OTHER, -1, self._story(rng_of(f"old {self._seed} {old[2]}"), f"Old story {old[2]}", "2019-05-01")
        return OTHER, -1, ""

    def _framed(self, title: str, head: str, contents: str) -> str:
        menu = f'<nav><a href="/">{escape(self.title)}</a> <a href="{FEED_PATH}">RSS</a></nav>'
        alternate = f'<link rel="alternate" type="application/rss+xml" href="{FEED_PATH}">'
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{alternate}'
            f"{head}</head><body><header>{menu}</header>{contents}<footer>{escape(self.title)}</footer></body></html>"
        )

    def _links(self, items: range) -> str:
        rows = (f'<li><a href="{self.path(item)}">{escape(self._head(item)[1])}</a></li>' for item in reversed(items))
        return f"<ul>{''.join(rows)}</ul>"

    def _home(self, now: float) -> str:
        rows = "".join(f'<li><a href="{_old_path(n)}">Old story {n}</a></li>' for n in range(self._on_home_page))
        return self._framed(self.title, "", f"<main>{self._links(self.newest(now, LISTED))}<ul>{rows}</ul></main>")

    def _sitemap(self, now: float) -> str:
        here = "{origin}"
        known = bisect_right(self.published, now)
        paths = [*map(self.path, range(known)), *map(_old_path, range(self._in_sitemap))]
        rows = "".join(f"<url><loc>{here}{path}</loc></url>\n" for path in paths)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>'

    def _feed(self, now: float) -> str:
        rows = (
            f"<item><title>{escape(self._head(item)[1])}</title><link>{self.path(item)}</link>"
            f"<pubDate>{formatdate(self.published[item], usegmt=True)}</pubDate></item>\n"
            for item in reversed(self.newest(now, self.window))
        )
        channel = f"<title>{escape(self.title)}</title><link>/</link>"
        return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{channel}\n{"".join(rows)}</channel></rss>'

    def _article(self, item: int) -> str:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.published[item]))
        return self._story(*self._head(item), when, self._links(range(max(0, item - 5), item)))

    def _story(self, rng: random.Random, title: str, when: str, links: str = "") -> str:
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs(rng, [name(rng), name(rng)]))
        head = f'<meta property="og:type" content="article"><meta property="article:published_time" content="{when}">'
        body = f'<article><h1>{escape(title)}</h1><time datetime="{when}">{when}</time>{text}</article>'
        return self._framed(title, head, body + links)


def _old_path(number: int) -> str:
    return f"/archive/{number // 1000}/an-old-story-of-the-town-{number}.html"


@contextmanager
def serve(options: Options) -> Iterator[list[str]]:
    """Serve from a process of its own while the block lasts; the origins of the papers."""
    command = [sys.executable, "-m", "bench.news.live_papers", json.dumps(asdict(options))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(END_S)


async def _serve(options: Options) -> None:
    papers = options.made()
    addresses = [f"127.78.{number // 250}.{number % 250 + 1}" for number in range(options.papers)]
    by_address = dict(zip(addresses, papers, strict=True))
    with Path(options.log).open("w", encoding="utf-8") as log:

        async def handle(request: web.BaseRequest) -> web.Response:
            now = time.time()
            paper = by_address[request.host.partition(":")[0]]
            kind, item, text = paper.page(request.path, now)
            status, headers = 200 if text else 404, {}
            if kind in (FEED, HOME):
                # Every second paper names its versions by ETag, the others by Last-Modified.
                shown = paper.newest(now, 1)
                latest = paper.published[shown[0]] if shown else options.began
                is_tagged = paper.number % 2 == 0
                version = f'"{shown.stop}"' if is_tagged else formatdate(latest, usegmt=True)
                headers["ETag" if is_tagged else "Last-Modified"] = version
                if request.headers.get("If-None-Match" if is_tagged else "If-Modified-Since") == version:
                    status, text = 304, ""
            log.write(f"{now:.3f}\t{paper.number}\t{kind}\t{item}\t{status}\n")
            is_plain = request.path == "/robots.txt"
            content_type = "application/rss+xml" if kind == FEED else "text/plain" if is_plain else "text/html"
            if request.path == SITEMAP_PATH:
                text, content_type = text.replace("{origin}", f"http://{request.host}"), "application/xml"
            return web.Response(status=status, headers=headers, text=text, content_type=content_type)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(web.Server(handle, keepalive_timeout=15.0), addresses, 0, backlog=64)
        ports = dict(sock.getsockname() for sock in server.sockets)
        print(json.dumps([f"http://{address}:{ports[address]}" for address in addresses]), flush=True)
        await loop.run_in_executor(None, sys.stdin.read)
        server.close()


if __name__ == "__main__":
    asyncio.run(_serve(Options(**json.loads(sys.argv[1]))))
