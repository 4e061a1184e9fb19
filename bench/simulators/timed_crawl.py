"""A harvest on a simulated clock: the real crawl, store and frontier, but every response comes from a simulated web.

A download takes the time that the web says, and requests are sent as the scheduler sends them: whenever the crawl
leases a URL. So the effects of delays and of requests in flight on a rule can be measured without waiting.
"""

from __future__ import annotations

import heapq
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.running_crawl import Crawl, RobotsNeeded
from crawlers.crawl.spec import CrawlSpec
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
    "STORE_BATCH_PAGES": 5000,
    "SAVE_DUPLICATES": True,
    "TRAPS_ENABLED": False,
}


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


def harvest(web: Web, settings: Mapping[str, Any]) -> Harvest:
    """Crawl *web* until the page budget of *settings* is spent or nothing waits."""
    with tempfile.TemporaryDirectory() as folder:
        values = settings_of(DATABASE_URL=f"sqlite:///{Path(folder) / 'crawl.sqlite'}", **settings)
        return _Run(web, values).run()


class _Run:
    def __init__(self, web: Web, settings: Settings) -> None:
        self._web = web
        self._now = 0.0
        self._events: list[tuple[float, int, Lease]] = []  # end of a download, its number
        self._downloads = 0
        self._found: set[int] = set()
        self._harvest = Harvest()
        spec = CrawlSpec("extlinks", web.sites, page_budget=settings.getint("PAGE_BUDGET"), counts_rewards=True)
        self._crawl = Crawl(
            *(settings, spec, lambda session, control: CrawlPolicy(), _Stats(), lambda: self._now),
            stop=lambda reason: None,
            wake=lambda: None,
            versions={},
        )

    def run(self) -> Harvest:
        crawl = self._crawl
        try:
            while self._step():
                if crawl.failure is not None:
                    raise crawl.failure
        finally:
            crawl.session.close_all()
        self._harvest.seconds = self._now
        return self._harvest

    def _step(self) -> bool:
        """Send what may be sent now, then go to the next event; return whether there was one."""
        while (lease := self._crawl.next(self._now)) is not None:
            assert not isinstance(lease, RobotsNeeded)
            self._downloads += 1
            heapq.heappush(self._events, (self._now + self._web.seconds(lease.url), self._downloads, lease))
        due_s = self._crawl.next_due(self._now)
        if due_s is not None and (not self._events or self._now + due_s < self._events[0][0]):
            assert due_s > 0.0, "the crawl says that something is due, but leases nothing"
            self._now += due_s
            return True
        if not self._events:
            return False
        self._now, _, lease = heapq.heappop(self._events)
        self._end(lease)
        return True

    def _end(self, lease: Lease) -> None:
        page = replace(self._web.page(lease.url), id=lease.id, level=lease.level)
        self._found.update(link.key for link, _ in page.external)
        self._harvest.urls.append(len(self._found))
        site = lease.url.split("/")[2]
        self._harvest.pages[site] = self._harvest.pages.get(site, 0) + 1
        self._crawl.record(page)
