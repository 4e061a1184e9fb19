"""Counts the results of a news crawl by iteration and by day, in the transactions of the pages."""

from __future__ import annotations

import logging
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, text

from crawlers.items import State
from crawlers.missions.news.news_items import DUPLICATE, NEW, News, news_of
from crawlers.missions.news.stored.news_tables import IterationRow, document, iteration
from crawlers.plurals import counted
from crawlers.store.schema.rows import UPDATE, written_by
from crawlers.store.schema.tables import site
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select

    from crawlers.items import Page
    from crawlers.store.database import Database

logger = logging.getLogger(__name__)

DAY_S = 86_400
KINDS = ("fit", "not_fit", "polls", "errors")  # of downloads
MOST_DISORDER_S = 60.0  # between the times of pages of several workers in the order in which they are stored
SUMMED = (*KINDS, "documents", "duplicates")


class Iteration(IterationRow):
    """The counts of one iteration, a number of pages."""

    __slots__ = ()

    def is_full(self, most_pages: int) -> bool:
        """Return whether it has all its pages; 0 = it never has."""
        return 0 < most_pages <= self.pages

    def after(self, kind: str, now: float, *, is_new: bool, is_copy: bool) -> Iteration:
        """Return the iteration with one more download of a *kind*, one of `KINDS`, which ended at *now*.

        *is_new*: it is a new document; *is_copy*: it is a copy of one.

        >>> Iteration(7, 1, 0.0, 0.0).after("fit", 2.0, is_new=True, is_copy=False)[4:]
        (1, 0, 0, 0, 1, 0, 1)
        """
        counts = {name: value + (name == kind) for name, value in self._asdict().items() if name in KINDS}
        counts |= {"documents": self.documents + is_new, "duplicates": self.duplicates + is_copy}
        ended_at = max(now, self.ended_at) if now >= self.began_at - MOST_DISORDER_S else now
        return self._replace(ended_at=ended_at, total_documents=self.total_documents + is_new, **counts)

    @property
    def pages(self) -> int:
        """The number of downloads of any kind.

        >>> Iteration(7, 1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1).pages
        60
        """
        return self.fit + self.not_fit + self.polls + self.errors

    @property
    def useful_share(self) -> float:
        """New documents per download, not counting polls, which are the cost of being early.

        >>> Iteration(7, 1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1, documents=5).useful_share
        0.5
        """
        return self.documents / max(1, self.fit + self.not_fit + self.errors)

    def __str__(self) -> str:
        polls, errors = counted(self.polls, "poll"), counted(self.errors, "error")
        return (
            f"Iteration {self.number}: {counted(self.pages, 'download')} in {self.ended_at - self.began_at:,.0f} s "
            f"({self.fit:,} fit, {self.not_fit:,} not fit, {polls}, {errors}), "
            f"{counted(self.documents, 'new document')} ({self.useful_share:.0%} of the downloads without polls), "
            f"{counted(self.duplicates, 'duplicate')}; {counted(self.total_documents, 'document')} in total"
        )


class Day(NamedTuple):
    """The results of one day of a crawl."""

    began_at: float
    documents: int  # new ones
    total_documents: int  # at the end of the day

    @property
    def ratio(self) -> float:
        """The share of the day's new documents in the total at its end.

        >>> Day(0.0, 5, 20).ratio
        0.25
        """
        return self.documents / self.total_documents


def merged(iterations: Sequence[Iteration], most: int) -> list[Iteration]:
    """Return at most *most* >= 1 iterations, each the sum of equally many adjacent ones; the last may have fewer.

    >>> [sums.fit for sums in merged([Iteration(7, n, n - 1.0, n, fit=n) for n in range(1, 6)], 3)]
    [3, 7, 5]
    """
    width = max(1, -(-len(iterations) // most))
    groups = groupby(iterations, key=lambda iteration: (iteration.number - 1) // width)
    return [_sum(list(group)) for _, group in groups]


def _sum(group: Sequence[Iteration]) -> Iteration:
    first, last = group[0], group[-1]
    sums = {name: sum(getattr(iteration, name) for iteration in group) for name in SUMMED}
    return last._replace(began_at=first.began_at, **sums)


def count_pages(connection: Connection, rows: Sequence[CountedPage]) -> None:
    """Add pages to the iterations of their crawls, in order; other workers wait until the transaction ends."""
    for crawl_id in sorted({row.crawl_id for row in rows}):
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('iteration'), :crawl)"), {"crawl": crawl_id})
        latest = _of_crawl(crawl_id).order_by(iteration.c.number.desc()).limit(1)
        stored = connection.execute(latest).one_or_none()
        last = None if stored is None else Iteration(*stored)
        changed: dict[int, Iteration] = {}
        for row in rows:
            if row.crawl_id != crawl_id:
                continue
            if last is None:
                last = Iteration(crawl_id, 1, row.at, row.at)
            elif last.is_full(row.most_pages):
                last = Iteration(crawl_id, last.number + 1, row.at, row.at, total_documents=last.total_documents)
            last = changed[last.number] = last.after(row.kind, row.at, is_new=row.is_new, is_copy=row.is_copy)
            if last.is_full(row.most_pages):
                logger.info("%s", last)
        write_changes(connection, ChangeSet(*(IterationRow(*one) for one in changed.values())))


@written_by(iteration, UPDATE, count_pages)
class CountedPage(NamedTuple):
    """A download, to be counted in the iteration of its crawl."""

    crawl_id: int
    at: float
    most_pages: int  # of an iteration; 0 = any number
    kind: str  # fit, not_fit, polls, errors
    is_new: bool  # a new document
    is_copy: bool  # of a document


def counted_page(crawl_id: int, most_pages: int, page: Page, now: float, *, is_revisit: bool) -> Sequence[CountedPage]:
    """Return the row that counts *page*, whose lease ends, in an iteration of *most_pages*; none if it was no download.

    *is_revisit*: the page was fetched before. The workers of a crawl count together.
    """
    if page.state is State.REJECTED:  # it was never requested
        return ()
    news = news_of(page) or News()
    if page.state in (State.REFUSED, State.FAILED):
        kind = "errors"
    elif is_revisit or news.kind:
        kind = "polls"
    else:
        kind = "fit" if news.fits else "not_fit"
    documents = (news.outcome == NEW, news.outcome == DUPLICATE)
    return (CountedPage(crawl_id, now, most_pages, kind, *documents),)


def last_iteration(database: Database, crawl_id: int) -> Iteration | None:
    """Return the latest iteration of a crawl, which may be unfinished."""
    rows = database.rows(_of_crawl(crawl_id).order_by(iteration.c.number.desc()).limit(1))
    return Iteration(*rows[0]) if rows else None


def stored_iterations(connection: Connection, crawl_id: int) -> list[Iteration]:
    """Return all iterations of a crawl, in order."""
    return [Iteration(*row) for row in connection.execute(_of_crawl(crawl_id).order_by(iteration.c.number))]


def stored_days(connection: Connection, crawl_id: int) -> list[Day]:
    """Return the days (UTC) on which a crawl stored new documents, in order."""
    number = func.floor(document.c.stored_at / DAY_S)
    statement = (
        select(number, func.count())
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .group_by(number)
        .order_by(number)
    )
    days: list[Day] = []
    for day, documents in connection.execute(statement):
        before = days[-1].total_documents if days else 0
        days.append(Day(float(day) * DAY_S, documents, before + documents))
    return days


def _of_crawl(crawl_id: int) -> Select[Any]:
    return select(iteration).where(iteration.c.crawl_id == crawl_id)
