"""A live display of the crawl, read from the store: one line per site, the sums below.

It is redrawn in place on a terminal; without a terminal, Scrapy's log lines suffice. Rich is imported when there is
something to display, because the import takes a tenth of a second.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawlers.algorithms.plurals import plural
from crawlers.errors import CrawlersError
from crawlers.inputs.crawl_name import crawl_name
from crawlers.items import State
from crawlers.spiders.base import SiteSpider
from crawlers.storage.database import Database
from crawlers.storage.queries import NamedCrawl, SiteProgress, crawl_named, progress

if TYPE_CHECKING:
    from typing import Self

    from rich.table import Table
    from scrapy.crawler import Crawler

PAUSE_FACTOR = 50  # the pause between two queries, as a multiple of the duration of the last one
MAX_SITES = 15  # lines; the busiest are shown, the others are in the sums


class Progress:
    """Reads the store every *interval_s* seconds, independently of the crawl."""

    def __init__(self, crawler: Crawler, interval_s: float) -> None:
        from rich.console import Console
        from rich.live import Live

        self._crawler = crawler
        self._interval_s = interval_s
        self._live = Live(console=Console(stderr=True), auto_refresh=False, redirect_stdout=False)
        self._loop = create_looping_call(self._refresh)
        self._next_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        wanted = settings.get("PROGRESS_ENABLED")
        enabled = sys.stderr.isatty() if wanted in (None, "") else settings.getbool("PROGRESS_ENABLED")
        if not enabled or not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured
        extension = cls(crawler, settings.getfloat("PROGRESS_INTERVAL_SECONDS"))
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        settings = self._crawler.settings
        name = crawl_name(settings, self._crawler.spider)
        try:
            self._database = Database(settings.get("DATABASE_URL"), create=False)
            self._crawl = crawl_named(self._database, name)
        except CrawlersError:
            return  # the crawl could not begin, and reports that itself
        self._started = time.monotonic()
        self._live.start()
        self._loop.start(self._interval_s)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
            self._show()
            self._live.stop()
            self._database.close()

    def _refresh(self) -> None:
        """Update the display, unless a query takes so long (millions of pages) that it would slow down the crawl."""
        now = time.monotonic()
        if now >= self._next_at:
            self._show()
            took_s = time.monotonic() - now
            self._next_at = now + PAUSE_FACTOR * took_s

    def _show(self) -> None:
        sites = progress(self._database, self._crawl.id)
        self._live.update(table(self._crawl, sites, time.monotonic() - self._started), refresh=True)


def table(crawl: NamedCrawl, sites: list[SiteProgress], seconds: float) -> Table:
    """Return the display after *seconds* of this run."""
    from rich.table import Table

    shown = Table(title=f"{crawl.mission} “{crawl.name}”, {seconds:.0f} s", expand=False)
    shown.add_column("site", overflow="fold")
    for name in ("pages", "waiting", "level", "moved", "refused", "failed", "rejected"):
        shown.add_column(name, justify="right")
    shown.add_column("")
    busiest = sorted(sites, key=lambda s: (-s.counts.get(State.WAITING, 0), -sum(s.counts.values()), s.site))
    for site in busiest[:MAX_SITES]:
        shown.add_row(site.site, *_cells(site.counts, str(site.level)), site.availability or "")
    sums: dict[State, int] = {}
    for site in sites:
        for state, number in site.counts.items():
            sums[state] = sums.get(state, 0) + number
    shown.add_section()
    shown.add_row(f"{len(sites)} {plural(len(sites), 'site')}", *_cells(sums, ""), "")
    return shown


def _cells(counts: dict[State, int], level: str) -> list[str]:
    def number(state: State) -> str:
        return f"{counts.get(state, 0):,}"

    return [
        number(State.DONE),
        number(State.WAITING),
        level,
        number(State.MOVED),
        number(State.REFUSED),
        number(State.FAILED),
        number(State.REJECTED),
    ]
