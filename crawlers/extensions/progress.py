"""A live display of the crawl, read from the store.

On a terminal it is redrawn in place below the log, whose lines it never erases: while it is shown, everything that is
written to standard error goes through it. Without a terminal, Scrapy's log lines suffice. Rich is imported when there
is something to display, because the import takes a tenth of a second.
"""

from __future__ import annotations

import atexit
import io
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawlers.errors import CrawlersError
from crawlers.inputs.crawl_name import crawl_name
from crawlers.reports.progress_table import Pace, progress_table
from crawlers.spiders.base import SiteSpider
from crawlers.storage.database import Database
from crawlers.storage.news.documents import count_documents
from crawlers.storage.pulls import totals
from crawlers.storage.queries import crawl_named, progress

if TYPE_CHECKING:
    from typing import Self

    from rich.console import Console
    from scrapy.crawler import Crawler

PAUSE_FACTOR = 50  # the pause between two queries, as a multiple of the duration of the last one
RECENT_S = 10.0  # over which the pages per second are averaged
COMMIT_S = 1.0  # younger pages may not be committed yet


class AboveDisplay(io.TextIOBase):
    """A text stream that prints complete lines on *console*, above its live display."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun = ""  # an incomplete line

    def write(self, text: str) -> int:
        from rich.text import Text

        lines, end, rest = (self._begun + text).rpartition("\n")
        self._begun = rest
        if end:
            # The terminal wraps long lines, so that URLs can be copied from it.
            self._console.print(Text.from_ansi(lines), soft_wrap=True)
        return len(text)

    def isatty(self) -> bool:
        return True

    def finish(self) -> str:
        """Return the incomplete line, which is not printed yet."""
        begun, self._begun = self._begun, ""
        return begun


class Terminal:
    """The terminal at standard error, with a live display below the lines that are written to it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self.console = Console(file=sys.stderr)
        self._redirects = self.console.is_terminal
        # A display that was redrawn is removed at the end; where nothing can be redrawn, only the end is shown.
        self.live = Live(
            console=self.console,
            auto_refresh=False,
            transient=self._redirects,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._above = AboveDisplay(self.console)
        self._stderr = sys.stderr
        self._handlers: list[logging.StreamHandler[Any]] = []

    def start(self) -> None:
        """Show the display, also if the process ends unexpectedly."""
        self.live.start()
        if not self._redirects:
            return
        self.console.show_cursor(True)  # a kill would leave the terminal without one
        for handler in logging.root.handlers:
            # Scrapy's handler keeps the stream from before the display; logs in files are not concerned.
            if isinstance(handler, logging.StreamHandler) and handler.stream is self._stderr:
                handler.setStream(self._above)
                self._handlers.append(handler)
        sys.stderr = self._above
        atexit.register(self.stop)

    def stop(self) -> None:
        """Give standard error back; may be called twice."""
        atexit.unregister(self.stop)
        if sys.stderr is self._above:
            sys.stderr = self._stderr
        for handler in self._handlers:
            handler.setStream(self._stderr)
        self._handlers.clear()
        self.live.stop()
        self._stderr.write(self._above.finish())


class Progress:
    """Reads the store every *interval_s* seconds, independently of the crawl; *budget* pages are its limit."""

    def __init__(self, crawler: Crawler, interval_s: float, budget: int) -> None:
        self._crawler = crawler
        self._budget = budget
        self._interval_s = interval_s
        self._loop = create_looping_call(self._refresh)
        self._next_at = 0.0
        self._database: Database | None = None  # None: there is nothing to display

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        wanted = settings.get("PROGRESS_ENABLED")
        enabled = sys.stderr.isatty() if wanted in (None, "") else settings.getbool("PROGRESS_ENABLED")
        if not enabled or not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured
        budget = crawler.spider.crawl_spec().page_budget
        extension = cls(crawler, settings.getfloat("PROGRESS_INTERVAL_SECONDS"), budget)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        settings = self._crawler.settings
        name = crawl_name(settings, self._crawler.spider)
        try:
            database = Database(settings.get("DATABASE_URL"), create=False)
            self._crawl = crawl_named(database, name)
        except CrawlersError:
            return  # the crawl could not begin, and reports that itself
        self._database = database
        self._started = time.monotonic()
        self._terminal = Terminal()
        self._terminal.start()
        self._loop.start(self._interval_s)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
        if self._database is not None:
            self._show(self._database)
            self._terminal.stop()
            self._database.close()

    def _refresh(self) -> None:
        """Update the display, unless a query takes so long (millions of pages) that it would slow down the crawl."""
        now = time.monotonic()
        if now >= self._next_at and self._database is not None:
            self._show(self._database)
            took_s = time.monotonic() - now
            self._next_at = now + PAUSE_FACTOR * took_s

    def _show(self, database: Database) -> None:
        seconds = time.monotonic() - self._started
        window_s = min(RECENT_S, max(COMMIT_S, seconds))
        try:
            sites = progress(database, self._crawl.id, time.time() - COMMIT_S - window_s)
            used = totals(database, self._crawl.id)[0] if self._budget else 0
            documents = count_documents(database, self._crawl.id) if self._crawl.mission == "news" else None
        except CrawlersError:
            return  # the crawl finds the store broken as well, and reports that
        pages_per_s = sum(site.recent for site in sites) / window_s
        pace = Pace(seconds, pages_per_s, self._budget, used, documents)
        width, height = self._terminal.console.size
        self._terminal.live.update(progress_table(self._crawl, sites, pace, width, height), refresh=True)
