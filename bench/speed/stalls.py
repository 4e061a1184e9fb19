"""An extension that sees when the reactor is held up, for measurements.

STALLS_FILE gets a line for each pause of more than STALLS_LEAST_SECONDS: when, how long, how much of it this thread was
computing (the rest it waited for a processor, a lock or a disk), and where it was.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

COLLECTING = "garbage collection"


class Stall(NamedTuple):
    """A line of the file; times in seconds."""

    at: float
    took: float
    computing: float
    where: str


def read_stalls(path: Path) -> list[Stall]:
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return [Stall(float(at), float(took), float(computing), where) for at, took, computing, where in rows]


class Stalls:
    """Looks from the opening of the spider to its end."""

    def __init__(self, path: Path, least_s: float) -> None:
        self._path = path
        self._least_s = least_s
        self._every_s = least_s / 2
        self._reactor = threading.get_ident()
        self._done = threading.Event()
        self._beat_at = time.perf_counter()
        self._collecting_since = 0.0
        self._where = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = cls(Path(crawler.settings["STALLS_FILE"]), crawler.settings.getfloat("STALLS_LEAST_SECONDS"))
        crawler.signals.connect(made._opened, signals.spider_opened)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    def _opened(self) -> None:
        gc.callbacks.append(self._collecting)
        threading.Thread(target=self._look, daemon=True).start()
        self._task = asyncio.ensure_future(self._watch())

    def _closed(self) -> None:
        self._task.cancel()
        self._done.set()
        gc.callbacks.remove(self._collecting)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        # The other thread does not run meanwhile: what took long says so itself.
        if phase == "start":
            self._collecting_since = time.perf_counter()
        elif time.perf_counter() - self._collecting_since > self._least_s:
            self._where = COLLECTING

    def _look(self) -> None:
        while not self._done.wait(self._least_s):
            if time.perf_counter() - self._beat_at > self._every_s + self._least_s and not self._where:
                self._where = _place(self._reactor)

    async def _watch(self) -> None:
        with self._path.open("w", encoding="utf-8") as file:
            while True:
                self._where, self._beat_at, computed = "", time.perf_counter(), time.thread_time()
                await asyncio.sleep(self._every_s)
                took = time.perf_counter() - self._beat_at - self._every_s
                if took > self._least_s:
                    computing = time.thread_time() - computed
                    file.write(f"{time.time():.3f}\t{took:.3f}\t{computing:.3f}\t{self._where or 'unknown'}\n")
                    file.flush()


def _place(thread: int) -> str:
    """The innermost functions of this project that the *thread* is in."""
    frame, names = sys._current_frames().get(thread), []
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if module.startswith("crawlers."):
            names.append(f"{module.removeprefix('crawlers.')}.{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(names[:3]) or "outside of this project"
