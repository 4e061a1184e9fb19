"""The sites of a crawl, as rows with their limits."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, case, cast, exists, func, literal, or_, select

from crawlers.items import REVISIT, State
from crawlers.pages.retries import OF_NETWORK, error_class
from crawlers.pages.robots_groups import SERVER_ERROR, TOO_MANY_REQUESTS, UNREACHABLE
from crawlers.reasons import Reason
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.tables import REVISITED, page, seed_host, site, worker
from crawlers.store.streaming import among
from crawlers.store.worker_rows import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import ColumnElement, Connection

    from crawlers.store.database import Database

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
