"""What people see of crawls at a glance: state, progress, speed, budget, errors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.storage.schema.tables import crawl, crawler_setting, page, site, worker
from crawlers.storage.worker_status import read_status
from crawlers.storage.workers import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

CRAWLS_AT_ONCE = 20


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
    workers: int  # active ones
    pages_per_s: float  # of the active workers, over the last minute
    sites: int
    counts: Mapping[State, int]  # URLs by state
    budget: int  # pages; 0: no limit
    used: int  # of the budget

    @property
    def requested(self) -> int:
        """The number of URLs that were requested and have ended."""
        return sum(self.counts[state] for state in (State.DONE, State.MOVED, State.REFUSED, State.FAILED))

    @property
    def errors(self) -> int:
        """The number of URLs whose responses are not pages, or that did not respond."""
        return self.counts[State.REFUSED] + self.counts[State.FAILED]

    @property
    def share(self) -> float | None:
        """How much of the budget is used, or else of the known URLs are done, from 0 to 1; None: nothing is known."""
        if self.budget:
            return min(1.0, self.used / self.budget)
        known = self.requested + self.counts[State.WAITING]
        return self.requested / known if known else None


def crawls_overview(database: Database, before: int | None = None) -> list[CrawlOverview]:
    """Return the latest crawls, at most `CRAWLS_AT_ONCE`, those with numbers below *before*. Raises `StoreError`."""
    statement = select(crawl.c.id).order_by(crawl.c.id.desc()).limit(CRAWLS_AT_ONCE)
    if before is not None:
        statement = statement.where(crawl.c.id < before)
    with database.read() as connection:
        return _overviews(connection, connection.execute(statement).scalars().all())


def crawl_overview(database: Database, crawl_id: int) -> CrawlOverview:
    """Return one crawl, which must exist. Raises `StoreError`."""
    with database.read() as connection:
        return _overviews(connection, [crawl_id])[0]


def _overviews(connection: Connection, crawl_ids: Sequence[int]) -> list[CrawlOverview]:
    counts: dict[int, Counter[State]] = {}
    by_state = (
        select(site.c.crawl_id, page.c.state, func.count())
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id.in_(crawl_ids))
        .group_by(site.c.crawl_id, page.c.state)
    )
    for crawl_id, state, number in connection.execute(by_state):
        counts.setdefault(crawl_id, Counter())[State(state)] = number
    of_sites = select(site.c.crawl_id, func.count()).where(site.c.crawl_id.in_(crawl_ids)).group_by(site.c.crawl_id)
    sites = {crawl_id: number for crawl_id, number in connection.execute(of_sites)}
    limits = select(crawler_setting.c.crawl_id, crawler_setting.c.value).where(
        crawler_setting.c.crawl_id.in_(crawl_ids), crawler_setting.c.name == "PAGE_BUDGET"
    )
    budgets = {crawl_id: int(value or 0) for crawl_id, value in connection.execute(limits)}
    workers: dict[int, list[tuple[str, float, int, str | None]]] = {}
    columns = (worker.c.crawl_id, worker.c.state, worker.c.beat_at, worker.c.used, worker.c.status)
    for crawl_id, *one in connection.execute(select(*columns).where(worker.c.crawl_id.in_(crawl_ids))):
        workers.setdefault(crawl_id, []).append((one[0], one[1], one[2], one[3]))
    rows = connection.execute(select(crawl).where(crawl.c.id.in_(crawl_ids)).order_by(crawl.c.id.desc()))
    found = []
    for row in rows:
        of_it = workers.get(row.id, [])
        active = [one for one in of_it if one[0] == ACTIVE]
        found.append(
            CrawlOverview(
                row.id,
                row.name,
                row.mission,
                row.state,
                row.reason,
                row.control,
                row.started_at,
                row.ended_at,
                max((beat_at for _, beat_at, _, _ in of_it), default=None),
                len(active),
                sum(read_status(status).pages_per_s for *_, status in active),
                sites.get(row.id, 0),
                counts.get(row.id, Counter()),
                budgets.get(row.id, 0),
                row.earlier_pulls + sum(used for _, _, used, _ in of_it),
            )
        )
    return found
