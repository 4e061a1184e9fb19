"""A live display of a crawl at the terminal, read from the store.

It is redrawn in place below the log, whose lines it never erases: while it is shown, everything that is written to
standard error goes through it. Rich is imported when there is something to display, because the import takes a tenth of
a second.
"""

from __future__ import annotations

import atexit
import io
import logging
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.algorithms.plurals import counted
from crawlers.errors import CrawlersError
from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.reports.catalogue.renderers import cut, text_table
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.storage.crawl_settings import settings_of
from crawlers.storage.database import Database
from crawlers.storage.news.documents import count_documents
from crawlers.storage.pulls import totals
from crawlers.storage.queries import crawl_named, progress
from crawlers.storage.worker_queries import standing
from crawlers.storage.workers import PAUSE, STOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from crawlers.reports.catalogue.table import Cells
    from crawlers.storage.queries import NamedCrawl, SiteProgress

PAUSE_FACTOR = 50  # the pause between two queries, as a multiple of the duration of the last one
RECENT_S = 10.0  # over which the pages per second are averaged
COMMIT_S = 1.0  # younger pages may not be committed yet
MAX_SITES = 15  # lines; the busiest are shown, the others are in the sums
FRAME_LINES = 4  # title, an empty line, headings, and the sums
WIDE = 110  # columns of a terminal in which all states have their own column
ASKED = {PAUSE: "paused", STOP: "stopping"}  # by the control of the crawl
_HEADINGS = {State.DONE: "pages"}
_ALL = (State.DONE, State.WAITING, State.MOVED, State.REFUSED, State.FAILED, State.REJECTED)
_FEW = (State.DONE, State.WAITING, State.REFUSED, State.FAILED)


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


class LiveDisplay:
    """The display of the crawl *name*, from construction until `close`. Raises `ConfigError` if it is not stored."""

    def __init__(self, database_url: str, name: str) -> None:
        self._database = Database(database_url, create=False)
        try:
            self._crawl = crawl_named(self._database, name)
            self._budget = int(settings_of(self._database, self._crawl.id).get("PAGE_BUDGET") or 0)
        except BaseException:
            self._database.close()
            raise
        self._next_at = 0.0
        self._started = time.monotonic()
        self._terminal = Terminal()
        self._terminal.start()

    def refresh(self) -> None:
        """Update the display, unless a query takes so long (millions of pages) that it would slow down the crawl."""
        now = time.monotonic()
        if now >= self._next_at:
            self._show()
            took_s = time.monotonic() - now
            self._next_at = now + PAUSE_FACTOR * took_s

    def close(self) -> None:
        """Show the end of the crawl, and give the terminal back."""
        self._show()
        self._terminal.stop()
        self._database.close()

    def _show(self) -> None:
        database, crawl = self._database, self._crawl
        seconds = time.monotonic() - self._started
        window_s = min(RECENT_S, max(COMMIT_S, seconds))
        try:
            sites = progress(database, crawl.id, time.time() - COMMIT_S - window_s)
            used = totals(database, crawl.id)[0] if self._budget else 0
            documents = count_documents(database, crawl.id) if crawl.mission == "news" else None
            workers, control = standing(database, crawl.id)
        except CrawlersError:
            return  # the crawl finds the store broken as well, and reports that
        pages_per_s = sum(site.recent for site in sites) / window_s
        pace = Pace(seconds, pages_per_s, self._budget, used, documents, workers, control)
        width, height = self._terminal.console.size
        self._terminal.live.update(progress_table(crawl, sites, pace, width, height), refresh=True)


class Pace(NamedTuple):
    """How fast a crawl proceeds, and how far it is."""

    seconds: float  # of this run
    pages_per_s: float = 0.0  # recently
    budget: int = 0  # PAGE_BUDGET; 0: no limit
    used: int = 0  # of the budget
    documents: int | None = None  # None: the crawl collects none
    workers: int = 1  # active ones
    control: str | None = None  # what they are asked for


def progress_table(
    crawl: NamedCrawl, sites: Sequence[SiteProgress], pace: Pace, width: int = 160, height: int = 50
) -> Text:
    """Return the table for a terminal of *width* columns and *height* lines, of which it takes half.

    The busiest sites are lines, and the last line has the sums.
    """
    from rich.text import Text

    title = _title(crawl, pace)
    states = _ALL if width >= WIDE else _FEW
    columns = (
        Column("site", "site"),
        *(Column(state.name, _HEADINGS.get(state, state.name.lower()), Kind.COUNT) for state in states),
        Column("level", "level", Kind.NUMBER),
        Column("problem", "problem"),
    )
    most = max(1, min(MAX_SITES, height // 2 - FRAME_LINES - len(title) // width))
    busiest = sorted(sites, key=lambda s: (-s.counts.get(State.WAITING, 0), -sum(s.counts.values()), s.site))
    longest = width // (4 if width < 80 else 3)
    rows: list[Cells] = [
        (
            cut(site.site.removeprefix("http://"), longest),
            *(site.counts.get(state, 0) for state in states),
            site.level,
            sentence(site.problem),
        )
        for site in busiest[:most]
    ]
    sums = (sum(site.counts.get(state, 0) for site in sites) for state in states)
    problems = sum(site.problem is not None for site in sites)
    rows.append((counted(len(sites), "site"), *sums, None, counted(problems, "problem") if problems else None))
    return Text("\n".join([title, "", *(cut(line, width) for line in text_table(columns, rows).split("\n"))]))


def _title(crawl: NamedCrawl, pace: Pace) -> str:
    name = crawl.mission if crawl.name == crawl.mission else f"{crawl.mission} “{crawl.name}”"
    parts = [name, f"{pace.seconds:,.0f} s", f"{pace.pages_per_s:.1f} pages/s"]
    if pace.control in ASKED:
        parts.insert(1, ASKED[pace.control])
    if pace.workers > 1:
        parts.append(counted(pace.workers, "worker"))
    if pace.budget:
        parts.append(f"{pace.used:,} of {counted(pace.budget, 'page')} of the budget")
    if pace.documents is not None:
        parts.append(counted(pace.documents, "document"))
    return ", ".join(parts)
