"""The list of sites at a glance, and everything that the latest crawl of one of them found out about it."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from protego import Protego
from sqlalchemy import func, select

from crawlers.algorithms.robots_groups import lines_for, product_token
from crawlers.items import State
from crawlers.storage.crawl_results import reason_kind
from crawlers.storage.schema.tables import crawl, crawler_setting, page, site
from crawlers.storage.seeds import last_crawls, list_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy.engine import Row

    from crawlers.items import Seed
    from crawlers.storage.database import Database

MAX_ERRORS = 20  # kinds of them


class SeedState(StrEnum):
    """What is known of a site of the list."""

    AVAILABLE = "available"
    UNAVAILABLE = "not available"
    NEVER = "not crawled yet"


class SeedLine(NamedTuple):
    """A site of the list, with its latest crawl."""

    seed: Seed
    state: SeedState
    why: str | None = None  # it is not available
    crawl_id: int | None = None
    site_id: int | None = None
    pages: int | None = None  # that were read; None: not counted


class Level(NamedTuple):
    """The pages that were read on a level."""

    level: int
    pages: int
    share: float  # of the largest level, from 0 to 1


class SiteDetails(NamedTuple):
    """What the latest crawl of a site found out; times are seconds since 1970."""

    crawl_id: int
    crawl: str
    availability: str | None
    counts: Mapping[State, int]
    external_urls: int  # distinct
    levels: Sequence[Level]
    errors: Sequence[tuple[str, int]]  # the most frequent reasons
    parallel: int
    delay_s: float  # that was asked for
    robots_delay_s: float  # the Crawl-delay of robots.txt for this crawler; 0: none
    max_level: int | None
    robots_status: int | None
    robots_text: str | None
    robots_at: float | None

    @property
    def per_page(self) -> float:
        """The distinct external URLs per page that was read."""
        done = self.counts.get(State.DONE, 0)
        return self.external_urls / done if done else 0.0


_KEYS: dict[str, Callable[[SeedLine], tuple[object, ...]]] = {
    "number": lambda line: (line.seed.number,),
    "name": lambda line: ((line.seed.short_name or line.seed.name or "\uffff").casefold(), line.seed.site),
    "site": lambda line: (line.seed.site.partition("://")[2], line.seed.site),
    "state": lambda line: (line.state.value, line.seed.number),
    "enabled": lambda line: (not line.seed.enabled, line.seed.number),
}
SORTED_BY = tuple(_KEYS)


def seed_lines(
    database: Database, text: str = "", state: str = "", by: str = "number", *, descending: bool = False
) -> list[SeedLine]:
    """Return the sites of the list that have *text* in a name or address, and are in a *state*, sorted *by* a key.

    *state* is a `SeedState`, `enabled` or `disabled`; anything else means all. Pages are not counted.
    """
    latest = select(func.max(site.c.id)).group_by(site.c.site)
    columns = select(site.c.site, site.c.id, site.c.crawl_id, site.c.availability).where(site.c.id.in_(latest))
    with database.read() as connection:
        crawled = {row.site: row for row in connection.execute(columns)}
    wanted = text.strip().casefold()
    lines = (_line(seed, crawled.get(seed.site)) for seed in list_seeds(database))
    found = [line for line in lines if _is_in(line, state) and (not wanted or wanted in _words(line.seed))]
    return sorted(found, key=_KEYS.get(by, _KEYS["number"]), reverse=descending)


def with_pages(database: Database, lines: Sequence[SeedLine]) -> list[SeedLine]:
    """Return *lines* with their numbers of pages, which take one look at an index for each line."""
    ids = [line.site_id for line in lines if line.site_id is not None]
    counted = (
        select(page.c.site_id, func.count() + func.coalesce(func.sum(page.c.duplicates), 0))
        .where(page.c.site_id.in_(ids), page.c.state == int(State.DONE))
        .group_by(page.c.site_id)
    )
    with database.read() as connection:
        pages = {site_id: int(number) for site_id, number in connection.execute(counted)}
    return [line if line.site_id is None else line._replace(pages=pages.get(line.site_id, 0)) for line in lines]


def site_details(database: Database, name: str) -> SiteDetails | None:
    """Return what the latest crawl found out about the site *name*; None: it was never crawled."""
    found = (
        select(site, crawl.c.name.label("crawl_name"), crawler_setting.c.value.label("agent"))
        .join(crawl, crawl.c.id == site.c.crawl_id)
        .outerjoin(
            crawler_setting,
            (crawler_setting.c.crawl_id == crawl.c.id) & (crawler_setting.c.name == "USER_AGENT"),
        )
        .where(site.c.site == name)
        .order_by(site.c.id.desc())
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(found).one_or_none()
        if row is None:
            return None
        of_site = page.c.site_id == row.id
        by_state = select(page.c.state, func.count()).where(of_site).group_by(page.c.state)
        counts = {State(state): number for state, number in connection.execute(by_state)}
        done = (of_site, page.c.state == int(State.DONE))
        by_level = select(page.c.level, func.count()).where(*done).group_by(page.c.level).order_by(page.c.level)
        levels = [(level, number) for level, number in connection.execute(by_level)]
        failed = (of_site, page.c.state.in_([int(State.REFUSED), int(State.FAILED)]))
        reasons: dict[str, int] = {}
        for reason, number in connection.execute(
            select(page.c.reason, func.count()).where(*failed).group_by(page.c.reason)
        ):
            kind = reason_kind(reason or "unknown")
            reasons[kind] = reasons.get(kind, 0) + number
    most = max((number for _, number in levels), default=1)
    return SiteDetails(
        row.crawl_id,
        row.crawl_name,
        row.availability,
        counts,
        last_crawls(database, [name])[name].external_urls,
        [Level(level, number, number / most) for level, number in levels],
        sorted(reasons.items(), key=lambda one: (-one[1], one[0]))[:MAX_ERRORS],
        row.parallel,
        row.delay_s,
        _robots_delay_s(row.robots_text, row.agent),
        row.max_level,
        row.robots_status,
        row.robots_text,
        row.robots_at,
    )


def _line(seed: Seed, row: Row[str, int, int, str | None] | None) -> SeedLine:
    if row is None:
        return SeedLine(seed, SeedState.NEVER)
    state = SeedState.AVAILABLE if row.availability is None else SeedState.UNAVAILABLE
    return SeedLine(seed, state, row.availability, row.crawl_id, row.id)


def _is_in(line: SeedLine, state: str) -> bool:
    if state in ("enabled", "disabled"):
        return line.seed.enabled == (state == "enabled")
    return line.state.value == state or state not in set(SeedState)


def _words(seed: Seed) -> str:
    return "\n".join((str(seed.number), seed.start_url, seed.name or "", seed.short_name or "")).casefold()


def _robots_delay_s(text: str | None, agent: str | None) -> float:
    token = product_token(agent or "") or "*"
    delay_s = Protego.parse("\n".join(["User-agent: *", *lines_for(text or "", token)])).crawl_delay("*")
    return delay_s if delay_s is not None and math.isfinite(delay_s) else 0.0
