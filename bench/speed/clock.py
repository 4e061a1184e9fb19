"""What a crawl has cost when it begins and ends, for `bench.speed.large`: an extension that imports nothing else."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

CLOCK = Path("clock.jsonl")


class Clock:
    """Writes CPU seconds and peak memory at the first request and at the last page; kills its process at a page."""

    def __init__(self, killed_at: int) -> None:
        self.killed_at, self.pages, self.is_started = killed_at, 0, False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Clock:
        clock = cls(crawler.settings.getint("KILLED_AT"))
        crawler.signals.connect(clock.start, signals.request_reached_downloader)
        crawler.signals.connect(clock.count, signals.request_left_downloader)  # as it changes the way of no page
        crawler.signals.connect(clock.end, signals.spider_closed)
        return clock

    def note(self, event: str) -> None:
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        row = {"event": event, "pages": self.pages, "cpu_s": round(time.process_time(), 2), "peak_mib": peak_mib}
        with CLOCK.open("a") as file:
            print(json.dumps(row), file=file)

    def start(self) -> None:
        if not self.is_started:
            self.is_started = True
            self.note("first request")

    def count(self) -> None:
        self.pages += 1
        if self.pages == self.killed_at:
            self.note("killed")
            os.kill(os.getpid(), signal.SIGKILL)

    def end(self) -> None:
        self.note("last page")
