"""The sites of a crawl, as rows with their limits: adds sites, each with its seed, and opens those of earlier runs."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, bindparam, case, cast, exists, func, insert, literal, or_, select, update

from crawlers.items import REVISIT, State
from crawlers.pages.retries import OF_NETWORK, error_class
from crawlers.pages.robots_groups import SERVER_ERROR, TOO_MANY_REQUESTS, UNREACHABLE
from crawlers.reasons import Reason
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.tables import (
    REVISITED,
    DiscoveredSeed,
    DiscoveredSite,
    page,
    seed,
    seed_host,
    site,
    worker,
)
from crawlers.store.streaming import among
from crawlers.store.worker_rows import ACTIVE
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.reserved_ids import reserve
from crawlers.urls.addresses import SiteAddresses
from crawlers.urls.resolution import resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from crawlers.items import Target
    from crawlers.store.database import Database
    from crawlers.urls.normalization import Normalization
    from crawlers.urls.url_expressions import UrlSelection

MAX_SILENCE_S = 30.0  # of a worker, after which nobody is told that it will make another attempt
NO_ROBOTS = or_(site.c.robots_status.in_([UNREACHABLE, TOO_MANY_REQUESTS]), site.c.robots_status >= SERVER_ERROR)
# Why nothing can be read of a site: the reason of its home page, or else that of robots.txt before any page was read.
WHY_UNAVAILABLE = func.coalesce(
    site.c.availability,
    case(
        (
            NO_ROBOTS & ~exists().where(page.c.site_id == site.c.id, page.c.state == int(State.DONE)),
            func.coalesce(site.c.robots_text, literal(f"{Reason.STATUS} ").concat(cast(site.c.robots_status, String))),
        )
    ),
)
# The columns that `site_problem` reads.
PROBLEM = (
    WHY_UNAVAILABLE.label("unavailable_because"),
    site.c.certificate,
    site.c.rest_until,
    select(worker.c.beat_at)
    .where(worker.c.id == site.c.worker_id, worker.c.state == ACTIVE)
    .scalar_subquery()
    .label("worker_beat_at"),
)


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
    rest_until: float | None = None  # nothing is requested until then
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


def site_problem(row: Any, now: float) -> str | None:
    """Return why nothing can be read of the site of *row*, and when a worker will try again; None: no problem is known.

    Of a site that can be read, it is what is wrong with its certificate.
    *row* has the columns `PROBLEM`, and perhaps others. Panel, live display and summary say it in these words.
    """
    why: str | None = row.unavailable_because
    if why is None:
        certificate: str | None = row.certificate
        return certificate
    is_reached = error_class(0, why) not in OF_NETWORK
    is_awaited = row.rest_until is not None and row.rest_until > now
    if is_awaited and row.worker_beat_at is not None and now - row.worker_beat_at < MAX_SILENCE_S:
        code = Reason.NOT_AVAILABLE_YET if is_reached else Reason.NOT_REACHABLE_YET
        return code.of(math.ceil(row.rest_until - now), why)
    return (Reason.NOT_AVAILABLE if is_reached else Reason.NOT_REACHABLE).of(why)


_LIMITS = ("id", "site", "parallel", "max_level", "delay_s", "start_url")
ROBOTS = ("robots_status", "robots_text", "robots_at", "rest_until")
_AS_STORED = (*_LIMITS, *ROBOTS, "source_id")


def find_sites(connection: Connection, crawl_id: int, *conditions: ColumnElement[bool]) -> list[SiteRow]:
    """Return the sites of the crawl for which the *conditions* hold, with their limits only, in the order of ids."""
    columns = [site.c[name] for name in _LIMITS]
    rows = connection.execute(select(*columns).where(site.c.crawl_id == crawl_id, *conditions).order_by(site.c.id))
    return [SiteRow(*row) for row in rows]


def site_rows(connection: Connection, numbers: Collection[int], ahead_s: float = 0.0) -> list[SiteRow]:
    """Return the rows of open sites by their *numbers*, in this order.

    `asked_at` is by a clock that is *ahead_s* before that of the server.
    """
    rows = connection.execute(select(site).where(among(site.c.id, numbers)).order_by(site.c.id)).all()
    has_homes = [row for row in rows if row.home_addresses]
    owners: dict[str, str] = {}
    if has_homes:
        of_crawl = select(site.c.site, site.c.aliases).where(site.c.crawl_id == has_homes[0].crawl_id, site.c.is_open)
        for name, aliases in connection.execute(of_crawl):
            owners |= dict.fromkeys((name, *(aliases or "").split()), name)
    return [
        SiteRow(
            **{name: row._mapping[name] for name in _AS_STORED},
            asked_at=None if row.asked_at is None else row.asked_at + ahead_s,
            folder=row.folder or "",
            aliases=tuple((row.aliases or "").split()),
            home_addresses=own_homes(row.site, row.home_addresses, owners),
        )
        for row in rows
    ]


def networks_of_seeds(
    connection: Connection, crawl_id: int, hosts: Collection[str] | None = None
) -> dict[str, frozenset[str]]:
    """Return the networks in which workers of the crawl found the *hosts* that a person named; without them, all.

    One of the *hosts* that was public in any crawl of the store stays so.
    """
    stored = select(seed_host.c.host, seed_host.c.networks).order_by(seed_host.c.networks.desc())  # public ones win
    its = seed_host.c.crawl_id == crawl_id
    stored = stored.where(its if hosts is None else seed_host.c.host.in_(hosts) & (its | (seed_host.c.networks == "")))
    return {host: frozenset(filter(None, networks.split(","))) for host, networks in connection.execute(stored)}


def own_homes(name: str, home_addresses: str | None, owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the stored *home_addresses* of a site without those of other sites; *owners* are the sites by address.

    An address that the host list names now is that of a site of its own.
    """
    return tuple(home for home in (home_addresses or "").split() if owners.get(home, name) == name)


def known_sites(connection: Connection, crawl_id: int, names: Collection[str]) -> set[str]:
    """Return those of the *names* that are sites of the crawl."""
    its = select(site.c.site).where(site.c.crawl_id == crawl_id, among(site.c.site, names))
    return set(connection.execute(its).scalars())


def count_sites(connection: Connection, crawl_id: int) -> int:
    """Return the number of all sites of the crawl, including those that the latest run excludes."""
    return connection.execute(select(func.count()).select_from(site).where(site.c.crawl_id == crawl_id)).scalar_one()


def open_site_ids(database: Database, crawl_id: int) -> list[int]:
    """Return the numbers of the sites that the latest run includes, in order, whichever worker holds them."""
    included = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.is_open).order_by(site.c.id)
    return database.scalars(included)


def count_excluded(database: Database, crawl_id: int) -> tuple[int, int]:
    """Return the number of excluded sites with waiting URLs or scheduled revisits, and the number of these URLs."""
    left = (site.c.crawl_id == crawl_id) & ~site.c.is_open
    waits = select(page.c.site_id).where(page.c.state == int(State.WAITING))
    returns = [select(one.c.site_id).where(one.c.queue == REVISIT) for one in REVISITED if VISITS in one.info]
    counts: Counter[int] = Counter()
    for urls in (waits, *returns):
        of = urls.selected_columns[0]
        counted = urls.join(site, site.c.id == of).where(left).group_by(of).add_columns(func.count())
        for site_id, number in database.rows(counted):
            counts[site_id] += number
    return len(counts), counts.total()


class StoredSelection:
    """The URLs of a site that are fetched, by its folder, its addresses, and the patterns of *selection*.

    *reason_against* is that of the filter of new URLs, *options* are the steps of their normal form.
    """

    def __init__(
        self, reason_against: Callable[[Target], str | None], selection: UrlSelection | None, options: Normalization
    ) -> None:
        self._reason_against = reason_against
        self._expressions = ((), ()) if selection is None else (selection.include, selection.exclude)
        self._options = options

    def fingerprint(self, row: SiteRow) -> str:
        """Return a text that changes with the selection; "" if all URLs of the site are selected."""
        parts = [row.folder, sorted(row.aliases), *self._expressions]
        return json.dumps(parts) if any(parts) else ""

    def reason_against(self, row: SiteRow, url: str, level: int) -> str | None:
        """Return why a stored URL is not selected, or None."""
        if (address := site_of(url)) not in row.addresses:
            return Reason.OTHER_ADDRESS.of(address, row.site)
        if level == 0:  # start URLs, and pages to which they redirect
            return None
        addresses = SiteAddresses()
        addresses.set(row.site, row.addresses, row.address)
        return self._reason_against(addresses.of_site(resolve(url, "", self._options)))


def reselect(
    connection: Connection, crawl_id: int, rows: Iterable[SiteRow], selection: StoredSelection, now: float
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
    stored_before = [row for row, _ in changed if not row.is_new]
    if not stored_before:
        return False
    from crawlers.store.sites.page_selection import reselect_pages  # a crawl that begins has none

    return any(
        [
            reselect_pages(connection, row.id, row.max_level, partial(selection.reason_against, row), now)
            for row in stored_before
        ]
    )


@dataclass(frozen=True, slots=True)
class SiteList:
    """The sites that a process was told to crawl, and the other sites that its crawl includes."""

    listed: Sequence[SiteRow] = ()  # with id 0 and today's limits; none: a resumed crawl includes all its sites
    further: Sequence[SiteRow] = ()  # which the user did not list
    keeps: Callable[[SiteRow], bool] | None = None  # whether an unlisted site of an earlier run stays; None: none does
    leader_of: Callable[[str], str | None] = lambda site: None  # the name of the site that leads the source of a site
    selection: StoredSelection | None = None  # of pages; if it changed, it applies as if it had always been the same

    @property
    def names(self) -> frozenset[str]:
        """The names of the listed sites."""
        return frozenset(one.site for one in self.listed)


def open_sites(
    connection: Connection, crawl_id: int, sites: SiteList, now: float, *, try_again: bool = False
) -> list[SiteRow]:
    """Include *sites* in the crawl, adding new ones; return their rows with their numbers. The rest are left alone.

    With *try_again*, the home pages of unavailable sites are requested again.
    """
    names = sites.names
    kept = [one for one in find_sites(connection, crawl_id) if one.site not in names]
    if sites.listed:
        kept = [one for one in kept if sites.keeps is not None and sites.keeps(one)]
    names = names.union(one.site for one in kept)
    added = [one for one in sites.further if one.site not in names]
    write_changes(connection, ChangeSet(*(DiscoveredSeed(one.site, f"{one.site}/") for one in added)))
    wanted = [*sites.listed, *kept, *added]
    known = {row.site: row for row in connection.execute(select(site).where(site.c.crawl_id == crawl_id))}
    by_name = {one.site: one for one in wanted}
    owners = {address: one.site for one in wanted for address in (one.site, *one.aliases)}
    new = len(by_name.keys() - known.keys())
    ids = iter(reserve(connection, site, new) if new else ())
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
        from crawlers.store.sites.page_selection import move_level_limit, retry_home_page  # of a crawl that goes on

        its_seed = seeds.get(one.site, row.seed_id)  # the seed may have been removed and added again
        updated.append({"number": row.id, "seed_id": its_seed, **limits})
        if row.max_level != one.max_level:
            move_level_limit(connection, row.id, one.max_level, now)
        if row.availability is not None and try_again:
            retry_home_page(connection, row.id, now)
        known_of_it = {name: getattr(row, name) for name in ROBOTS}
        homes = own_homes(one.site, row.home_addresses, owners)
        rows.append(replace(one, id=row.id, home_addresses=homes, **known_of_it))
    if inserted:
        connection.execute(insert(site), inserted)
    if updated:
        values: dict[str, Any] = {name: bindparam(name) for name in updated[0] if name != "number"}
        connection.execute(update(site).where(site.c.id == bindparam("number")).values(**values, is_open=True), updated)
    return _with_leaders(connection, rows, sites.leader_of)


def _seeds_of(connection: Connection, sites: Collection[str]) -> dict[str, int]:
    """Return the numbers of the seeds of *sites*, by site."""
    named = select(seed.c.site, seed.c.id).where(among(seed.c.site, sites))
    return {name: number for name, number in connection.execute(named)}


def _insert_seeds(connection: Connection, wanted: Iterable[SiteRow]) -> None:
    # Naming a site in one host list does not enable it for every harvest.
    rows = [{"site": one.site, "start_url": one.start_url or f"{one.site}/", "enabled": False} for one in wanted]
    if rows:
        connection.execute(insert(seed), rows)


def _with_leaders(connection: Connection, rows: list[SiteRow], leader_of: Callable[[str], str | None]) -> list[SiteRow]:
    """Store which sites lead the sources of those of *rows*, and return *rows* with them."""
    numbers = {row.site: row.id for row in rows}
    leaders = {row.id: numbers.get(leader_of(row.site) or "") for row in rows}
    led = [{"number": number, "leader": leader} for number, leader in leaders.items() if leader not in (None, number)]
    if not led:
        return rows
    connection.execute(update(site).where(site.c.id == bindparam("number")).values(source_id=bindparam("leader")), led)
    sources = {one["number"]: one["leader"] for one in led}
    return [replace(row, source_id=sources.get(row.id)) for row in rows]


def discovered_site(crawl_id: int, row: SiteRow, worker_id: int | None = None, leader: str | None = None) -> ChangeSet:
    """Return the rows that add a site to the crawl, which was discovered during it by a worker that holds it now.

    *leader* is the name of the site that leads its source.
    """
    limits = (row.parallel, row.max_level, row.delay_s, row.start_url)
    return ChangeSet(
        DiscoveredSeed(row.site, row.start_url or f"{row.site}/"),
        DiscoveredSite(row.id, crawl_id, row.site, *limits, worker_id, leader),
    )
