"""Begins, resumes and ends crawls: the rows of a crawl and its sites.

An interrupted crawl of a name is resumed; a finished one is followed by a new crawl of the same name.
"""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import String, bindparam, cast, delete, func, insert, literal, select, text, update

from crawlers import __version__
from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.errors import ConfigError, CrawlEnded
from crawlers.items import State
from crawlers.storage import workers
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.joining import Command, check_joining, check_mission
from crawlers.storage.locks import is_free
from crawlers.storage.reserved_ids import reserve
from crawlers.storage.schema.score_tables import importance, news_score
from crawlers.storage.schema.tables import (
    FoundSeed,
    FoundSite,
    SettingRow,
    crawl,
    crawler_setting,
    link_anchor,
    page,
    seed,
    site,
)
from crawlers.storage.topic.topics import TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Row

    from crawlers.storage.database import Database

LEVELS = 2**31 - 1  # the largest value of the column in PostgreSQL
TOO_DEEP = "too deep"
NOT_SELECTED = "not selected"
REVIVABLE = (TOO_DEEP, NOT_SELECTED)  # reasons that may no longer apply later, so that the URL is fetched after all
FIXED_SETTINGS = (
    "ORDER",
    "REWARD",
    TOPIC,
)  # the stored pages and rewards depend on them, so a crawl can't change them when it is resumed
URL_SETTINGS = "URL_"  # the beginning of the names of settings on which the keys of URLs depend, so they are fixed, too
GROWN = "grown"  # stored like a setting, see `CrawlRow.has_grown`
SELECTION_SETTINGS = ("URL_INCLUDE", "URL_EXCLUDE")  # except for these, see `Selection`
RESELECTED = 10_000  # pages that are read at a time when the selection of a site changed
MAX_NAMES = 500  # in one query
RUNNING, INTERRUPTED, FINISHED = "running", "interrupted", "finished"


class Selection(Protocol):
    """The URLs of a site that are fetched, by its folder, its addresses, and patterns."""

    def fingerprint(self, row: SiteRow) -> str:
        """Return a text that changes with the selection; "" if all URLs of the site are selected."""

    def reason_against(self, row: SiteRow, url: str, level: int) -> str | None:
        """Return why a stored URL is not selected, beginning with `NOT_SELECTED`, or None."""


def too_deep(level: int | str, max_level: int | None) -> str:
    """Return the reason why a URL on *level* is not fetched; it begins with `TOO_DEEP`.

    >>> too_deep(3, 2)
    'too deep: level 3, the limit is 2'
    """
    return f"{TOO_DEEP}: level {level}, the limit is {max_level}"


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A site of a crawl, with its limits."""

    id: int
    site: str
    parallel: int
    max_level: int | None
    delay_s: float
    start_url: str | None = None  # the page on level 0; None = the site's root
    robots_status: int | None = None
    robots_text: str | None = None
    robots_at: float | None = None
    rest_until: float | None = None  # the host has requested a pause until then
    asked_at: float | None = None  # requests may have been sent until then; None: none were
    is_new: bool = False  # the row was inserted just now and has no pages yet
    folder: str = ""  # /path/ below which the crawl stays; "": the whole site
    aliases: tuple[str, ...] = ()  # further addresses of its pages, scheme://host[:port]
    home_addresses: tuple[str, ...] = ()  # addresses to which its home page redirects, in order
    source_id: int | None = None  # the site that leads its source; None: itself

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses of its pages."""
        return tuple(dict.fromkeys((self.site, *self.aliases, *self.home_addresses)))

    @property
    def address(self) -> str:
        """The address from which its pages are requested if links do not say otherwise."""
        return self.home_addresses[-1] if self.home_addresses else self.site


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
    # URLs were selected after pages to which they link were read, so that levels may be too deep.
    has_grown: bool = False


def _unfinished(connection: Connection, name: str) -> int | None:
    found = connection.execute(
        select(crawl.c.id).where(crawl.c.name == name, crawl.c.state != FINISHED).order_by(crawl.c.id.desc())
    ).scalar()
    return int(found) if found is not None else None


def begin(
    database: Database,
    name: str,
    mission: str,
    sites: Sequence[SiteRow],
    manifest: Mapping[str, Any],
    now: float,
    *,
    keeps: Callable[[SiteRow], bool] | None = None,
    further: Sequence[SiteRow] = (),
    leader_of: Callable[[str], str | None] = lambda site: None,
    selection: Selection | None = None,
    hold: Callable[[int], object] = lambda _: None,
    can_be_joined: bool = True,
    share: int = 1,
    rejoins: int | None = None,
) -> CrawlRow:
    """Resume the crawl *name*, or begin a new one; if other workers are active, join it and change nothing of it.

    *sites* have id 0 and today's limits. If there are none, a resumed crawl includes all its sites; otherwise it
    includes *sites* and those of its other sites for which *keeps* is true. The rest are excluded. Unless they are
    among its sites, *further* ones are added, which the user did not list. *leader_of* returns the name of the site
    that leads the source of a site. If the *selection* of a site changed, its waiting pages are rejected or wait as if
    it had always applied.

    *hold* takes the `WorkerLock` of the new worker, whose number is its argument. Without others it claims all sites,
    or if *share* processes are started at once, one of *share* parts. *can_be_joined* is false for spiders of which
    one process runs a crawl. *rejoins* is the number of the crawl that this process belonged to before.

    Raises `ConfigError` if the unfinished crawl of that name has another mission or other fixed settings, or is run by
    others and can't be joined; and `CrawlEnded` if the crawl *rejoins* has ended.
    """
    with database.write() as connection:
        if not database.is_sqlite:  # SQLite has one writer at a time, so no other process can begin this crawl now
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name})
        server_now = workers.server_time(connection)
        ahead_s = now - server_now
        crawl_id = _undisturbed(database, connection, name, server_now)
        if rejoins is not None and (crawl_id != rejoins or workers.is_over(connection, rejoins)):
            raise CrawlEnded(f"the crawl {name} has ended, so there is nothing left to do")
        resumed = crawl_id is not None
        if crawl_id is None:
            crawl_id = _insert_crawl(connection, name, mission, manifest, now)
        others = workers.active(connection, crawl_id)
        opened: list[SiteRow] | None = None
        if others:
            listed_sites = frozenset(one.site for one in sites)
            command = Command(name, mission, manifest.get("settings", {}), listed_sites, finds_sites=keeps is not None)
            check_joining(connection, crawl_id, others, command, can_be_joined=can_be_joined)
        else:
            ended_at = _resume(connection, crawl_id, name, mission, manifest) if resumed else None
            # A killed run may have sent a request just now; a clock that was set back must not make a crawl wait.
            asked_at = None if not resumed else now if ended_at is None else min(ended_at, now)
            has_budget = bool(manifest.get("settings", {}).get("PAGE_BUDGET"))
            earlier_pulls = workers.uncounted_pulls(connection, crawl_id) if resumed and has_budget else 0
            _begin_run(
                connection, crawl_id, server_now, None if asked_at is None else asked_at - ahead_s, earlier_pulls
            )
            found = _found(connection, crawl_id)
            listed = {wanted.site for wanted in sites}
            kept = [
                one for one in found if one.site not in listed and (not sites or (keeps is not None and keeps(one)))
            ]
            named = listed.union(one.site for one in kept)
            added = [one for one in further if one.site not in named]
            write_changes(connection, ChangeSet(*(FoundSeed(one.site, f"{one.site}/") for one in added)))
            opened = open_sites(connection, crawl_id, [*sites, *kept, *added], now, try_again=ended_at is not None)
            opened = _led(connection, opened, leader_of)
            opened = [row if row.is_new else replace(row, asked_at=asked_at) for row in opened]
            if selection is not None and _reselect_all(connection, crawl_id, opened, selection, now):
                write_changes(connection, grown(crawl_id))
        worker_id = workers.join(connection, crawl_id, platform.node(), os.getpid(), __version__, server_now)
        hold(worker_id)
        held = frozenset(workers.claim_share(connection, crawl_id, worker_id, len(others), share))
        rows = site_rows(connection, held, ahead_s) if opened is None else [row for row in opened if row.id in held]
        excluded = frozenset(one.site for one in _found(connection, crawl_id, ~site.c.is_open))
        has_grown = _has_grown(connection, crawl_id)
        started_at = connection.execute(select(crawl.c.run_started_at).where(crawl.c.id == crawl_id)).scalar_one()
    # Rules number their arms in the order in which the sites were added, whatever the order of the host list.
    in_order = tuple(sorted(rows, key=lambda row: row.id))
    run = (worker_id, started_at + ahead_s, len(others))
    return CrawlRow(crawl_id, name, resumed, in_order, excluded, *run, has_grown)


def _undisturbed(database: Database, connection: Connection, name: str, now: float) -> int | None:
    """Return the unfinished crawl *name* without its dead workers, and keep others from beginning or ending it."""
    crawl_id = _unfinished(connection, name)
    while crawl_id is not None:
        workers.lose_dead(connection, crawl_id, now, None, partial(is_free, database), waits=True)
        workers.lock_crawl(connection, crawl_id)
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


def _led(connection: Connection, rows: Sequence[SiteRow], leader_of: Callable[[str], str | None]) -> list[SiteRow]:
    """Store which sites lead the sources of those of *rows*, and return *rows* with them."""
    numbers = {row.site: row.id for row in rows}
    leaders = {row.id: numbers.get(leader_of(row.site) or "") for row in rows}
    led = [{"number": number, "leader": leader} for number, leader in leaders.items() if leader not in (None, number)]
    if not led:
        return list(rows)
    connection.execute(update(site).where(site.c.id == bindparam("number")).values(source_id=bindparam("leader")), led)
    sources = {one["number"]: one["leader"] for one in led}
    return [replace(row, source_id=sources.get(row.id)) for row in rows]


def _has_grown(connection: Connection, crawl_id: int) -> bool:
    stored = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == GROWN
    )
    return connection.execute(stored).scalar() is not None


def grown(crawl_id: int) -> ChangeSet:
    """Return the row by which a crawl `has_grown`."""
    return ChangeSet(SettingRow(crawl_id, GROWN, GROWN))


def _resume(
    connection: Connection, crawl_id: int, name: str, mission: str, manifest: Mapping[str, Any]
) -> float | None:
    """Resume the crawl with today's settings, and return when its last run ended; None if that was killed.

    Raises `ConfigError`.
    """
    check_mission(connection, crawl_id, name, mission)
    ended_at = connection.execute(select(crawl.c.ended_at).where(crawl.c.id == crawl_id)).scalar()
    of_crawl = crawler_setting.c.crawl_id == crawl_id
    recorded = dict(connection.execute(select(crawler_setting.c.name, crawler_setting.c.value).where(of_crawl)).all())
    settings = {setting: str(value) for setting, value in manifest.get("settings", {}).items()}
    for setting, today in settings.items():
        before = recorded.get(setting, today)
        is_of_keys = setting.startswith(URL_SETTINGS) and setting not in SELECTION_SETTINGS
        if before != today and (setting in FIXED_SETTINGS or is_of_keys):
            known_by = f"{setting}={today}", f"{setting}={before}"
            if setting == TOPIC:  # its value is long, and users do not set it
                known_by = "the keywords, examples, strategy or language of the topic changed", "another topic"
            raise ConfigError(
                f"{known_by[0]}: the unfinished crawl {name} began with {known_by[1]}; give "
                "the same, or begin another crawl: -s CRAWL=another"
            )
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(state=RUNNING, ended_at=None, reason=None))
    if settings:
        connection.execute(delete(crawler_setting).where(of_crawl, crawler_setting.c.name.in_(settings)))
        _record(connection, crawl_id, settings)
    return None if ended_at is None else float(ended_at)


def _found(connection: Connection, crawl_id: int, *conditions: ColumnElement[bool]) -> list[SiteRow]:
    columns = (site.c.id, site.c.site, site.c.parallel, site.c.max_level, site.c.delay_s, site.c.start_url)
    rows = connection.execute(select(*columns).where(site.c.crawl_id == crawl_id, *conditions).order_by(site.c.id))
    return [SiteRow(*row) for row in rows]


def site_rows(connection: Connection, numbers: Collection[int], ahead_s: float = 0.0) -> list[SiteRow]:
    """Return the rows of open sites by their *numbers*, in this order.

    `asked_at` is by a clock that is *ahead_s* before that of the server.
    """
    in_order = sorted(numbers)
    rows: list[Row[Any]] = []
    for first in range(0, len(in_order), MAX_NAMES):
        some = select(site).where(site.c.id.in_(in_order[first : first + MAX_NAMES])).order_by(site.c.id)
        rows += connection.execute(some).all()
    has_homes = [row for row in rows if row.home_addresses]
    owners: dict[str, str] = {}
    if has_homes:
        of_crawl = select(site.c.site, site.c.aliases).where(site.c.crawl_id == has_homes[0].crawl_id, site.c.is_open)
        for name, aliases in connection.execute(of_crawl):
            owners |= dict.fromkeys((name, *(aliases or "").split()), name)
    return [
        SiteRow(
            row.id,
            row.site,
            row.parallel,
            row.max_level,
            row.delay_s,
            row.start_url,
            row.robots_status,
            row.robots_text,
            row.robots_at,
            row.rest_until,
            None if row.asked_at is None else row.asked_at + ahead_s,
            folder=row.folder or "",
            aliases=tuple((row.aliases or "").split()),
            home_addresses=_own_homes(row.site, row.home_addresses, owners),
            source_id=row.source_id,
        )
        for row in rows
    ]


def _own_homes(name: str, home_addresses: str | None, owners: Mapping[str, str]) -> tuple[str, ...]:
    # An address that the host list names now is that of a site of its own.
    return tuple(home for home in (home_addresses or "").split() if owners.get(home, name) == name)


def _insert_crawl(connection: Connection, name: str, mission: str, manifest: Mapping[str, Any], now: float) -> int:
    inserted = connection.execute(
        insert(crawl).values(
            name=name, mission=mission, state=RUNNING, started_at=now, manifest=json.dumps(manifest, default=str)
        )
    ).inserted_primary_key
    assert inserted is not None
    crawl_id = int(inserted[0])
    _record(connection, crawl_id, manifest.get("settings", {}))
    return crawl_id


def _record(connection: Connection, crawl_id: int, settings: Mapping[str, Any]) -> None:
    rows = [{"crawl_id": crawl_id, "name": name, "value": str(value)} for name, value in settings.items()]
    if rows:
        connection.execute(insert(crawler_setting), rows)


def _move_level_limit(connection: Connection, site_id: int, max_level: int | None, now: float) -> None:
    """Queue or reject pages that were found under another limit, as if *max_level* had always applied."""
    deepest = max_level if max_level is not None else LEVELS
    of_site = page.c.site_id == site_id
    waits, is_too_deep = page.c.state == int(State.WAITING), page.c.reason.like(f"{TOO_DEEP}%")
    connection.execute(
        update(page)
        .where(of_site, page.c.state == int(State.REJECTED), is_too_deep, page.c.level <= deepest)
        .values(state=int(State.WAITING), reason=None, state_at=now)
    )
    before, _, after = too_deep("|", max_level).partition("|")
    reason = literal(before) + cast(page.c.level, String) + literal(after)
    connection.execute(
        update(page)
        .where(of_site, waits, page.c.level > deepest)
        .values(state=int(State.REJECTED), reason=reason, state_at=now)
    )


def _reselect_all(
    connection: Connection, crawl_id: int, rows: Iterable[SiteRow], selection: Selection, now: float
) -> bool:
    """Queue or reject the pages of sites whose selection changed; return whether any wait that did not before."""
    of_crawl = select(site.c.id, site.c.selection, site.c.home_addresses).where(site.c.crawl_id == crawl_id)
    stored = {row.id: row for row in connection.execute(of_crawl)}
    changed = []
    for row in rows:
        before = stored[row.id]
        lost = set((before.home_addresses or "").split()).difference(row.home_addresses)  # those of other sites now
        fingerprint = " ".join([selection.fingerprint(row), *sorted(lost)]) or None
        if before.selection != fingerprint:
            changed.append((row, fingerprint))
    if not changed:
        return False
    connection.execute(
        update(site).where(site.c.id == bindparam("number")).values(selection=bindparam("today")),
        [{"number": row.id, "today": fingerprint} for row, fingerprint in changed],
    )
    return any([_reselect(connection, row, selection, now) for row, _ in changed if not row.is_new])


def _reselect(connection: Connection, row: SiteRow, selection: Selection, now: float) -> bool:
    """Queue or reject the pages of a site; return whether any wait that did not before."""
    has_grown = False
    waits = page.c.state == int(State.WAITING)
    not_selected = (page.c.state == int(State.REJECTED)) & page.c.reason.like(f"{NOT_SELECTED}%")
    columns = (page.c.id, page.c.url, page.c.level, page.c.state, page.c.reason)
    changed = (
        update(page)
        .where(page.c.id == bindparam("number"))
        .values(state=bindparam("new_state"), reason=bindparam("why"), state_at=now)
    )
    after = 0
    while True:
        some = select(*columns).where(page.c.site_id == row.id, waits | not_selected, page.c.id > after)
        found = connection.execute(some.order_by(page.c.id).limit(RESELECTED)).all()
        if not found:
            return has_grown
        after = found[-1].id
        changes = []
        for number, url, level, state, before in found:
            why = selection.reason_against(row, url, level)
            if why is None and row.max_level is not None and level > row.max_level:
                why = too_deep(level, row.max_level)
            if why != (before if state == State.REJECTED else None):
                new_state = int(State.WAITING if why is None else State.REJECTED)
                has_grown = has_grown or why is None
                changes.append({"number": number, "new_state": new_state, "why": why})
        if changes:
            connection.execute(changed, changes)


def _retry_home_page(connection: Connection, site_id: int, now: float) -> None:
    """Queue the home page of an unavailable site again, as if it had never been requested."""
    ended = (int(State.REFUSED), int(State.FAILED), int(State.REJECTED))
    again = update(page).where(page.c.site_id == site_id, page.c.level == 0, page.c.state.in_(ended))
    for scores in (importance, news_score):  # a page whose revisit is scheduled there is not queued twice
        returns = select(scores.c.page_id).where(scores.c.site_id == site_id, scores.c.queue >= 0)
        again = again.where(page.c.id.not_in(returns))
    waits = again.values(state=int(State.WAITING), reason=None, attempts=0, state_at=now)
    if connection.execute(waits).rowcount:
        connection.execute(update(site).where(site.c.id == site_id).values(availability=None))


def open_sites(
    connection: Connection, crawl_id: int, wanted: Sequence[SiteRow], now: float, *, try_again: bool = False
) -> list[SiteRow]:
    """Include the sites *wanted* in the crawl, adding new ones; return their rows with their numbers.

    With *try_again*, the home pages of unavailable sites are requested again.
    """
    known = {row.site: row for row in connection.execute(select(site).where(site.c.crawl_id == crawl_id))}
    by_name = {one.site: one for one in wanted}
    owners = {address: one.site for one in wanted for address in (one.site, *one.aliases)}
    new = len(by_name.keys() - known.keys())
    ids = iter(reserve(connection, site.c.id, new) if new else ())
    seeds = _seeds_of(connection, by_name)
    _insert_seeds(connection, [one for one in by_name.values() if one.site not in seeds and one.site not in known])
    seeds |= _seeds_of(connection, by_name.keys() - seeds.keys())
    rows, inserted, updated = [], [], []  # few statements for any number of sites: there may be 100,000
    for one in by_name.values():
        limits = {
            "parallel": one.parallel,
            "max_level": one.max_level,
            "delay_s": one.delay_s,
            "start_url": one.start_url,
            "folder": one.folder or None,
            "aliases": " ".join(one.aliases) or None,
        }
        row = known.get(one.site)
        if row is None:
            number = next(ids)
            new_row = {"id": number, "crawl_id": crawl_id, "seed_id": seeds[one.site], "site": one.site, **limits}
            inserted.append(new_row)
            rows.append(replace(one, id=number, is_new=True))
            continue
        its_seed = seeds.get(one.site, row.seed_id)  # the seed may have been removed and added again
        updated.append({"number": row.id, "seed_id": its_seed, **limits})
        if row.max_level != one.max_level:
            _move_level_limit(connection, row.id, one.max_level, now)
        if row.availability is not None and try_again:
            _retry_home_page(connection, row.id, now)
        known_of_it = {name: getattr(row, name) for name in ("robots_status", "robots_text", "robots_at", "rest_until")}
        homes = _own_homes(one.site, row.home_addresses, owners)
        rows.append(replace(one, id=row.id, home_addresses=homes, **known_of_it))
    if inserted:
        connection.execute(insert(site), inserted)
    if updated:
        values: dict[str, Any] = {name: bindparam(name) for name in updated[0] if name != "number"}
        connection.execute(update(site).where(site.c.id == bindparam("number")).values(**values, is_open=True), updated)
    return rows


def _seeds_of(connection: Connection, sites: Collection[str]) -> dict[str, int]:
    """Return the numbers of the seeds of *sites*, by site."""
    names = list(sites)
    found: dict[str, int] = {}
    for first in range(0, len(names), MAX_NAMES):
        some = seed.c.site.in_(names[first : first + MAX_NAMES])
        found.update((name, number) for name, number in connection.execute(select(seed.c.site, seed.c.id).where(some)))
    return found


def _insert_seeds(connection: Connection, wanted: Iterable[SiteRow]) -> None:
    # Naming a site in one host list does not enable it for every harvest.
    rows = [{"site": one.site, "start_url": one.start_url or f"{one.site}/", "enabled": False} for one in wanted]
    if rows:
        connection.execute(insert(seed), rows)


def found_site(crawl_id: int, row: SiteRow, worker_id: int | None = None, leader: str | None = None) -> ChangeSet:
    """Return the rows that add a site to the crawl, which was discovered during it by a worker that holds it now.

    *leader* is the name of the site that leads its source.
    """
    limits = (row.parallel, row.max_level, row.delay_s, row.start_url)
    return ChangeSet(
        FoundSeed(row.site, row.start_url or f"{row.site}/"),
        FoundSite(row.id, crawl_id, row.site, *limits, worker_id, leader),
    )


def known_sites(database: Database, crawl_id: int, names: Collection[str]) -> tuple[set[str], int]:
    """Return those of the *names* that are sites of the crawl, and the number of all its sites."""
    of_crawl = site.c.crawl_id == crawl_id
    with database.read() as connection:
        found = set(connection.execute(select(site.c.site).where(of_crawl, site.c.site.in_(names))).scalars())
        return found, connection.execute(select(func.count()).select_from(site).where(of_crawl)).scalar_one()


def count_excluded(database: Database, crawl_id: int) -> tuple[int, int]:
    """Return the number of excluded sites with waiting URLs or scheduled revisits, and the number of these URLs."""
    left = (site.c.crawl_id == crawl_id) & ~site.c.is_open
    waits = select(page.c.site_id).where(page.c.state == int(State.WAITING))
    returns = select(news_score.c.site_id).where(news_score.c.queue == REVISIT)
    counts: Counter[int] = Counter()
    with database.read() as connection:
        for urls in (waits, returns):
            of = urls.selected_columns[0]
            counted = urls.join(site, site.c.id == of).where(left).group_by(of).add_columns(func.count())
            for site_id, number in connection.execute(counted):
                counts[site_id] += number
    return len(counts), counts.total()


def open_site_ids(database: Database, crawl_id: int) -> list[int]:
    """Return the numbers of the sites that the latest run includes, in order, whichever worker holds them."""
    included = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.is_open).order_by(site.c.id)
    with database.read() as connection:
        return list(connection.execute(included).scalars())


def is_waiting(database: Database, crawl_id: int) -> bool:
    """Return whether any URL of the crawl waits, or its revisit, including those of sites that the host list omits."""
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    waits = [select(page.c.id).where(page.c.site_id.in_(of_crawl), page.c.state == int(State.WAITING))]
    for scores in (importance, news_score):
        waits.append(select(scores.c.page_id).where(scores.c.site_id.in_(of_crawl), scores.c.queue == REVISIT))
    with database.read() as connection:
        for query in waits:
            if connection.execute(query.limit(1)).scalar() is not None:
                return True
    return False


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
            server_now = workers.server_time(connection)
            if not workers.leave(connection, worker_id, server_now):
                return False
            workers.finish(connection, worker_id, server_now)
        connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(state=state, ended_at=now, reason=reason))
    return True
