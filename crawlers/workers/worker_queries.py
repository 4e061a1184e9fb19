"""What people ask of the workers of a crawl, and what they read about them. None of it needs a worker's process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import false, func, literal_column, select

from crawlers.items import State
from crawlers.store.locks import free_locks
from crawlers.store.reading.crawls import RUNNING
from crawlers.store.schema.tables import crawl, page, site, worker
from crawlers.store.sites.site_rows import NO_ROBOTS
from crawlers.store.worker_rows import ACTIVE, STOP, ask, budget_of, server_time
from crawlers.store.worker_status import WorkerStatus, read_status
from crawlers.workers.exchange import has_work

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlers.store.database import Database


class WorkerLine(NamedTuple):
    """A worker of a crawl; times are seconds since 1970 by the clock of the server."""

    number: int
    machine: str
    process: int
    state: str
    joined_at: float
    beat_at: float
    ended_at: float | None
    granted: int  # pulls of the page budget
    used: int
    pages: int
    leases: int
    sites: int
    status: WorkerStatus


class CrawlWorkers(NamedTuple):
    """The workers of a crawl at the time *now* of the server."""

    now: float
    control: str | None
    workers: list[WorkerLine]
    free_sites: int  # with something to do, as a worker that claims sites sees it, that no worker holds
    budget: int  # pages; 0: no limit
    used: int  # of the budget, in all runs
    dead: Collection[int] = ()  # numbers of active workers whose processes have ended, however they ended


class SiteLine(NamedTuple):
    """A site of a crawl, and what is known of its next request."""

    site: str
    worker: int | None
    is_open: bool  # named by today's input
    waiting: int  # URLs
    resting: int  # of them, those that wait for another attempt
    retry_at: float | None  # the first of these attempts
    rest_until: float | None  # the host requested a pause, or could not be reached
    has_robots: bool  # its robots.txt could be read
    is_budget_used: bool  # all pages of the crawl's budget


def workers_of(database: Database, crawl_id: int) -> CrawlWorkers:
    """Return all workers of a crawl by number, those of earlier runs, too. Raises `StoreError`."""
    held = (
        select(site.c.worker_id, func.count().label("sites"))
        .where(site.c.crawl_id == crawl_id, site.c.is_open, site.c.worker_id.is_not(None))
        .group_by(site.c.worker_id)
        .subquery()
    )
    columns = [worker.c[name] for name in WorkerLine._fields if name not in ("number", "sites", "status")]
    rows = (
        select(worker.c.id, *columns, func.coalesce(held.c.sites, 0), worker.c.status)
        .outerjoin(held, held.c.worker_id == worker.c.id)
        .where(worker.c.crawl_id == crawl_id)
        .order_by(worker.c.id)
    )
    is_free = (site.c.crawl_id == crawl_id, site.c.is_open, site.c.worker_id.is_(None))
    free = select(func.count()).where(*is_free, has_work(site))
    with database.read() as connection:
        control = connection.execute(select(crawl.c.control).where(crawl.c.id == crawl_id)).scalar()
        found = [WorkerLine._make(row)._replace(status=read_status(row[-1])) for row in connection.execute(rows)]
        free_sites = connection.execute(free).scalar_one()
        workers = CrawlWorkers(server_time(connection), control, found, free_sites, *budget_of(connection, crawl_id))
    return workers._replace(dead=free_locks(database, [one.number for one in found if one.state == ACTIVE]))


def sites_with_workers(database: Database, crawl_id: int) -> tuple[float, list[SiteLine]]:
    """Return the time of the server, and all sites of a crawl that are not done, by name. Raises `StoreError`."""
    of_crawl = page.c.site_id.in_(select(site.c.id).where(site.c.crawl_id == crawl_id))
    waiting = (
        select(page.c.site_id, func.count().label("urls"))
        .where(of_crawl, page.c.state == int(State.WAITING))
        .group_by(page.c.site_id)
        .subquery()
    )
    # Those of all crawls, and no parameter, so that the index of these few pages is read: page_retry.
    rests = (
        select(page.c.site_id, func.count().label("urls"), func.min(page.c.retry_at).label("retry_at"))
        .where(page.c.state == literal_column(str(int(State.WAITING))), page.c.retry_at.is_not(None))
        .group_by(page.c.site_id)
        .subquery()
    )
    rows = (
        select(
            site.c.site,
            site.c.worker_id,
            site.c.is_open,
            func.coalesce(waiting.c.urls, 0),
            func.coalesce(rests.c.urls, 0),
            rests.c.retry_at,
            site.c.rest_until,
            func.coalesce(~NO_ROBOTS, false()),
        )
        .outerjoin(waiting, waiting.c.site_id == site.c.id)
        .outerjoin(rests, rests.c.site_id == site.c.id)
        .where(site.c.crawl_id == crawl_id, (waiting.c.urls > 0) | site.c.worker_id.is_not(None))
        .order_by(site.c.site)
    )
    with database.read() as connection:
        budget, used = budget_of(connection, crawl_id)
        return server_time(connection), [SiteLine._make((*row, 0 < budget <= used)) for row in connection.execute(rows)]


def time_of_server(database: Database) -> float:
    """Return the time in seconds since 1970, by the clock that all workers of the database share."""
    with database.read() as connection:
        return server_time(connection)


class ProcessRow(NamedTuple):
    """What the store knows of a process that works on a crawl, or did."""

    worker: int  # its number; the last one, if it joined several times
    crawl_id: int
    pages: int  # under all its numbers


def processes_of(database: Database, machine: str, processes: Collection[int], since: float) -> dict[int, ProcessRow]:
    """Return what is known of those of *processes* of *machine* that joined a crawl *since* a time of the server."""
    joined = (
        select(worker.c.process, func.max(worker.c.id), func.max(worker.c.crawl_id), func.sum(worker.c.pages))
        .where(worker.c.machine == machine, worker.c.process.in_(processes), worker.c.joined_at >= since)
        .group_by(worker.c.process)
    )
    return {row[0]: ProcessRow(row[1], row[2], int(row[3])) for row in database.rows(joined)}


class Course(NamedTuple):
    """What becomes of a crawl."""

    goes_on: bool = True  # it is running, and is not being stopped
    is_running: bool = True  # nobody has recorded its end


def course(database: Database, crawl_id: int) -> Course:
    """Return what becomes of a crawl; one that is not in the store has ended."""
    of_crawl = select(crawl.c.state == RUNNING, crawl.c.control.is_distinct_from(STOP)).where(crawl.c.id == crawl_id)
    is_running, is_wanted = next(iter(database.rows(of_crawl)), (False, False))
    return Course(bool(is_running and is_wanted), bool(is_running))


def set_control(database: Database, crawl_id: int, control: str | None) -> bool:
    """Ask the workers of a crawl to pause, to stop, or, with None, to go on; return whether they are asked now.

    Nothing is asked of a crawl that has ended, or that is stopping already. Raises `StoreError`.
    """
    with database.write() as connection:
        now = select(crawl.c.state, crawl.c.control).where(crawl.c.id == crawl_id).with_for_update()
        state, before = connection.execute(now).one()
        if state != RUNNING or before == STOP:
            return False
        ask(connection, crawl_id, control)
        return True


def crawl_begun_since(database: Database, name: str, since: float) -> int | None:
    """Return the number of the crawl *name* that began or was resumed *since* a time of the server, or None."""
    begun = select(crawl.c.id).where(crawl.c.name == name, crawl.c.run_started_at >= since).order_by(crawl.c.id.desc())
    found: int | None = database.scalar(begun.limit(1))
    return found
