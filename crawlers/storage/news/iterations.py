"""Counts the results of a news crawl per iteration, in the transactions of the pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from crawlers.algorithms.news.iteration_counts import Day, Iteration
from crawlers.items import CHANGED, NEW, State
from crawlers.storage.news.documents import count_documents
from crawlers.storage.schema.news_tables import IterationRow, document, iteration
from crawlers.storage.schema.tables import site

if TYPE_CHECKING:
    from sqlalchemy import Select

    from crawlers.items import Page
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database

logger = logging.getLogger(__name__)

DAY_S = 86_400


class Iterations:
    """Counts the downloads of a crawl; continues an iteration that an earlier run left unfinished.

    An iteration ends after *most_pages* downloads or *most_s* seconds; 0 = no such limit.
    """

    def __init__(self, database: Database, crawl_id: int, most_pages: int, most_s: float) -> None:
        self._crawl_id = crawl_id
        self._most_pages = most_pages
        self._most_s = most_s
        last = last_iteration(database, crawl_id)
        self._now = last or Iteration(0, 0.0, 0.0)
        self._total = count_documents(database, crawl_id) if last is None else last.total_documents
        self._is_over = self._now.number == 0 or self._is_full

    @property
    def _is_full(self) -> bool:
        return 0 < self._most_pages <= self._now.pages

    def count(self, page: Page, changes: ChangeSet, now: float, *, is_revisit: bool) -> None:
        """Count *page*, whose lease ends, and add the row of the iteration to its *changes*.

        *is_revisit*: the page was fetched before.
        """
        if page.state is State.REJECTED:  # it was never requested
            return
        # Also over if the clock was set back.
        if not self._is_over and self._most_s and not 0.0 <= now - self._now.began_at < self._most_s:
            self._end()
        if self._is_over:
            self._now = Iteration(self._now.number + 1, now, now)
            self._is_over = False
        self._now = self._with(page, now, is_revisit)
        changes.add(IterationRow(self._crawl_id, *self._now))
        if self._is_full:
            self._end()

    def _with(self, page: Page, now: float, is_revisit: bool) -> Iteration:
        fit, not_fit, polls, errors, documents, duplicates = self._now[3:9]
        news = page.news
        if page.state in (State.REFUSED, State.FAILED):
            errors += 1
        elif is_revisit or (news is not None and news.kind):
            polls += 1
        elif news is not None and news.fits:
            fit += 1
        else:
            not_fit += 1
        outcome = news.outcome if news is not None else ""
        is_new = outcome == NEW
        self._total += is_new
        counts = (fit, not_fit, polls, errors, documents + is_new, duplicates + (outcome not in ("", NEW, CHANGED)))
        return Iteration(self._now.number, self._now.began_at, now, *counts, self._total)

    def _end(self) -> None:
        self._is_over = True
        logger.info("%s", self._now)


def last_iteration(database: Database, crawl_id: int) -> Iteration | None:
    """Return the latest iteration of a crawl, which may be unfinished."""
    statement = _of_crawl(crawl_id).order_by(iteration.c.number.desc()).limit(1)
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    return None if row is None else Iteration(*row)


def iterations_of(database: Database, crawl_id: int) -> list[Iteration]:
    """Return all iterations of a crawl, in order."""
    with database.read() as connection:
        return [Iteration(*row) for row in connection.execute(_of_crawl(crawl_id).order_by(iteration.c.number))]


def days_of(database: Database, crawl_id: int) -> list[Day]:
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
    with database.read() as connection:
        for day, documents in connection.execute(statement):
            before = days[-1].total_documents if days else 0
            days.append(Day(float(day) * DAY_S, documents, before + documents))
    return days


def _of_crawl(crawl_id: int) -> Select[Any]:
    return select(*(iteration.c[name] for name in Iteration._fields)).where(iteration.c.crawl_id == crawl_id)
