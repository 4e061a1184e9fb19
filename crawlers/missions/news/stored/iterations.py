"""Counts the results of a news crawl per iteration, in the transactions of the pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select, text

from crawlers.items import State
from crawlers.missions.news.news_items import CHANGED, NEW, news_of
from crawlers.missions.news.plan.iteration_counts import Day, Iteration
from crawlers.missions.news.stored.news_tables import IterationRow, document, iteration
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


class Iterations:
    """Counts the downloads of the crawl *crawl_id*, for all its workers together.

    An iteration ends after *most_pages* downloads; 0 = no such limit.
    """

    def __init__(self, crawl_id: int, most_pages: int) -> None:
        self._crawl_id = crawl_id
        self._most_pages = most_pages

    def count(self, page: Page, changes: ChangeSet, now: float, *, is_revisit: bool) -> None:
        """Count *page*, whose lease ends, in its *changes*.

        *is_revisit*: the page was fetched before.
        """
        if page.state is State.REJECTED:  # it was never requested
            return
        news = news_of(page)
        outcome = news.outcome if news is not None else ""
        if page.state in (State.REFUSED, State.FAILED):
            kind = "errors"
        elif is_revisit or (news is not None and news.kind):
            kind = "polls"
        else:
            kind = "fit" if news is not None and news.fits else "not_fit"
        documents = (outcome == NEW, outcome not in ("", NEW, CHANGED))
        changes.add(CountedPage(self._crawl_id, now, self._most_pages, kind, *documents))


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
                last = Iteration(1, row.at, row.at)
            elif last.is_full(row.most_pages):
                last = Iteration(last.number + 1, row.at, row.at, total_documents=last.total_documents)
            last = changed[last.number] = last.after(row.kind, row.at, is_new=row.is_new, is_copy=row.is_copy)
            if last.is_full(row.most_pages):
                logger.info("%s", last)
        write_changes(connection, ChangeSet(*(IterationRow(crawl_id, *one) for one in changed.values())))


@written_by(iteration, UPDATE, count_pages)
class CountedPage(NamedTuple):
    """A download, to be counted in the iteration of its crawl."""

    crawl_id: int
    at: float
    most_pages: int  # of an iteration; 0 = any number
    kind: str  # fit, not_fit, polls, errors
    is_new: bool  # a new document
    is_copy: bool  # of a document


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
    return select(*(iteration.c[name] for name in Iteration._fields)).where(iteration.c.crawl_id == crawl_id)
