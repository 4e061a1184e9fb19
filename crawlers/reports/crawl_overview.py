"""What people see of crawls at a glance: state, progress, speed, budget, errors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from crawlers.reasons import Reason, end_of
from crawlers.store.locks import free_locks
from crawlers.store.reading.url_counts import UrlCounts, guesses_of, total, url_counts
from crawlers.store.schema.tables import crawl, crawler_setting, page, site, worker
from crawlers.store.sites.site_rows import PROBLEM, site_problem
from crawlers.store.worker_rows import ACTIVE, read_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Row

    from crawlers.store.database import Database


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
