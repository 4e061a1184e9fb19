"""A rival: the crawler of an afternoon, aiohttp and selectolax, which stores pages and links in SQLite.

python -m bench.speed.afternoon URL CONCURRENCY

It knows neither robots.txt nor levels nor duplicates, and what it has is lost when it is killed.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
from selectolax.lexbor import LexborHTMLParser

from crawlers.options import SETTINGS

SKIPPED = set(SETTINGS["IGNORED_EXTENSIONS"].default)
HTML = ("text/html", "application/xhtml+xml")


class Site:
    """The pages of one site."""

    def __init__(self, root: str) -> None:
        self.host = urlsplit(root).netloc
        self.seen = {root}
        self.waiting: asyncio.Queue[str] = asyncio.Queue()
        self.waiting.put_nowait(root)
        self.store = sqlite3.connect("afternoon.sqlite")
        self.store.execute("CREATE TABLE page (url TEXT PRIMARY KEY, status INT, title TEXT)")
        self.store.execute("CREATE TABLE link (source TEXT, target TEXT)")

    def read(self, url: str, body: bytes) -> None:
        tree = LexborHTMLParser(body)
        links = []
        for node in tree.css("a[href]"):
            try:
                target = urldefrag(urljoin(url, (node.attributes["href"] or "").strip()))[0]
            except ValueError:
                continue
            if not target.startswith("http"):
                continue
            links.append((url, target))
            if target not in self.seen and urlsplit(target).netloc == self.host and self.is_page(target):
                self.seen.add(target)
                self.waiting.put_nowait(target)
        title = tree.css_first("title")
        self.store.execute("INSERT OR IGNORE INTO page VALUES (?, 200, ?)", (url, title.text() if title else ""))
        self.store.executemany("INSERT INTO link VALUES (?, ?)", links)

    def is_page(self, url: str) -> bool:
        return url.rpartition(".")[2].lower() not in SKIPPED

    async def fetch_all(self, session: aiohttp.ClientSession) -> None:
        while True:
            url = await self.waiting.get()
            try:
                async with session.get(url) as response:
                    body = await response.read()
                if response.status == 200 and response.content_type in HTML:
                    self.read(str(response.url), body)
                else:
                    self.store.execute("INSERT OR IGNORE INTO page VALUES (?, ?, '')", (url, response.status))
            except (aiohttp.ClientError, TimeoutError) as error:
                print(url, error, file=sys.stderr)
            finally:
                self.waiting.task_done()


async def crawl(root: str, concurrency: int) -> None:
    """Crawl the site of *root* into afternoon.sqlite of the working directory."""
    site = Site(root)
    async with aiohttp.ClientSession() as session:
        fetching = [asyncio.create_task(site.fetch_all(session)) for _ in range(concurrency)]
        await site.waiting.join()
        for one in fetching:
            one.cancel()
    site.store.commit()


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], int(sys.argv[2])))
