"""What people ask of the workers of a crawl, and the tables in which they read about them (`scrapy workers`).

None of it needs a worker's process.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import false, func, literal_column, select

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.options import SETTINGS
from crawlers.plurals import counted, plural
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.histories.history import Count, Said, said, sentence
from crawlers.reports.live_display import ASKED
from crawlers.store.reading.crawls import FINISHED, RUNNING
from crawlers.store.schema.tables import crawl, page, site, worker
from crawlers.store.sites.site_opening import NO_ROBOTS
from crawlers.store.worker_rows import (
    ACTIVE,
    LEFT,
    LONE_DEADLINES,
    LOST,
    PAUSE,
    STOP,
    Wait,
    WorkerStatus,
    ask,
    budget_of,
    finisher,
    free_locks,
    read_status,
    server_time,
)
from crawlers.workers.exchange import has_work

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from crawlers.files.csv_tables import Value
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl


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
    deadline_s: float | None = None  # without a heartbeat, until the server takes a worker for dead; None: for ever

    @property
    def active(self) -> list[WorkerLine]:
        """Those that have neither left nor been declared lost."""
        return [one for one in self.workers if one.state == ACTIVE]


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


def workers_of(
    database: Database, crawl_id: int, deadline_s: float = SETTINGS["WORKER_DEADLINE_SECONDS"].default
) -> CrawlWorkers:
    """Return all workers of a crawl by number, those of earlier runs, too. Raises `StoreError`.

    *deadline_s*: their WORKER_DEADLINE_SECONDS, which the store does not know.
    """
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
        has_limit = not database.is_sqlite and finisher(connection, crawl_id) is None
    active = [one.number for one in workers.active]
    limit_s = deadline_s * (LONE_DEADLINES if len(active) == 1 else 1) if has_limit else None
    return workers._replace(dead=free_locks(database, active), deadline_s=limit_s)


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
    is_running: bool  # nobody has recorded the end of the crawl
    goes_on: bool  # and nobody has asked to stop it


def process_row(database: Database, machine: str, process: int, age_s: float) -> ProcessRow | None:
    """Return what is known of a process of *machine*, which is at most *age_s* old; None: it has not joined a crawl."""
    with database.read() as connection:
        its = (worker.c.machine == machine, worker.c.process == process)
        new = worker.c.joined_at >= server_time(connection) - age_s  # an earlier process may have had the number
        joined = select(func.max(worker.c.id), func.max(worker.c.crawl_id), func.sum(worker.c.pages)).where(*its, new)
        number, crawl_id, pages = connection.execute(joined).one()
        course = select(crawl.c.state == RUNNING, crawl.c.control.is_distinct_from(STOP)).where(crawl.c.id == crawl_id)
        is_running, is_wanted = connection.execute(course).one_or_none() or (False, False)
    return None if number is None else ProcessRow(number, crawl_id, int(pages), is_running, is_running and is_wanted)


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


SILENT_S = 15.0  # without a heartbeat, of which there is one each second, until people are told
_BUDGET = (Column("granted", "granted", Kind.COUNT), Column("used", "used", Kind.COUNT))
WORKERS = (
    Column("worker", "worker", Kind.NUMBER),
    Column("machine", "machine"),
    Column("process", "process", Kind.NUMBER),
    Column("state", "state", Kind.SAID),
    Column("since", "since (UTC)", Kind.TIME),
    Column("sites", "sites", Kind.COUNT),
    Column("pages", "pages", Kind.COUNT),
    Column("pages_per_s", "pages/s", Kind.DECIMAL),
    Column("leases", "leases", Kind.COUNT),
    *_BUDGET,  # if the crawl has one
    Column("waits", "what its sites wait for", Kind.SAID),
)
SITES = (
    Column("site", "site"),
    Column("worker", "worker"),
    Column("waiting", "waiting URLs", Kind.COUNT),
    Column("waits", "waits for", Kind.SAID),
)
Row = tuple["Value | tuple[Said, ...]", ...]


def worker_lines(crawl: NamedCrawl, found: CrawlWorkers, *, with_ended: bool = False) -> list[str]:
    """Return the lines about the workers of *crawl*: a heading, a table, and what a person should know of them.

    *with_ended*: those that left or were lost are in the table, too.
    """
    active, shown = found.active, found.workers if with_ended else found.active
    lines = [_heading(crawl, active, found.control) if active else sentence(nobody_works(crawl, found))]
    if not shown:
        return lines
    lines += ["", text_table(worker_columns(found), [worker_row(one, found) for one in shown]), ""]
    lines += map(sentence, worker_notes(found))
    if not with_ended:
        lines += _ended(found.workers)
    return lines


def worker_columns(found: CrawlWorkers) -> list[Column]:
    """Return the columns of the table of workers."""
    return [one for one in WORKERS if found.budget or one not in _BUDGET]


def worker_notes(found: CrawlWorkers) -> list[Said]:
    """Return sentences about workers that do not report, sites that nobody holds, and the budget."""
    active = found.active
    lines = [line for one in active if (line := _note(one, found)) is not None]
    if found.free_sites:
        idle = Count(
            found.free_sites,
            "%(number)s site with something to do has no worker",
            "%(number)s sites with something to do have no worker",
        )
        lines.append(said("%(sites)s", sites=idle))
    if found.budget:
        left = sum(max(0, one.granted - one.used) for one in active)
        lines.append(
            said(
                "Budget: %(used)s of %(pages)s used, %(left)s granted to workers for their next pages",
                used=f"{found.used:,}",
                pages=Count(found.budget, "%(number)s page", "%(number)s pages"),
                left=f"{left:,}",
            )
        )
    return lines


def ask_workers(database: Database, crawl: NamedCrawl, action: str, found: CrawlWorkers) -> str:
    """Ask the workers of a crawl to pause, resume or stop, and return a sentence about it. Raises `ConfigError`."""
    wanted = {"pause": PAUSE, "stop": STOP}.get(action)
    workers = sum(one.number not in found.dead for one in found.active)
    if not workers:
        nobody = sentence(nobody_works(crawl, found))
        if action == "pause":
            raise ConfigError(f"there is nothing to pause. {nobody}")
        return nobody
    if not set_control(database, crawl.id, wanted):
        return f"Crawl {crawl.name} is stopping already; the command that began it resumes it"
    number = counted(workers, "worker")
    is_new = found.control != wanted
    return {
        "pause": f"Crawl {crawl.name} is paused{'' if is_new else ' already'}: {number} will request nothing until "
        "scrapy workers resume",
        "resume": f"Crawl {crawl.name} goes on: {number}" if is_new else f"Crawl {crawl.name} is not paused: {number}",
        "stop": f"Crawl {crawl.name} is stopping: {number} will finish the running downloads and leave; the command "
        "that began it resumes it",
    }[action]


def nobody_works(crawl: NamedCrawl, found: CrawlWorkers) -> Said:
    """Return one sentence about a crawl without an active worker."""
    named = {"name": crawl.name, "id": str(crawl.id)}
    if crawl.state == FINISHED:
        return said("Crawl %(name)s (number %(id)s) is finished; nobody works on it", **named)
    remedy = said("the command that began it resumes it")
    if 0 < found.budget <= found.used:
        remedy = said(
            "the budget of %(budget)s pages is used up; resume the crawl with a larger PAGE_BUDGET", budget=found.budget
        )
    return said("Nobody works on the crawl %(name)s (number %(id)s); %(remedy)s", **named, remedy=remedy)


def site_lines(sites: Sequence[SiteLine], now: float, dead: Container[int] = ()) -> list[str]:
    """Return the lines about *sites* at the time *now*, those with the most waiting URLs first."""
    if not sites:
        return ["No URLs wait, and no worker holds a site"]
    return [text_table(SITES, site_rows(busiest(sites, len(sites)), now, dead))]


def busiest(sites: Sequence[SiteLine], most: int) -> list[SiteLine]:
    """Return at most *most* of *sites*, those with the most waiting URLs first."""
    return heapq.nsmallest(most, sites, key=lambda one: (-one.waiting, one.site))


def site_rows(sites: Sequence[SiteLine], now: float, dead: Container[int] = ()) -> list[Row]:
    """Return the cells of the table of *sites*."""
    return [(one.site, _owner(one, dead), one.waiting, (waits_for(one, now),)) for one in sites]


def waits_for(site: SiteLine, now: float) -> Said:
    """Return what the next request to *site* waits for at the time *now*, as far as it is stored."""
    if not site.is_open:
        return said("the site is missing from the host list")
    if not site.waiting:
        return said(Wait.NOTHING)
    if site.worker is None:
        return said("a larger PAGE_BUDGET") if site.is_budget_used else said("a worker")
    if not site.has_robots:
        return said(Wait.ROBOTS)
    if site.resting == site.waiting and site.retry_at is not None and site.retry_at > now:
        return said("retry, %(left)s", left=_seconds(site.retry_at - now))
    if site.rest_until is not None and site.rest_until > now:
        return said("host's rest, %(left)s", left=_seconds(site.rest_until - now))
    return said(Wait.READY)


def _heading(crawl: NamedCrawl, active: Sequence[WorkerLine], control: str | None) -> str:
    machines = len({one.machine for one in active})
    where = f" on {counted(machines, 'machine')}" if machines > 1 else ""
    asked = f", {ASKED[control]}" if control in ASKED else ""
    return f"Crawl {crawl.name} (number {crawl.id}){asked}: {counted(len(active), 'worker')}{where}"


def worker_row(one: WorkerLine, found: CrawlWorkers) -> Row:
    """Return the cells of a worker."""
    is_active = one.state == ACTIVE
    waits = tuple(
        said("%(wait)s: %(number)s", wait=said(wait), number=f"{number:,}")
        for wait in Wait
        if is_active and wait is not Wait.NOTHING and (number := one.status.waits.get(wait, 0))
    )
    return (
        one.number,
        one.machine,
        str(one.process),
        (_state(one, found) if is_active else said(one.state),),
        one.joined_at if is_active else one.ended_at,
        one.sites,
        one.pages,
        round(one.status.pages_per_s, 1) if is_active else None,
        one.leases if is_active else None,
        *((one.granted, one.used) if found.budget else ()),
        waits,
    )


def _state(one: WorkerLine, found: CrawlWorkers) -> Said:
    if one.number in found.dead:
        return said("dead")
    if found.now - one.beat_at > SILENT_S:
        return said("silent")
    return said(ASKED.get(found.control, ACTIVE) if found.control else ACTIVE)


def _note(one: WorkerLine, found: CrawlWorkers) -> Said | None:
    """Return a sentence about a worker that does not work; None if it does."""
    is_dead, silent_s = one.number in found.dead, found.now - one.beat_at
    if not is_dead and silent_s <= SILENT_S:
        return None
    why, sites = said("it has ended, or was cut off"), said("its sites are free for other workers")
    if not is_dead:
        why = said("no heartbeat for %(time)s", time=_seconds(silent_s))
        sites = said("its sites are free when it ends")
        if found.deadline_s is not None and silent_s < found.deadline_s:  # else it opens its sites: no limit
            sites = said("its sites are free in %(left)s", left=_seconds(found.deadline_s - silent_s))
    return said(
        "Worker %(number)s (%(machine)s, process %(process)s): %(why)s; %(sites)s",
        number=str(one.number),
        machine=one.machine,
        process=str(one.process),
        why=why,
        sites=sites if one.sites else said("it holds no site"),
    )


def _ended(workers: Sequence[WorkerLine]) -> list[str]:
    lost, left = (sum(one.state == state for one in workers) for state in (LOST, LEFT))
    if not lost and not left:
        return []
    parts = [f"{lost:,} {plural(lost, 'worker')} lost"] if lost else []
    parts += [f"{left:,} left"] if left else []
    return [f"Earlier: {', '.join(parts)}; --all shows them"]


def _owner(one: SiteLine, dead: Container[int]) -> str | None:
    if one.worker is None:
        return None
    return f"{one.worker} (dead)" if one.worker in dead else str(one.worker)


def _seconds(seconds: float) -> str:
    """Return a duration, rounded up: an announced time never comes early.

    >>> _seconds(8.2), _seconds(200)
    ('9 s', '3 min')
    """
    whole = -int(-seconds // 1)
    return f"{whole} s" if whole < 120 else f"{whole // 60:,} min"
