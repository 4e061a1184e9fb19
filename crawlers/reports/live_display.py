"""What people see of crawls at a glance, state, progress, speed, budget and errors; live at the terminal.

The live display is redrawn in place below the log, whose lines it never erases: while it is shown, everything that is
written to standard error goes through it. Rich is imported when there is something to display, because the import takes
a tenth of a second.
"""

from __future__ import annotations

import atexit
import logging
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from crawlers.errors import CrawlersError
from crawlers.files.csv_tables import cut
from crawlers.mission import mission_named
from crawlers.plurals import counted
from crawlers.reasons import Reason, end_of, sentence
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_named
from crawlers.store.reading.url_counts import COUNT_OF, UrlCounts, UrlKind, guesses_of, total, url_counts
from crawlers.store.schema.tables import crawl, crawler_setting, page, site, worker
from crawlers.store.sites.site_opening import PROBLEM, site_problem
from crawlers.store.worker_rows import ACTIVE, PAUSE, STOP, free_locks, read_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text
    from sqlalchemy.engine import Row

    from crawlers.reports.catalogue.report import Cells


class CrawlOverview(NamedTuple):
    """A crawl at a glance; times are seconds since 1970."""

    id: int
    name: str
    mission: str
    state: str
    reason: str | None  # why it stopped
    control: str | None  # what its workers are asked for
    started_at: float
    ended_at: float | None
    active_at: float | None  # when a worker reported last
    workers: int  # active ones whose processes live
    pages_per_s: float  # of the active workers, over the last minute
    sites: int
    budget: int  # pages; 0: no limit
    used: int  # of the budget
    counts: UrlCounts | None = None  # None: not counted

    @property
    def ending(self) -> str:
        """Why it stopped, in words where these are known; "" if there is no more to say than that it is finished."""
        return "" if self.reason == Reason.FINISHED else end_of(self.reason)

    @property
    def share(self) -> float | None:
        """How much of the budget is used, or else of the known URLs is done, from 0 to 1; None: nothing is known."""
        if self.budget:
            return min(1.0, self.used / self.budget)
        if self.counts is None:
            return None
        known = self.counts.requested + self.counts.waiting
        return self.counts.requested / known if known else None


def crawls_overview(database: Database, most: int, before: int = 0) -> list[CrawlOverview]:
    """Return the latest crawls, at most *most*, without counts; 0, or the number *before* which they are.

    Raises `StoreError`.
    """
    statement = select(crawl.c.id).order_by(crawl.c.id.desc()).limit(most)
    if before:
        statement = statement.where(crawl.c.id < before)
    return _overviews(database, database.scalars(statement))


def crawl_overview(database: Database, crawl_id: int) -> CrawlOverview:
    """Return one crawl, which must exist, without counts. Raises `StoreError`."""
    return _overviews(database, [crawl_id])[0]


def counts_of_crawl(database: Database, crawl_id: int, mission: str, *, with_deleted: bool) -> UrlCounts:
    """Return the counts of all sites of a crawl together, see `url_counts`. Raises `StoreError`."""
    is_site = page.c.site_id.in_(select(site.c.id).where(site.c.crawl_id == crawl_id))
    with database.read() as connection:
        return total(url_counts(connection, is_site, guesses_of(mission), with_deleted=with_deleted).values())


class SiteProgress(NamedTuple):
    """How far a site is."""

    site: str
    problem: str | None  # see `site_problem`
    counts: UrlCounts


def progress(database: Database, crawl_id: int, mission: str) -> list[SiteProgress]:
    """Return the progress of all sites of a crawl of a *mission*, by name. Raises `StoreError`."""
    of_crawl = site.c.crawl_id == crawl_id
    is_site = page.c.site_id.in_(select(site.c.id).where(of_crawl))
    with database.read() as connection:
        counts = url_counts(connection, is_site, guesses_of(mission), with_deleted=False)
        sites = connection.execute(select(site.c.id, site.c.site, *PROBLEM).where(of_crawl)).all()
    now = time.time()
    found = [SiteProgress(row.site, site_problem(row, now), counts.get(row.id, UrlCounts())) for row in sites]
    return sorted(found)


# The first fields of `CrawlOverview`, and what it sums up.
_OF_CRAWL = [crawl.c[name] for name in (*CrawlOverview._fields[:8], "earlier_pulls")]


def _overviews(database: Database, crawl_ids: Sequence[int]) -> list[CrawlOverview]:
    of_sites = select(site.c.crawl_id, func.count()).where(site.c.crawl_id.in_(crawl_ids)).group_by(site.c.crawl_id)
    limits = select(crawler_setting.c.crawl_id, crawler_setting.c.value).where(
        crawler_setting.c.crawl_id.in_(crawl_ids), crawler_setting.c.name == "PAGE_BUDGET"
    )
    columns = [worker.c[name] for name in ("id", "crawl_id", "state", "beat_at", "used", "status")]
    workers: dict[int, list[Row[Any]]] = {}
    with database.read() as connection:
        sites = {crawl_id: number for crawl_id, number in connection.execute(of_sites)}
        budgets = {crawl_id: int(value or 0) for crawl_id, value in connection.execute(limits)}
        for one in connection.execute(select(*columns).where(worker.c.crawl_id.in_(crawl_ids))):
            workers.setdefault(one.crawl_id, []).append(one)
        rows = connection.execute(select(*_OF_CRAWL).where(crawl.c.id.in_(crawl_ids)).order_by(crawl.c.id.desc())).all()
    dead = free_locks(database, [one.id for of_it in workers.values() for one in of_it if one.state == ACTIVE])
    found = []
    for row in rows:
        of_it = workers.get(row.id, [])
        active = [one for one in of_it if one.state == ACTIVE and one.id not in dead]
        further = (
            max((one.beat_at for one in of_it), default=None),
            len(active),
            sum(read_status(one.status).pages_per_s for one in active),
            sites.get(row.id, 0),
            budgets.get(row.id, 0),
            row.earlier_pulls + sum(one.used for one in of_it),
        )
        found.append(CrawlOverview._make((*row[:-1], *further, None)))
    return found


PAUSE_FACTOR = 50  # the pause between two queries, as a multiple of the duration of the last one
MAX_SITES = 15  # lines; the busiest are shown, the others are in the sums
FRAME_LINES = 4  # title, an empty line, headings, and the sums
WIDE = 110  # columns of a terminal in which all kinds of URLs have their own column
ASKED = {PAUSE: "paused", STOP: "stopping"}  # by the control of the crawl
_FEW = (UrlKind.PAGE, UrlKind.WAITING, UrlKind.ERROR, UrlKind.NOT_PAGE)


class Terminal:
    """The terminal at standard error, with a live display below the lines that are written to it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        # The terminal wraps long lines, so that URLs can be copied from it.
        self.console = Console(file=sys.stderr, soft_wrap=True, markup=False, highlight=False, emoji=False)
        self._redirects = self.console.is_terminal
        # A display that was redrawn is removed at the end; where nothing can be redrawn, only the end is shown.
        self.live = Live(
            console=self.console,
            auto_refresh=False,
            transient=self._redirects,
            redirect_stdout=False,
        )
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
                handler.setStream(sys.stderr)
                self._handlers.append(handler)
        atexit.register(self.stop)

    def stop(self) -> None:
        """Give standard error back; may be called twice."""
        atexit.unregister(self.stop)
        for handler in self._handlers:
            handler.setStream(self._stderr)
        self._handlers.clear()
        try:
            sys.stderr.flush()  # a line that is not complete
        finally:
            self.live.stop()


class LiveDisplay:
    """The display of the crawl *name*, from construction until `close`. Raises `ConfigError` if it is not stored."""

    def __init__(self, database_url: str, name: str) -> None:
        self._database = Database(database_url, create=False)
        try:
            self._crawl_id = crawl_named(self._database, name).id
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
        with closing(self._database):
            self._show()
            self._terminal.stop()

    def _show(self) -> None:
        database, seconds = self._database, time.monotonic() - self._started
        try:
            crawl = crawl_overview(database, self._crawl_id)
            sites = progress(database, crawl.id, crawl.mission)
            found = mission_named(crawl.mission).part("results")
            results = found(database, crawl.id) if found is not None else ""
        except CrawlersError:
            return  # the crawl finds the store broken as well, and reports that
        width, height = self._terminal.console.size
        table = progress_table(title(crawl, seconds, results), sites, width, height)
        self._terminal.live.update(table, refresh=True)


def progress_table(title: str, sites: Sequence[SiteProgress], width: int = 160, height: int = 50) -> Text:
    """Return the table for a terminal of *width* columns and *height* lines, of which it takes half.

    The busiest sites are lines, and the last line has the sums.
    """
    from rich.text import Text

    kinds = COUNT_OF if width >= WIDE else _FEW
    columns = (
        Column("site", "site"),
        *(Column(COUNT_OF[kind], COUNT_OF[kind].replace("_", " "), Kind.COUNT) for kind in kinds),
        Column("level", "level", Kind.NUMBER),
        Column("problem", "problem"),
    )

    def counts(of: UrlCounts) -> list[int]:
        numbers = of._asdict()
        return [numbers[COUNT_OF[kind]] for kind in kinds]

    most = max(1, min(MAX_SITES, height // 2 - FRAME_LINES - len(title) // width))
    busiest = sorted(sites, key=lambda one: (-one.counts.waiting, -one.counts.requested, one.site))
    longest = width // (4 if width < 80 else 3)
    rows: list[Cells] = [
        (cut(one.site.removeprefix("http://"), longest), *counts(one.counts), one.counts.deepest, sentence(one.problem))
        for one in busiest[:most]
    ]
    sums = counts(total(one.counts for one in sites))
    problems = sum(one.problem is not None for one in sites)
    rows.append((counted(len(sites), "site"), *sums, None, counted(problems, "problem") if problems else None))
    lines = [title, "", *(cut(line, width) for line in text_table(columns, rows).split("\n"))]
    return Text("\n".join(lines), no_wrap=False, overflow="fold")  # only the title is longer than a line


def title(crawl: CrawlOverview, seconds: float, results: str = "") -> str:
    """Return how fast a crawl proceeds, how far it is after *seconds*, and the *results* of its mission."""
    name = crawl.mission if crawl.name == crawl.mission else f"{crawl.mission} “{crawl.name}”"
    parts = [name, f"{seconds:,.0f} s", f"{crawl.pages_per_s:.1f} pages/s"]
    if crawl.control in ASKED:
        parts.insert(1, ASKED[crawl.control])
    if crawl.workers > 1:
        parts.append(counted(crawl.workers, "worker"))
    if crawl.budget:
        parts.append(f"{crawl.used:,} of {counted(crawl.budget, 'page')} of the budget")
    if results:
        parts.append(results)
    return ", ".join(parts)
