"""The workers of a crawl: who is active, which sites each of them holds, and its share of the page budget.

Each function runs in a transaction of the caller, and takes the time as *now*: the clock of the server (`server_time`)
in a crawl, any clock in a test. What happens if two workers do the same at once is explained in
docs/explanation/workers.md; in short:

- A worker begins each of its transactions with `fence`, which locks its row. So nobody declares it lost while a
  transaction of it is open, and none of its transactions begins after that.
- Free sites are locked with SKIP LOCKED, so two workers never claim the same one, and none waits.
- Grants, the election of the finisher, joining and leaving lock the row of the crawl, so they happen one by one.

The row of a worker is locked before that of its crawl, and sites come last.
"""

from __future__ import annotations

import json
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, false, func, insert, select, text, update

from crawlers.errors import ClaimsLost
from crawlers.items import State
from crawlers.ranking.page_scores import REVISIT
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.score_tables import REVISITED, order_totals
from crawlers.store.schema.tables import crawl, page, pull, site, worker
from crawlers.store.streaming import among
from crawlers.store.writing.pulls import Pull
from crawlers.workers.message_tables import message
from crawlers.workers.sharing import BLOCK, block, claim_limit, promises_enough

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, FromClause, Select

ACTIVE, LEFT, LOST = "active", "left", "lost"
PAUSE, STOP = "pause", "stop"  # the values of `crawl.control`
MOST_IDLE_MS = 2**31 - 1  # that PostgreSQL accepts
MOST_COUNTED = 10_000  # sources of which it is looked up whether something waits
PULLS_AT_ONCE = 10_000  # that a round reads; the next one reads on
_SAID = ("leases", "best_index", "is_idle", "status")  # columns of the same names as in a report

_PULLS_OF_OTHERS = {
    "sqlite": text("""
        SELECT pull.id, pull.worker_id, pull.site_id, pull.reward, link_features.features
        FROM worker CROSS JOIN pull ON pull.worker_id = worker.id
            AND pull.id > coalesce(json_extract(:after, '$."' || worker.id || '"'), 0)
        LEFT JOIN link_features ON link_features.page_id = pull.page_id
        WHERE worker.crawl_id = :crawl AND worker.id != :me ORDER BY pull.id LIMIT :most"""),
    # LATERAL: with many rows of pulls, a join would be planned as a scan of all of them.
    "postgresql": text("""
        SELECT latest.id, worker.id, latest.site_id, latest.reward, link_features.features
        FROM worker CROSS JOIN LATERAL (
            SELECT id, site_id, page_id, reward FROM pull
            WHERE worker_id = worker.id AND id > coalesce((CAST(:after AS jsonb) ->> worker.id::text)::bigint, 0)
            ORDER BY id LIMIT :most) AS latest
        LEFT JOIN link_features ON link_features.page_id = latest.page_id
        WHERE worker.crawl_id = :crawl AND worker.id != :me ORDER BY latest.id LIMIT :most"""),
}


class WorkerRow(NamedTuple):
    """An active worker; times are those of the server."""

    id: int
    machine: str
    process: int
    version: str
    joined_at: float
    beat_at: float
    granted: int
    used: int
    pages: int
    leases: int
    best_index: float | None
    is_idle: bool
    status: str | None

    @property
    def name(self) -> str:
        """Its process, for messages."""
        return f"process {self.process} on {self.machine}"


class Report(NamedTuple):
    """What a worker tells the others in a round."""

    worker_id: int
    crawl_id: int
    page_budget: int = 0  # of the crawl; 0: no limit
    index_share: float = 0.0  # in [0, 1]: of the greatest index, to be granted pulls
    wanted_sites: int = 0  # sources that it would claim
    wanted_pulls: int = BLOCK  # that it wants to have at hand
    limit: int = -1  # the pulls, over its life, to which it has bound itself: the rest of its grant is given back
    leases: int = 0
    best_index: float | None = None  # of its sites; None: nothing to fetch
    is_idle: bool = False  # it has nothing to do
    after_pulls: Mapping[int, int] | None = None  # the last pulls that it knows, by worker; None: it needs none
    ends_after: float | None = None  # the crawl is over although polls are due after that time; None: it never is
    status: str | None = None  # JSON for people


class Round(NamedTuple):
    """What a worker learns in a round."""

    now: float = 0.0
    claimed: Sequence[int] = ()  # sites, in the order of their numbers
    others: int = 0  # further active workers
    idle: int = 0  # further workers without anything to do, while no site with something to do is free
    granted: int = -2  # pulls over its life; -1: no limit, -2: not known yet
    pulls: Sequence[Pull] = ()  # of other workers
    last_pulls: Mapping[int, int] = MappingProxyType({})  # the last pull that it knows now, by worker
    control: str | None = None
    reason: str | None = None  # why it is to stop
    is_over: bool = False  # nothing waits
    is_elected: bool = False  # this worker ends the crawl
    is_budget_exhausted: bool = False  # every pull of the budget has ended
    is_first: bool = False  # of the active workers, this one joined first


class _Standing(NamedTuple):
    """The sums over all workers of a crawl."""

    others: int
    earlier: int  # others
    idle: int  # others
    fetching: int  # others that have something to fetch
    greatest: float | None
    granted: int  # to active ones
    used_by_ended: int
    used: int


# Life -----------------------------------------------------------------------------------------------


def server_time(connection: Connection) -> float:
    """Return the time in seconds since 1970, by the clock that all workers of the database share."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def join(connection: Connection, crawl_id: int, machine: str, process: int, version: str, now: float) -> int:
    """Add an active worker without sites, and return its number.

    Take its `WorkerLock` before the transaction is committed.
    """
    row = {"crawl_id": crawl_id, "machine": machine, "process": process, "version": version, "state": ACTIVE}
    inserted = connection.execute(insert(worker).values(**row, joined_at=now, beat_at=now)).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def fence(
    connection: Connection, worker_id: int, now: float, pulls: int = 0, pages: int = 0, *, idle_s: float | None = None
) -> None:
    """Begin a transaction of a worker, which ends *pulls* and *pages*. Raises `ClaimsLost` if it is no longer active.

    This is heartbeat, fence and account at once: until the transaction ends, nobody can declare the worker lost. So
    PostgreSQL ends it when nothing has happened in it for *idle_s* seconds.
    """
    counted = {"used": worker.c.used + pulls, "pages": worker.c.pages + pages}
    beats = update(worker).where(worker.c.id == worker_id, worker.c.state == ACTIVE).values(beat_at=now, **counted)
    if idle_s is not None and connection.dialect.name == "postgresql":
        # A process that is stopped in this transaction, or cut off, would keep its locks, and so its sites, for ever.
        idle_ms = min(round(1000 * idle_s), MOST_IDLE_MS)
        idle = func.set_config("idle_in_transaction_session_timeout", f"{idle_ms}ms", True)
        beats = beats.where(idle.is_not(None))
    if not connection.execute(beats).rowcount:
        raise ClaimsLost(
            f"worker {worker_id} was declared lost, because it did not respond in time; others may crawl its sites now"
        )


def active(connection: Connection, crawl_id: int) -> list[WorkerRow]:
    """Return the active workers of a crawl, in the order in which they joined."""
    columns = [worker.c[name] for name in WorkerRow._fields]
    rows = select(*columns).where(worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE).order_by(worker.c.id)
    return [WorkerRow(*row) for row in connection.execute(rows)]


def lose_dead(
    connection: Connection,
    crawl_id: int,
    now: float,
    deadline_s: float | None,
    is_dead: Callable[[int], bool],
    me: int | None = None,
    *,
    silent_s: float = 0.0,
    waits: bool = False,
) -> list[int]:
    """Declare dead and frozen workers lost, free their sites, and return their numbers.

    A worker is dead if *is_dead* says so, which is asked about those that were silent for *silent_s*; and frozen if it
    was silent for more than *deadline_s*, if that is given, unless it is writing the outputs of the crawl: that takes
    any time. *me* is never lost. A worker with an open transaction is skipped; with *waits* a dead one is awaited.
    """
    of_crawl = (worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE, worker.c.id != (me or 0))
    ending = finisher(connection, crawl_id)
    seen = connection.execute(select(worker.c.id, worker.c.beat_at).where(*of_crawl).order_by(worker.c.id)).all()
    lost = []
    for number, beat_at in seen:
        is_gone = now - beat_at >= silent_s and is_dead(number)
        is_late = deadline_s is not None and number != ending and now - beat_at > deadline_s
        if not (is_gone or is_late):
            continue
        still = [worker.c.id == number, worker.c.state == ACTIVE]
        if not is_gone:
            still.append(worker.c.beat_at == beat_at)
        row = select(worker.c.id).where(*still).with_for_update(skip_locked=not (is_gone and waits))
        if connection.execute(row).scalar() is not None:
            _end(connection, crawl_id, number, LOST, now)
            lost.append(number)
    return lost


def leave(connection: Connection, worker_id: int, now: float) -> bool:
    """End a worker and free its sites; return False. If it is the last one, it stays, and True is returned.

    The last one becomes the finisher of the crawl: it writes the outputs, and ends with `crawls.end`. If a finisher
    has ended the crawl already, the others only leave. Raises `ClaimsLost`.
    """
    fence(connection, worker_id, now)
    crawl_id = connection.execute(select(worker.c.crawl_id).where(worker.c.id == worker_id)).scalar_one()
    lock_crawl(connection, crawl_id)
    is_last = not _standing(connection, crawl_id, worker_id).others or finisher(connection, crawl_id) == worker_id
    if is_last and not has_ended(connection, crawl_id):
        connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(finisher_id=worker_id))
        return True
    _end(connection, crawl_id, worker_id, LEFT, now)
    return False


def finish(connection: Connection, worker_id: int, now: float) -> None:
    """End the finisher of a crawl. Raises `ClaimsLost` if it is no longer active."""
    fence(connection, worker_id, now)
    crawl_id = connection.execute(select(worker.c.crawl_id).where(worker.c.id == worker_id)).scalar_one()
    _end(connection, crawl_id, worker_id, LEFT, now)


def _end(connection: Connection, crawl_id: int, worker_id: int, state: str, now: float) -> None:
    connection.execute(update(worker).where(worker.c.id == worker_id).values(state=state, ended_at=now))
    held = update(site).where(site.c.crawl_id == crawl_id, site.c.worker_id == worker_id)
    base = select(order_totals.c.base).where(order_totals.c.crawl_id == crawl_id, order_totals.c.worker_id == worker_id)
    # Scores stay relative to the last totals of this worker; those of a site that it had not opened, to former ones.
    bases = func.coalesce(site.c.base, base.scalar_subquery())
    connection.execute(held.values(worker_id=None, asked_at=now, base=bases))


def ask(connection: Connection, crawl_id: int, control: str | None, reason: str | None = None) -> None:
    """Ask all workers of a crawl to `PAUSE` or to `STOP`, or with None to crawl on; they see it in their next round.

    The first *reason* why they stop is that of the crawl, whichever worker ends it; None if a command asked for it.
    """
    asked = {"control": control, "reason": func.coalesce(crawl.c.reason, reason)}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(asked))


# Sites ----------------------------------------------------------------------------------------------


def has_work(of: FromClause, ends_after: float | None = None) -> ColumnElement[bool]:
    """Return whether something of a site waits: a page, revisit or message, or the start URL of a new one.

    Revisits that are due after *ends_after*, if that is given, do not count.
    """
    pages = select(page.c.id).where(page.c.site_id == of.c.id)
    messages = select(message.c.id).where(message.c.crawl_id == of.c.crawl_id, message.c.site_id == of.c.id)
    waits = pages.where(page.c.state == int(State.WAITING)).exists() | ~pages.exists() | messages.exists()
    for scores in REVISITED:
        revisits = select(scores.c.page_id).where(scores.c.site_id == of.c.id, scores.c.queue == REVISIT)
        if ends_after is not None and VISITS in scores.info:
            visits = scores.metadata.tables[scores.info[VISITS]]
            is_later = (visits.c.page_id == scores.c.page_id) & (visits.c.due_at > ends_after)
            revisits = revisits.where(~select(visits.c.page_id).where(is_later).exists())
        waits |= revisits.exists()
    return waits


def _free_sources(crawl_id: int, *, idle: bool) -> Select[Any]:
    """Select the leading sites of sources that nobody holds; without *idle* ones, those in which something waits."""
    leaders = select(site.c.id).where(
        site.c.crawl_id == crawl_id, site.c.worker_id.is_(None), site.c.is_open, site.c.source_id.is_(None)
    )
    if idle:
        return leaders
    member = site.alias("member")
    # Without "is not null", PostgreSQL hashes all sites that have work, instead of the members of sources.
    led = (member.c.source_id == site.c.id, member.c.source_id.is_not(None), member.c.is_open)
    waits = select(member.c.id).where(*led, has_work(member)).exists()
    return leaders.where(has_work(site) | waits)


def claim(connection: Connection, crawl_id: int, worker_id: int, limit: int, *, idle: bool = True) -> list[int]:
    """Claim at most *limit* sources that nobody holds, by number, and return the numbers of all their sites, sorted.

    Without *idle* ones, only sources in which something waits. Sites that another worker is claiming are skipped.
    """
    free = (
        _free_sources(crawl_id, idle=idle).order_by(site.c.id).limit(limit).with_for_update(of=site, skip_locked=True)
    )
    leaders = list(connection.execute(free).scalars())
    _hold(connection, leaders, worker_id)
    return sorted([*leaders, *_claim_members(connection, crawl_id, worker_id)])


def _claim_members(connection: Connection, crawl_id: int, worker_id: int) -> list[int]:
    """Claim the other sites of the sources that a worker holds: it may just have claimed these, or they are new."""
    leader, member = site.alias("leader"), site.alias("member")
    free = (member.c.source_id.is_not(None), member.c.worker_id.is_(None), member.c.is_open)
    held = (leader.c.id == member.c.source_id) & (leader.c.crawl_id == crawl_id) & (leader.c.worker_id == worker_id)
    members = connection.execute(select(member.c.id).join(leader, held).where(*free)).scalars().all()
    _hold(connection, members, worker_id)
    return list(members)


def _hold(connection: Connection, sites: Sequence[int], worker_id: int) -> None:
    connection.execute(update(site).where(among(site.c.id, sites)).values(worker_id=worker_id))


def claim_share(connection: Connection, crawl_id: int, worker_id: int, others: int, share: int) -> list[int]:
    """Claim the first sites of a worker that begins while *others* are active, and return their numbers.

    Alone, it claims everything; if *share* processes are started at once, it leaves their parts to them.
    """
    is_alone = not others
    free = _count(connection, _free_sources(crawl_id, idle=is_alone), MOST_COUNTED)
    if free == MOST_COUNTED:  # whether something waits is slow to find out of a million sites, and matters no longer
        free = _count(connection, _free_sources(crawl_id, idle=True))
    takers = max(share - others, 1 + _standing(connection, crawl_id, worker_id).idle)
    return claim(connection, crawl_id, worker_id, claim_limit(free, takers, free), idle=is_alone)


# Rounds ---------------------------------------------------------------------------------------------


def last_pulls(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the last pull of each worker of a crawl that has any, by worker; see `Report.after_pulls`."""
    last = select(func.max(pull.c.id)).where(pull.c.worker_id == worker.c.id).scalar_subquery()
    found = connection.execute(select(worker.c.id, last).where(worker.c.crawl_id == crawl_id)).all()
    return {number: pull_id for number, pull_id in found if pull_id is not None}


def uncounted_pulls(connection: Connection, crawl_id: int) -> int:
    """Return the pulls of a crawl that no worker has counted; without any, the attempts, as `pulls.downloads_of`."""
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    pulls = connection.execute(select(func.count()).where(pull.c.site_id.in_(of_crawl))).scalar_one()
    attempts = select(func.coalesce(func.sum(page.c.attempts), 0)).where(page.c.site_id.in_(of_crawl))
    counted = select(func.coalesce(func.sum(worker.c.used), 0)).where(worker.c.crawl_id == crawl_id)
    recalled = pulls or connection.execute(attempts).scalar_one()
    return max(0, int(recalled) - int(connection.execute(counted).scalar_one()))


def exchange(connection: Connection, report: Report, now: float) -> Round:
    """Report to the other workers, and return what they reported; claim sites, and get pulls of the budget.

    Raises `ClaimsLost`.
    """
    me, crawl_id = report.worker_id, report.crawl_id
    _beat(connection, report, now)
    control, reason = connection.execute(select(crawl.c.control, crawl.c.reason).where(crawl.c.id == crawl_id)).one()
    standing = _standing(connection, crawl_id, me)
    claimed = _claim_free(connection, report, standing) if control is None else []
    claimed = claimed or _claim_members(connection, crawl_id, me)
    if claimed and report.is_idle:  # or others would give up sites until its next round
        connection.execute(update(worker).where(worker.c.id == me).values(is_idle=False))
    idle = standing.idle
    if idle and _count(connection, _free_sources(crawl_id, idle=False), 1):
        idle = 0  # they take these
    granted, is_budget_exhausted = _granted(connection, report, standing)
    is_over, is_elected = _over(connection, report, standing, is_candidate=report.is_idle and not claimed)
    pulls, last = _pulls_of_others(connection, report)
    ending = (control, reason, is_over, is_elected, is_budget_exhausted)
    return Round(now, claimed, standing.others, idle, granted, pulls, last, *ending, is_first=not standing.earlier)


def _beat(connection: Connection, report: Report, now: float) -> None:
    fence(connection, report.worker_id, now)
    kept = case((worker.c.used > report.limit, worker.c.used), else_=report.limit)
    gives_back = worker.c.granted > kept if report.limit >= 0 else false()
    said = {name: value for name, value in report._asdict().items() if name in _SAID}
    own = update(worker).where(worker.c.id == report.worker_id)
    connection.execute(own.values(granted=case((gives_back, kept), else_=worker.c.granted), **said))


def _standing(connection: Connection, crawl_id: int, me: int) -> _Standing:
    is_active = worker.c.state == ACTIVE
    is_other = is_active & (worker.c.id != me)
    sums = select(
        func.count().filter(is_other),
        func.count().filter(is_other & (worker.c.id < me)),
        func.count().filter(is_other & worker.c.is_idle),
        func.count(worker.c.best_index).filter(is_other),
        func.max(worker.c.best_index).filter(is_active),
        func.coalesce(func.sum(worker.c.granted).filter(is_active), 0),
        func.coalesce(func.sum(worker.c.used).filter(~is_active), 0),
        func.coalesce(func.sum(worker.c.used), 0),
    )
    row = connection.execute(sums.where(worker.c.crawl_id == crawl_id)).one()
    others, earlier, idle, fetching, greatest, *pulls = row
    return _Standing(others, earlier, idle, fetching, greatest, *map(int, pulls))  # PostgreSQL adds up to decimals


def lock_crawl(connection: Connection, crawl_id: int) -> None:
    """Lock the row of a crawl until the end of the transaction; what is read after that is up to date."""
    connection.execute(select(crawl.c.id).where(crawl.c.id == crawl_id).with_for_update())


def _count(connection: Connection, rows: Select[Any], most: int | None = None) -> int:
    return connection.execute(select(func.count()).select_from(rows.limit(most).subquery())).scalar_one()


def _claim_free(connection: Connection, report: Report, standing: _Standing) -> list[int]:
    if not report.wanted_sites or (standing.idle and not report.is_idle):
        return []  # what is free is for those that have nothing to do: it may have been given up for them
    # A worker alone holds everything, also sites without work: they may get some when levels are settled.
    is_alone = not standing.others
    takers = 1 + standing.idle
    free = _count(connection, _free_sources(report.crawl_id, idle=is_alone), takers * report.wanted_sites)
    limit = claim_limit(free, takers, report.wanted_sites)
    return claim(connection, report.crawl_id, report.worker_id, limit, idle=is_alone) if limit else []


def _granted(connection: Connection, report: Report, standing: _Standing) -> tuple[int, bool]:
    """Return the pulls that the worker is granted over its life, with a new block; and whether the budget is spent."""
    if not report.page_budget:
        return -1, False
    own = select(worker.c.granted, worker.c.used).where(worker.c.id == report.worker_id)
    granted, used = connection.execute(own).one()
    earlier = connection.execute(select(crawl.c.earlier_pulls).where(crawl.c.id == report.crawl_id)).scalar_one()
    at_hand = granted - used - report.leases  # those in flight end sooner or later
    new = _block(report, standing, earlier, at_hand)
    if new:  # grants are made one by one: of what was read before the lock, a part may be granted by now
        lock_crawl(connection, report.crawl_id)
        standing = _standing(connection, report.crawl_id, report.worker_id)
        new = _block(report, standing, earlier, at_hand)
        connection.execute(update(worker).where(worker.c.id == report.worker_id).values(granted=granted + new))
    return granted + new, earlier + standing.used >= report.page_budget


def _block(report: Report, standing: _Standing, earlier: int, at_hand: int) -> int:
    free = report.page_budget - earlier - standing.granted - standing.used_by_ended
    if not standing.others:
        return max(0, free)
    if not promises_enough(report.best_index, standing.greatest, report.index_share):
        return 0
    return block(free, 1 + standing.fetching, at_hand, report.wanted_pulls)


def _over(connection: Connection, report: Report, standing: _Standing, *, is_candidate: bool) -> tuple[bool, bool]:
    """Return whether nothing of the crawl waits, and whether this worker is elected to end it."""
    me = report.worker_id
    elected = finisher(connection, report.crawl_id)
    if elected not in (None, me) or has_ended(connection, report.crawl_id):
        return True, False
    if not (is_candidate and standing.idle == standing.others) and elected is None:
        return False, False
    lock_crawl(connection, report.crawl_id)
    if finisher(connection, report.crawl_id) not in (None, me) or has_ended(connection, report.crawl_id):
        return True, False
    # Every URL in flight is a waiting row, and its end is one transaction with the URLs that it adds.
    waiting = select(site.c.id).where(
        site.c.crawl_id == report.crawl_id, site.c.is_open, has_work(site, report.ends_after)
    )
    is_over = not _count(connection, waiting, 1)
    ends = update(crawl).where(crawl.c.id == report.crawl_id)
    connection.execute(ends.values(finisher_id=me if is_over else None))
    return is_over, is_over


def finisher(connection: Connection, crawl_id: int) -> int | None:
    """Return the active worker that ends the crawl; None if there is none."""
    elected = select(worker.c.id).join(crawl, crawl.c.finisher_id == worker.c.id)
    return connection.execute(elected.where(crawl.c.id == crawl_id, worker.c.state == ACTIVE)).scalar()


def is_over(connection: Connection, crawl_id: int) -> bool:
    """Return whether the run of a crawl has ended, or a worker is about to end it."""
    return has_ended(connection, crawl_id) or finisher(connection, crawl_id) is not None


def has_ended(connection: Connection, crawl_id: int) -> bool:
    """Return whether the finisher of this run has recorded its end, while others are still about to leave."""
    return connection.execute(select(crawl.c.ended_at).where(crawl.c.id == crawl_id)).scalar() is not None


def _pulls_of_others(connection: Connection, report: Report) -> tuple[list[Pull], dict[int, int]]:
    if report.after_pulls is None:
        return [], {}
    # By worker, because the pulls of one worker are committed in the order of their numbers, those of several are not.
    last = dict(report.after_pulls)
    values = {"after": json.dumps(last), "crawl": report.crawl_id, "me": report.worker_id, "most": PULLS_AT_ONCE}
    pulls = []
    for number, of, *one in connection.execute(_PULLS_OF_OTHERS[connection.dialect.name], values):
        pulls.append(Pull(*one))
        last[of] = number
    return pulls, last
