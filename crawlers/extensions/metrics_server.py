"""Serves the metrics of this worker to Prometheus, from a thread of its own.

The library is imported when it is needed, because the import takes some 25 milliseconds.
"""

from __future__ import annotations

import errno
import logging
import time
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro

from crawlers.errors import ConfigError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, repeat
from crawlers.inputs.program import worker_place

if TYPE_CHECKING:
    from threading import Thread
    from typing import Self
    from wsgiref.simple_server import WSGIServer

    from prometheus_client import CollectorRegistry
    from scrapy.crawler import Crawler

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.extensions.crawl_metrics import CrawlMetrics

logger = logging.getLogger(__name__)

TICK_S = 0.1
PORTS = 100  # that are tried: one for each worker of a machine
THIS_MACHINE = "127.0.0.1"  # only programs on it can read metrics, unless METRICS_PORT names another address
MAX_PORT = 65_535


class MetricsServer:
    """Listens at *address* on the first free port from *port* on. Raises `ConfigError` if there is none."""

    def __init__(self, crawler: Crawler, address: str, port: int) -> None:
        from prometheus_client import CollectorRegistry, ProcessCollector

        self._crawler = crawler
        self._due_at = 0.0  # when the event loop should look next
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._server, self._thread = _listening(self._registry, address, port)
        host = f"[{address}]" if ":" in address else address
        self.url = f"http://{host}:{self._server.server_port}/metrics"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        address, _, named = str(crawler.settings.get("METRICS_PORT")).rpartition(":")
        port = int(named)
        if not port:
            raise NotConfigured  # a plain spider with add-ons of its own has not the one that leaves this out
        place = worker_place()
        first = port if place is None else port + place.number - 1  # so that a worker that is replaced keeps its port
        server = cls(crawler, address.strip("[]") or THIS_MACHINE, first)
        crawler.signals.connect(server._opened, CRAWL_OPENED)
        crawler.signals.connect(server._closed, signals.spider_closed)
        return server

    def _opened(self, crawl: Crawl) -> None:
        from crawlers.extensions.crawl_metrics import CrawlMetrics

        spider, stats = self._crawler.spider, self._crawler.stats
        assert spider is not None
        metrics = CrawlMetrics(crawl, spider.name, stats.get_stats, time.monotonic)
        self._registry.register(metrics)
        logger.info("Metrics for Prometheus are served at %s", self.url)
        self._due_at = time.monotonic() + TICK_S
        repeat(self._crawler, partial(self._tick, metrics), TICK_S, now=False)

    def _tick(self, metrics: CrawlMetrics) -> None:
        late_s = max(0.0, time.monotonic() - self._due_at)
        metrics.step(late_s)
        self._due_at += TICK_S * (1 + late_s // TICK_S)  # ticks that were missed are left out
        if metrics.needs_query:
            deferred_from_coro(metrics.query())

    async def _closed(self) -> None:
        await run_in_thread(self.close)

    def close(self) -> None:
        """End the thread, which takes up to half a second."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _listening(registry: CollectorRegistry, address: str, port: int) -> tuple[WSGIServer, Thread]:
    """Return a running server on the first free port from *port* on, and its thread."""
    from prometheus_client import start_http_server

    if port > MAX_PORT:
        raise ConfigError(f"METRICS_PORT={port} is out of range; write a port up to {MAX_PORT}, or 0 for no metrics")
    last = min(port + PORTS - 1, MAX_PORT)
    for number in range(port, last + 1):
        try:
            return start_http_server(number, address, registry)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ConfigError(
                    f"METRICS_PORT={address}:{number} can't be opened: {error.strerror or error}; name an "
                    "address of this machine, and a port that you may use"
                ) from error
    raise ConfigError(f"METRICS_PORT={port}: no port from {port} to {last} of {address} is free; name another one")
