"""Stops a crawl gracefully: after `TIMEOUT_SECONDS`, when `STOP_FILE` appears, or when the command for several workers
ends that started this one. Says what any stop waits for."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.httpobj import urlparse_cached

from crawlers.errors import ConfigError
from crawlers.extensions.crawl_owner import owner_of, repeat
from crawlers.inputs.program import worker_place
from crawlers.plurals import counted
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

CHECK_INTERVAL_S = 0.5
STDIN = 0  # its descriptor
MAX_HOSTS = 3  # that are named


def parent_ended() -> threading.Event:
    """Return what is set when the command that started this worker, among several, stops or dies.

    The standard input of the worker is a pipe from it, and ends with it.
    """
    ended = threading.Event()

    def read() -> None:
        with suppress(OSError):
            while os.read(STDIN, 1024):
                pass  # nobody writes into it
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    return ended


class Stopping:
    """Checks the conditions twice a second. The same command resumes the crawl later."""

    def __init__(self, crawler: Crawler, timeout_s: float, stop_file: Path | None) -> None:
        self._crawler = crawler
        self._timeout_s = timeout_s
        self._stop_file = stop_file
        self._parent = threading.Event() if worker_place() is None else parent_ended()
        self._is_stopping = self._has_told = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        timeout_s = crawler.settings.getfloat("TIMEOUT_SECONDS")
        stop_file = crawler.settings.get("STOP_FILE")
        if stop_file and Path(stop_file).exists():
            raise ConfigError(
                f"STOP_FILE={stop_file} exists, so the crawl would stop at once; if it is the stop file of an earlier "
                f"run, delete {Path(stop_file).absolute()} and start again, otherwise name another file"
            )
        extension = cls(crawler, timeout_s, Path(stop_file) if stop_file else None)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        return extension

    def _opened(self) -> None:
        repeat(self._crawler, self._check, CHECK_INTERVAL_S)

    def _check(self) -> None:
        if self._is_stopping or not self._crawler.engine.running:
            self._tell()
        elif not self._crawler.crawling:  # a signal came while the crawl opened, and Scrapy stops only one that runs
            self._is_stopping = True
            deferred_from_coro(self._crawler.engine.stop_async())
        elif self._stop_file is not None and self._stop_file.exists():
            logger.info("Stop file %s found; stopping. Remove it to resume the crawl.", self._stop_file)
            self._stop_all(Reason.STOP_FILE)
        elif self._parent.is_set():
            self._stop(Reason.SHUTDOWN)  # the reason of a signal, too: workers of other commands go on
        elif self._timeout_s and owner_of(self._crawler).crawl.run_s >= self._timeout_s:
            self._stop_all(Reason.TIMEOUT)

    def _stop_all(self, reason: str) -> None:
        owner_of(self._crawler).crawl.ask_to_stop(reason)
        self._stop(reason)

    def _stop(self, reason: str) -> None:
        self._is_stopping = True
        deferred_from_coro(self._crawler.engine.close_spider_async(reason=str(reason)))

    def _tell(self) -> None:
        """Say once for which downloads Scrapy waits before it closes the crawl; it can't give them up."""
        active = self._crawler.engine.downloader.active
        if self._has_told or not active:
            return
        self._has_told = True
        sites = sorted({"{0.scheme}://{0.netloc}".format(urlparse_cached(request)) for request in active})
        logger.info(
            "Stopping: waiting for %s (%s), at most %g s. A second Ctrl-C or signal ends the crawl at once: no graphs "
            "are written, and pages of the last second are requested again when it is resumed",
            counted(len(active), "download"),
            ", ".join([*sites[:MAX_HOSTS], *(["…"] if len(sites) > MAX_HOSTS else [])]),
            max(_timeout_s(request, self._crawler) for request in active),
        )


def _timeout_s(request: Request, crawler: Crawler) -> float:
    return float(request.meta.get("download_timeout") or crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
