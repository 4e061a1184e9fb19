"""Begins, resumes and ends crawls.

An interrupted crawl of a name is resumed; a finished one is followed by a new crawl of the same name.
"""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from crawlers import __version__
from crawlers.errors import ConfigError
from crawlers.items import REVISIT, State
from crawlers.mission import mission_named
from crawlers.store import worker_rows
from crawlers.store.database import lock_name
from crawlers.store.reading.crawl_settings import record, recorded, setting_of
from crawlers.store.reading.run_command import Command, check_mission, check_rejoining
from crawlers.store.schema.tables import REVISITED, SettingRow, crawl, link_anchor, message, page, site
from crawlers.store.sites.site_opening import find_sites, open_sites, reselect, site_rows
from crawlers.store.worker_rows import free_locks
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.pulls import keep_link_prior, uncounted_pulls

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from sqlalchemy import Connection

    from crawlers.ranking.link_features import LinkPrior
    from crawlers.store.database import Database
    from crawlers.store.sites.site_opening import SiteRow

# The stored pages and rewards depend on these settings, so a crawl can't change them when it is resumed.
FIXED_SETTINGS = ("LINK_TAGS", "ORDER", "REWARD", "LINK_PRIOR")
URL_SETTINGS = "URL_"  # the beginning of the names of settings on which the keys of URLs depend, so they are fixed, too
SELECTION_SETTINGS = ("URL_INCLUDE", "URL_EXCLUDE")  # except for these, see `StoredSelection`
GROWN = "grown"  # stored like a setting, see `CrawlRow.has_grown`
COMMAND = "command"  # part of the manifest: of the latest run
RUNNING, INTERRUPTED, FINISHED = "running", "interrupted", "finished"


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """A running crawl, as one of its workers begins; *resumed* if it began in an earlier run, or in another worker."""

    id: int
    name: str
    resumed: bool
    sites: tuple[SiteRow, ...]  # that this worker holds
    excluded: frozenset[str]  # sites of earlier runs that the host list omits
    worker_id: int
    run_started_at: float  # when a worker began or resumed it while no other was active
    others: int  # further active workers: this one has joined them
    is_divided: bool  # there are others, or will be soon
    is_shared: bool  # it is divided, or has links that workers of an earlier run sent to each other
    granted: int  # pulls of the budget; -1: no limit
    added: int  # sites of the host list that the earlier runs, if there were any, did not have
    # URLs were selected after pages to which they link were read, so that levels may be too deep.
    has_grown: bool = False


def _unfinished(connection: Connection, name: str) -> int | None:
    found = connection.execute(
        select(crawl.c.id).where(crawl.c.name == name, crawl.c.state != FINISHED).order_by(crawl.c.id.desc())
    ).scalar()
    return int(found) if found is not None else None


def begin(
    database: Database,
    command: Command,
    now: float,
    *,
    hold: Callable[[int], object] = lambda _: None,
    link_prior: Callable[[], LinkPrior] | None = None,
) -> CrawlRow:
    """Resume the crawl of a *command*, or begin a new one; if other workers are active, join it and change nothing.

    *hold* takes the `WorkerLock` of the new worker, whose number is its argument. Without others it claims all sites,
    or its part of them if further processes are started at once. *link_prior* returns the weights with which an order
    that learns begins; the crawl keeps them until its end, so that it is not called for a crawl that has some.

    Raises what *link_prior* raises; `ConfigError` if the unfinished crawl of that name has another mission or other
    fixed settings, or is run by others and can't be joined; `CrawlEnded` if the crawl that the process rejoins has
    ended, and `StoreError` if there is none.
    """
    sites, has_budget = command.sites, bool(command.settings.get("PAGE_BUDGET"))
    with database.write() as connection:
        lock_name(connection, command.name)  # no other process can begin this crawl now
        server_now = worker_rows.server_time(connection)
        ahead_s = now - server_now
        crawl_id = _undisturbed(database, connection, command.name, server_now)
        check_rejoining(connection, crawl_id, command)
        resumed = crawl_id is not None
        if crawl_id is None:
            crawl_id = _insert_crawl(connection, command, now)
        others = worker_rows.active(connection, crawl_id)
        is_divided = bool(others) or command.processes > 1
        opened: list[SiteRow] | None = None
        granted = 0
        if others:
            _sharing().check_joining(connection, crawl_id, others, command)
        else:
            ended_at = _resume(connection, crawl_id, command) if resumed else None
            # A killed run may have sent a request just now; a clock that was set back must not make a crawl wait.
            asked_at = None if not resumed else now if ended_at is None else min(ended_at, now)
            earlier_pulls = uncounted_pulls(connection, crawl_id) if resumed and has_budget else 0
            _begin_run(
                connection, crawl_id, server_now, None if asked_at is None else asked_at - ahead_s, earlier_pulls
            )
            opened = open_sites(connection, crawl_id, sites, now, try_again=ended_at is not None)
            opened = [row if row.is_new else replace(row, asked_at=asked_at) for row in opened]
            if sites.selection is not None and reselect(connection, crawl_id, opened, sites.selection, now):
                record(connection, crawl_id, {GROWN: GROWN})
            if has_budget:  # all of it: others that join get parts of this
                budget, used = worker_rows.budget_of(connection, crawl_id)
                granted = max(0, budget - used)
        if link_prior is not None:
            keep_link_prior(connection, crawl_id, link_prior)
        process = (platform.node(), os.getpid(), __version__)
        worker_id = worker_rows.join(connection, crawl_id, *process, server_now, granted)
        hold(worker_id)
        rows = opened or []
        if is_divided:
            # With a budget, the first one would soon have spent it on its part: it gives up sites to the others.
            share = 1 if has_budget else command.processes
            held = _sharing().claim_share(connection, crawl_id, worker_id, len(others), share)
            rows = site_rows(connection, held, ahead_s) if opened is None else [row for row in opened if row.id in held]
        else:
            worker_rows.claim_all(connection, crawl_id, worker_id)
        is_shared = is_divided or _has_messages(connection, crawl_id)
        excluded = frozenset(one.site for one in find_sites(connection, crawl_id, ~site.c.is_open))
        has_grown = connection.scalar(setting_of(crawl_id, GROWN)) is not None
        started_at = connection.execute(select(crawl.c.run_started_at).where(crawl.c.id == crawl_id)).scalar_one()
    # Rules number their arms in the order in which the sites were added, whatever the order of the host list.
    in_order = tuple(sorted(rows, key=lambda row: row.id))
    new = sites.names.intersection(row.site for row in opened or () if row.is_new)
    divided = (is_divided, is_shared, granted if has_budget else -1)
    run = (worker_id, started_at + ahead_s, len(others), *divided, len(new))
    return CrawlRow(crawl_id, command.name, resumed, in_order, excluded, *run, has_grown)


def _sharing() -> ModuleType:
    """Return what only processes need that share a crawl."""
    from crawlers.workers import exchange

    return exchange


def _has_messages(connection: Connection, crawl_id: int) -> bool:
    its = select(message.c.id).join(site, site.c.id == message.c.site_id)
    return connection.execute(its.where(message.c.crawl_id == crawl_id, site.c.is_open).limit(1)).first() is not None


def _undisturbed(database: Database, connection: Connection, name: str, now: float) -> int | None:
    """Return the unfinished crawl *name* without its dead workers, and keep others from beginning or ending it."""
    crawl_id = _unfinished(connection, name)
    while crawl_id is not None:
        worker_rows.lose_dead(connection, crawl_id, now, partial(free_locks, database), waits=True)
        worker_rows.lock_crawl(connection, crawl_id)
        still = _unfinished(connection, name)
        if still == crawl_id:
            break
        crawl_id = still  # its last worker has ended it in the meantime
    return crawl_id


def _begin_run(connection: Connection, crawl_id: int, now: float, asked_at: float | None, earlier_pulls: int) -> None:
    """Let nobody hold any site of the crawl, to which requests may have been sent until *asked_at*."""
    nobody_s = {"is_open": False, "worker_id": None, "source_id": None, "asked_at": asked_at}
    connection.execute(update(site).where(site.c.crawl_id == crawl_id).values(**nobody_s))
    began = {"control": None, "finisher_id": None, "run_started_at": now, "earlier_pulls": earlier_pulls}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**began))


def growth_row(crawl_id: int) -> ChangeSet:
    """Return the row by which a crawl `has_grown`."""
    return ChangeSet(SettingRow(crawl_id, GROWN, GROWN))


def _resume(connection: Connection, crawl_id: int, command: Command) -> float | None:
    """Resume the crawl with today's settings, and return when its last run ended; None if that was killed.

    Raises `ConfigError`.
    """
    check_mission(connection, crawl_id, command)
    ended_at = connection.execute(select(crawl.c.ended_at).where(crawl.c.id == crawl_id)).scalar()
    stored, mission = recorded(connection, crawl_id), mission_named(command.mission)
    settings = {setting: str(value) for setting, value in command.settings.items()}
    for setting, today in settings.items():
        before = stored.get(setting, today)
        is_of_keys = setting.startswith(URL_SETTINGS) and setting not in SELECTION_SETTINGS
        is_fixed = setting in FIXED_SETTINGS or is_of_keys or setting in mission.fixed
        if is_fixed and _meaning(setting, before) != _meaning(setting, today):
            known_by = f"{setting}={today}", f"{setting}={before}"
            if setting in mission.fixed:  # its value is long, and users do not set it
                known_by = mission.resolve(mission.fixed[setting])(before, today)
            raise ConfigError(
                f"{known_by[0]}: the unfinished crawl {command.name} began with {known_by[1]}; give "
                "the same, or begin another crawl: -s CRAWL=another"
            )
    began = json.loads(connection.execute(select(crawl.c.manifest).where(crawl.c.id == crawl_id)).scalar_one())
    as_today = {name: command.manifest[name] for name in (COMMAND,) if name in command.manifest}
    values = {"state": RUNNING, "ended_at": None, "reason": None, "manifest": json.dumps(began | as_today, default=str)}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**values))
    record(connection, crawl_id, settings)
    return None if ended_at is None else float(ended_at)


def _meaning(setting: str, value: str) -> str | set[str]:
    """Return what the text *value* says: a list of tags may have any order and notation."""
    return set(re.findall(r"\w+", value.lower())) if setting == "LINK_TAGS" else value


def _insert_crawl(connection: Connection, command: Command, now: float) -> int:
    manifest = json.dumps(command.manifest, default=str)
    inserted = connection.execute(
        insert(crawl).values(
            name=command.name, mission=command.mission, state=RUNNING, started_at=now, manifest=manifest
        )
    ).inserted_primary_key
    assert inserted is not None
    crawl_id = int(inserted[0])
    record(connection, crawl_id, command.settings)
    return crawl_id


def is_waiting(database: Database, crawl_id: int) -> bool:
    """Return whether any URL of the crawl waits, or its revisit, including those of sites that the host list omits."""
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    waits = [select(page.c.id).where(page.c.site_id.in_(of_crawl), page.c.state == int(State.WAITING))]
    for scores in REVISITED:
        waits.append(select(scores.c.page_id).where(scores.c.site_id.in_(of_crawl), scores.c.queue == REVISIT))
    return any(database.rows(query.limit(1)) for query in waits)


def drop_anchors(connection: Connection, crawl_id: int) -> None:
    """Delete the texts of links to pages that were read, or never requested: only those of broken links are needed."""
    whole = (State.DONE, State.REJECTED)
    targets = (
        select(page.c.id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state.in_([int(state) for state in whole]))
    )
    connection.execute(delete(link_anchor).where(link_anchor.c.target_id.in_(targets)))


def end(
    database: Database, crawl_id: int, *, finished: bool, reason: str, now: float, worker_id: int | None = None
) -> bool:
    """Record that the crawl has stopped; an unfinished crawl can be resumed later.

    If *worker_id* is not the last active worker, only that one ends, and False is returned. Raises `ClaimsLost`.
    """
    state = FINISHED if finished else INTERRUPTED
    with database.write() as connection:
        if worker_id is not None:
            server_now = worker_rows.server_time(connection)
            if not worker_rows.leave(connection, worker_id, server_now):
                return False
            worker_rows.end_worker(connection, crawl_id, worker_id, worker_rows.LEFT, server_now)
        connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(state=state, ended_at=now, reason=reason))
    return True
