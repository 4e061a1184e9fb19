"""Kills processes that extract articles with kill -9, one every few seconds, and counts the pages without an article.

    python -m bench.durability.worker_kills [--pages 650] [--every 3] [--hosts 20] [--at-once 16] [--seed 1]

The pool, which is that of a news crawl, gets pages of some hosts, several at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from bench.news.live_papers import Options
from crawlers.extraction.news_reader import article_of
from crawlers.extraction.pool import ExtractionPool
from crawlers.options import SETTINGS
from crawlers.spiders.news import EXTRACTION_TIMEOUT_S

BEGAN = 1_700_000_000.0
TYPE = "text/html; charset=utf-8"


def made(pages: int, hosts: int, seed: int) -> list[tuple[str, str, bytes]]:
    """Return host, URL and body of articles."""
    papers = Options(seed, hosts, pages / 1000.0, BEGAN, BEGAN + 3000.0, "").made()
    found = []
    for paper in papers:
        for item, published_at in enumerate(paper.published):
            path = paper.path(item)
            _, _, text = paper.page(path, published_at + 1.0)
            found.append((f"http://h{paper.number}.test", f"http://h{paper.number}.test{path}", text.encode()))
    random.Random(seed).shuffle(found)
    return found[:pages]


async def kill_workers(every_s: float, rng: random.Random, killed: list[int]) -> None:
    """Kill a child process every few seconds."""
    own = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    while True:
        await asyncio.sleep(every_s)
        if children := own.read_text("ascii").split():
            killed.append(int(rng.choice(children)))
            with suppress(ProcessLookupError):
                os.kill(killed[-1], signal.SIGKILL)


async def extract(pages: list[tuple[str, str, bytes]], every_s: float, at_once: int, seed: int) -> None:
    """Extract the article of each page, and print what became of them."""
    pool, killed = ExtractionPool(SETTINGS["EXTRACTION_PROCESSES"].default, EXTRACTION_TIMEOUT_S), list[int]()
    rng = random.Random(seed)
    room = asyncio.Semaphore(at_once)

    async def one(host: str, url: str, body: bytes) -> str:
        async with room:
            found = await pool.run(host, article_of, body, url, TYPE, {}, BEGAN)
            return found if isinstance(found, str) else "an article"

    killing = asyncio.create_task(kill_workers(every_s, rng, killed))
    began = time.perf_counter()
    results = Counter(await asyncio.gather(*(one(*page) for page in pages)))
    killing.cancel()
    await pool.close()
    print(f"{len(pages)} pages in {time.perf_counter() - began:.0f} s, {len(killed)} kills")
    for result, number in results.most_common():
        print(f"  {number}: {result}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=650)
    parser.add_argument("--every", type=float, default=3.0, help="seconds")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    pages = made(chosen.pages, chosen.hosts, chosen.seed)
    asyncio.run(extract(pages, chosen.every, chosen.at_once, chosen.seed))


if __name__ == "__main__":
    main()
