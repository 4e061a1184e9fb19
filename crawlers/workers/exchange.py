"""What the workers of a crawl exchange in rounds: claims of sites, links, grants of the budget, pulls, and cash.

Each function runs in a transaction of the caller, like those of `store.worker_rows`; how many sites a worker takes, and
how many pulls it is granted, are functions of numbers. What happens if two workers do the same at once is explained in
docs/explanation/workers.md; in short:

- Free sites are locked with SKIP LOCKED, so two workers never claim the same one, and none waits.
- Grants, the election of the finisher, joining and leaving lock the row of the crawl, so they happen one by one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, case, false, func, select, text, true, update

from crawlers.bandits.arms import is_near_best
from crawlers.errors import ConfigError
from crawlers.items import REVISIT, State
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.importance import parts_of
from crawlers.store.reading.run_command import ANOTHER, check_mission
from crawlers.store.schema.message_rows import Message
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.tables import REVISITED, crawl, message, page, site, worker
from crawlers.store.streaming import among
from crawlers.store.worker_rows import ACTIVE, Round, asked, check_active, ending, finisher, lock_crawl
from crawlers.store.writing.pulls import Pull

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, FromClause, Select

    from crawlers.items import Part
    from crawlers.store.reading.importance import StoredPart
    from crawlers.store.reading.run_command import Command
    from crawlers.store.worker_rows import WorkerRow

    Distribute = Callable[[Mapping[int, Part]], Mapping[int, float]]

BLOCK = 32  # pulls: a second of a fast worker, and few enough that the rule of another one is soon heard
LEAST_BLOCK = 8  # pulls, if so many are free: the last ones of a budget are not worth a round each


def claim_limit(free: int, takers: int, wanted: int) -> int:
    """Return how many of the *free* sources a worker claims, if it would take *wanted* >= 0 of them.

    *takers* >= 1 is the number of workers without anything to do, with itself: each gets its share, rounded up.

    >>> claim_limit(free=10, takers=4, wanted=100)
    3
    >>> claim_limit(free=10, takers=1, wanted=2)
    2
    """
    return min(wanted, -(-free // takers))


def block(free: int, takers: int, at_hand: int, wanted: int = BLOCK) -> int:
    """Return how many of the *free* pulls one of several workers is granted, so that it has *wanted* of them *at_hand*.

    *takers* >= 1 is the number of workers that have something to fetch, with itself. It gets at most half of its share,
    so that the last pulls of a budget go to the sites that promise most, too; or `LEAST_BLOCK`, if that is more.

    >>> block(free=1000, takers=4, at_hand=10), block(free=160, takers=4, at_hand=0)
    (22, 20)
    >>> block(free=40, takers=4, at_hand=0), block(free=3, takers=4, at_hand=0)
    (8, 3)
    """
    return max(0, min(wanted - at_hand, max(free // (2 * takers), LEAST_BLOCK), free))


def promises_enough(best_index: float | None, greatest: float | None, index_share: float) -> bool:
    """Return whether the best site of a worker promises so much that it is granted pulls.

    *best_index* is the index of that site under the rule of the crawl, None if it has nothing to fetch; *greatest* is
    the greatest one of all active workers. It needs *index_share* in [0, 1] of it; with 0 every index suffices.

    >>> promises_enough(0.9, 1.0, 0.9), promises_enough(0.5, 1.0, 0.9), promises_enough(None, None, 0.0)
    (True, False, False)
    """
    if best_index is None:
        return False
    return index_share <= 0.0 or greatest is None or is_near_best(best_index, greatest, index_share)


def to_give(held: int, idle: int, active: int) -> int:
    """Return how many of the *held* sites with something waiting a worker gives up, so that all can work.

    *idle* of the *active* workers have nothing to do. If the others hold as many sites as this one, all have the same
    number afterwards. The last site is never given up; of several, at least one is.

    >>> to_give(held=10, idle=3, active=4), to_give(held=2, idle=1, active=5), to_give(held=1, idle=3, active=4)
    (7, 1, 0)
    """
    return max(min(1, held - 1), held * idle // active)


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


# Built once: that takes longer than they do.
_leader, _member = site.alias("leader"), site.alias("member")
_is_held = (_leader.c.crawl_id == bindparam("crawl")) & (_leader.c.worker_id == bindparam("me"))
_FREE_MEMBERS = (
    select(_member.c.id)
    .join(_leader, (_leader.c.id == _member.c.source_id) & _is_held)
    .where(_member.c.source_id.is_not(None), _member.c.worker_id.is_(None), _member.c.is_open)
)
_is_active = worker.c.state == ACTIVE
_is_other = _is_active & (worker.c.id != bindparam("me"))
_STANDING = select(
    func.count().filter(_is_other),
    func.count().filter(_is_other & (worker.c.id < bindparam("me"))),
    func.count().filter(_is_other & worker.c.is_idle),
    func.count(worker.c.best_index).filter(_is_other),
    func.max(worker.c.best_index).filter(_is_active),
    func.coalesce(func.sum(worker.c.granted).filter(_is_active), 0),
    func.coalesce(func.sum(worker.c.used).filter(~_is_active), 0),
    func.coalesce(func.sum(worker.c.used), 0),
).where(worker.c.crawl_id == bindparam("crawl"))


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
    members = connection.execute(_FREE_MEMBERS, {"crawl": crawl_id, "me": worker_id}).scalars().all()
    _hold(connection, members, worker_id)
    return list(members)


def _hold(connection: Connection, sites: Sequence[int], worker_id: int) -> None:
    if sites:
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


# Joining -------------------------------------------------------------------------------------------


def check_joining(connection: Connection, crawl_id: int, others: Sequence[WorkerRow], command: Command) -> None:
    """Raise `ConfigError` if a process with this command can't join the crawl of *others*."""
    name, listed = command.name, command.sites.names
    check_mission(connection, crawl_id, command)
    elected = finisher(connection, crawl_id)
    for other in others:
        if other.id == elected:
            raise ConfigError(
                f"CRAWL={name} is ending: {other.name} writes its outputs; wait for it, then run the same command again"
            )
    by = others[0].name
    if not command.can_be_joined:
        raise ConfigError(
            f"CRAWL={name} is being run by {by}, and {command.mission} is a spider of your own, which runs in one "
            f"process; wait for it, stop it, or {ANOTHER}"
        )
    joins = f"to join the crawl {name} of {by}, or {ANOTHER}"
    stored = recorded(connection, crawl_id)
    for setting, value in command.settings.items():
        if stored.get(setting, str(value)) != str(value):
            raise ConfigError(f"{setting}={value}: give {setting}={stored[setting]} {joins}")
    if not listed:
        return
    crawled = select(site.c.site).where(site.c.crawl_id == crawl_id, site.c.is_open)
    known = frozenset(connection.execute(crawled).scalars())
    differences = sorted(listed ^ known if command.sites.keeps is None else listed - known)
    if differences:
        first = differences[0]
        what = "is not one of its sites" if first in listed else "is missing from the list of sites"
        raise ConfigError(f"{first} {what}; give the same sites {joins}")


# Rounds ---------------------------------------------------------------------------------------------


def exchange(connection: Connection, report: Report, now: float) -> Round:
    """Report to the other workers, and return what they reported; claim sites, and get pulls of the budget.

    Raises `ClaimsLost`.
    """
    me, crawl_id = report.worker_id, report.crawl_id
    _beat(connection, report, now)
    control, reason = asked(connection, crawl_id)
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
    kept = case((worker.c.used > report.limit, worker.c.used), else_=report.limit)
    gives_back = worker.c.granted > kept if report.limit >= 0 else false()
    said = {name: value for name, value in report._asdict().items() if name in _SAID}
    own = update(worker).where(worker.c.id == report.worker_id, worker.c.state == ACTIVE)
    granted = case((gives_back, kept), else_=worker.c.granted)
    check_active(report.worker_id, connection.execute(own.values(granted=granted, beat_at=now, **said)).rowcount)


def _standing(connection: Connection, crawl_id: int, me: int) -> _Standing:
    row = connection.execute(_STANDING, {"crawl": crawl_id, "me": me}).one()
    others, earlier, idle, fetching, greatest, *pulls = row
    return _Standing(others, earlier, idle, fetching, greatest, *map(int, pulls))  # PostgreSQL adds up to decimals


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
    elected, has_ended = ending(connection, report.crawl_id)
    if elected not in (None, me) or has_ended:
        return True, False
    if not (is_candidate and standing.idle == standing.others) and elected is None:
        return False, False
    lock_crawl(connection, report.crawl_id)
    elected, has_ended = ending(connection, report.crawl_id)
    if elected not in (None, me) or has_ended:
        return True, False
    # Every URL in flight is a waiting row, and its end is one transaction with the URLs that it adds.
    waiting = select(site.c.id).where(
        site.c.crawl_id == report.crawl_id, site.c.is_open, has_work(site, report.ends_after)
    )
    is_over = not _count(connection, waiting, 1)
    ends = update(crawl).where(crawl.c.id == report.crawl_id)
    connection.execute(ends.values(finisher_id=me if is_over else None))
    return is_over, is_over


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


def links_to(connection: Connection, crawl_id: int, worker_id: int, limit: int) -> list[Message]:
    """Return the first *limit* messages to sites that a worker holds, in order.

    Whoever holds the site of the target deletes it in the transaction that stores the link and discovers the page
    (`TakenMessage`), so a worker that is killed neither loses a message nor takes it up twice.
    """
    held = site.c.worker_id == worker_id
    of_site = (message.c.crawl_id == crawl_id, message.c.site_id == site.c.id)
    if connection.dialect.name == "postgresql":
        # A join would be planned for any worker, as a scan of all messages of the crawl.
        sent = select(message).where(*of_site).order_by(message.c.id).limit(limit).lateral()
        joined, columns = site.join(sent, true()), sent.c
    else:
        joined, columns = site.join(message, and_(*of_site)), message.c
    named = [site.c.site if name == "site" else columns[name] for name in Message._fields]
    rows = select(*named).select_from(joined).where(site.c.crawl_id == crawl_id, held)
    return [Message(*row) for row in connection.execute(rows.order_by(columns.id).limit(limit))]


def hand_out(
    connection: Connection,
    crawl_id: int,
    now: float,
    every_s: float,
    distribute: Distribute,
) -> dict[int, StoredPart]:
    """Distribute the cash that all workers have in common, if nobody did so for *every_s*, and return the parts.

    *distribute* is `PageScores.hand_out`. Nothing is distributed before each active worker has stored its part.
    """
    parts = parts_of(connection, crawl_id)
    active = select(worker.c.id).where(worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE)
    if not parts.keys() >= set(connection.execute(active).scalars()):
        return parts
    of_crawl = crawl.c.id == crawl_id
    given_at = select(crawl.c.given_at).where(of_crawl)
    last = connection.execute(given_at).scalar()
    if last is not None and 0.0 <= now - last < every_s:
        return parts
    lock_crawl(connection, crawl_id)
    last = connection.execute(given_at).scalar()
    parts = parts_of(connection, crawl_id)
    if last is not None and 0.0 <= now - last < every_s:
        return parts
    given = distribute({number: stored.part for number, stored in parts.items()})
    if not given:
        return parts
    text = json.dumps({str(number): cash for number, cash in given.items()})
    connection.execute(update(crawl).where(of_crawl).values(given=text, given_at=now))
    return parts_of(connection, crawl_id)
