"""A harvest on a simulated clock: the real crawl, store and frontier, but every response comes from a simulated web.

A download takes the time that the web says, and requests are sent as the scheduler sends them: whenever the crawl
leases a URL. So the effects of delays, of requests in flight and of several workers on a rule can be measured without
waiting. Everything but the web takes no time.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.site_policies import RobotsNeeded
from crawlers.crawl.spec import CrawlSpec
from crawlers.inputs.crawl_command import CrawlCommand, CrawlOrigin
from crawlers.spiders.extlinks import ExtLinksSpider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.frontier.protocols import Lease
    from crawlers.items import Page, SiteLimits

STORE = {
    "COMMON_LOG_FILE": "",
    "ERROR_LOG_FILE": "",
    "ROBOTSTXT_OBEY": False,
    "STORE_BATCH_SECONDS": 60.0,
    "SAVE_DUPLICATES": True,
    "TRAPS_ENABLED": False,
}


JOIN_S = 3.0  # after the first worker, the others begin: Python needs it to start
TICK_S = 0.1  # between two questions whether a round is due, as `extensions.rounds`


class Web(Protocol):
    """The simulated web."""

    sites: Sequence[SiteLimits]

    def page(self, url: str) -> Page:
        """Return the page of *url*, of which the crawl replaces number and level."""

    def seconds(self, url: str) -> float:
        """Return the time that the download takes."""


@dataclass
class Harvest:
    """What a simulated harvest found, and what it cost."""

    seconds: float = 0.0
    urls: list[int] = field(default_factory=list)  # distinct external URLs after 1, 2, 3, … pages
    pages: dict[str, int] = field(default_factory=dict)  # downloads by site
    workers: list[int] = field(default_factory=list)  # downloads by worker


class _Stats:
    def inc_value(self, key: str, count: int = 1) -> None:
        """Count nothing."""


def settings_of(**values: object) -> Settings:
    """Return the settings of a harvest: those of the project and of its spider, with *values* over them."""
    settings = Settings()
    settings.setmodule(defaults)
    settings.update(ExtLinksSpider.custom_settings, priority="spider")
    settings.update({**STORE, **values}, priority="cmdline")
    return settings


def harvest(web: Web, settings: Mapping[str, Any], workers: int = 1) -> Harvest:
    """Let *workers* crawl *web* until the page budget of *settings* is spent or nothing waits."""
    with tempfile.TemporaryDirectory() as folder:
        values = settings_of(DATABASE_URL=f"sqlite:///{Path(folder) / 'crawl.sqlite'}", **settings)
        return _Run(web, values, workers).run()


class _Run:
    def __init__(self, web: Web, settings: Settings, workers: int) -> None:
        self._web = web
        self._settings = settings
        self._workers = workers
        self._now = 0.0
        self._tick_at = JOIN_S
        self._events: list[tuple[float, int, Lease, Crawl]] = []  # end of a download, its number
        self._downloads = 0
        self._found: set[int] = set()
        self._harvest = Harvest(workers=[0] * workers)
        self._crawls: list[Crawl] = []
        self._start()

    def _start(self) -> None:
        spec = CrawlSpec(
            "extlinks",
            self._web.sites,
            page_budget=self._settings.getint("PAGE_BUDGET"),
            counts_rewards=True,
            can_be_shared=True,
        )
        self._crawls.append(
            Crawl(
                *(self._settings, spec, lambda session, control: CrawlPolicy(), _Stats(), lambda: self._now),
                stop=lambda reason: None,
                wake=lambda: None,
                origin=CrawlOrigin({}, CrawlCommand("timed", {}, {})),
                share=self._workers,
            )
        )

    def run(self) -> Harvest:
        try:
            while self._step():
                for crawl in self._crawls:
                    if crawl.control.failure is not None:
                        raise crawl.control.failure
        finally:
            for crawl in self._crawls:
                crawl.session.close_all()
        return self._harvest

    def _step(self) -> bool:
        """Send what may be sent now, then go to the next event; return whether there was one."""
        if self._now >= self._tick_at:
            self._tick()
        due_at = self._tick_at
        for crawl in self._crawls:
            while (lease := crawl.next(self._now)) is not None:
                assert not isinstance(lease, RobotsNeeded)
                self._downloads += 1
                heapq.heappush(self._events, (self._now + self._web.seconds(lease.url), self._downloads, lease, crawl))
            due_s = crawl.next_due(self._now)
            assert due_s != 0.0, "the crawl says that something is due, but leases nothing"
            due_at = min(due_at, math.inf if due_s is None else self._now + due_s)
        if self._events and self._events[0][0] <= due_at:
            self._now, _, lease, crawl = heapq.heappop(self._events)
            self._end(lease, crawl)
            return True
        self._now = due_at
        return due_at < math.inf

    def _tick(self) -> None:
        self._tick_at = self._now + TICK_S
        while len(self._crawls) < self._workers:
            self._start()
        for crawl in self._crawls:
            if crawl.is_round_due:
                asyncio.run(crawl.round())
        if not self._events and not any(crawl.has_pending for crawl in self._crawls):
            self._tick_at = math.inf

    def _end(self, lease: Lease, crawl: Crawl) -> None:
        page = replace(self._web.page(lease.url), id=lease.id, level=lease.level)
        self._harvest.seconds = self._now
        self._harvest.workers[self._crawls.index(crawl)] += 1
        self._found.update(link.key for link, _ in page.external)
        self._harvest.urls.append(len(self._found))
        site = lease.url.split("/")[2]
        self._harvest.pages[site] = self._harvest.pages.get(site, 0) + 1
        crawl.recording.record(page)
