"""Runs one spider in a process, which prints what it cost as one line of JSON."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess

ROOT = Path(__file__).parents[1]


def run(spider: Any, settings: Any, **arguments: Any) -> None:
    """Crawl, and print answers received, seconds and CPU seconds between opening and closing the spider.

    What a scheduler or pipeline writes when it is closed counts; imports and graphs do not.
    """
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    at: dict[str, float] = {}

    def opened() -> None:
        at.update(wall=time.perf_counter(), cpu=time.process_time())

    def closed() -> None:
        at["seconds"] = time.perf_counter() - at["wall"]
        at["cpu_s"] = time.process_time() - at["cpu"]

    crawler.signals.connect(opened, signals.engine_started)
    crawler.signals.connect(closed, signals.spider_closed)
    process.crawl(crawler, **arguments)
    process.start()
    stats = crawler.stats.get_stats()
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "answers": stats["response_received_count"],
                "seconds": round(at["seconds"], 3),
                "cpu_s": round(at["cpu_s"], 3),
                "peak_mib": round(peak_kib / 1024),
            }
        ),
        flush=True,
    )


def printed_by(folder: str, module: str, *arguments: str, lines: int) -> list[Any]:
    """Return the last *lines*, of JSON, that *module* printed in a process of its own in *folder*."""
    output = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    return [json.loads(line) for line in output.splitlines()[-lines:]]


def cost_of(folder: str, module: str, *arguments: str) -> dict[str, float]:
    """Return what the crawl of *module*, which calls `run`, cost in a process of its own in *folder*."""
    cost: dict[str, float] = printed_by(folder, module, *arguments, lines=1)[0]
    return cost
