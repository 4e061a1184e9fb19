"""The list of sites at a glance, and everything that the latest crawl of one of them found out about it."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import desc, func, select

from crawlers.items import State
from crawlers.reports.catalogue.conditions import by_code_points
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.catalogue.site_report import robots_delays
from crawlers.store.reading.url_counts import MIN_ERROR_STATUS, UrlCounts, guesses_of, url_counts
from crawlers.store.schema.tables import crawl, page, pull, seed, site
from crawlers.store.sites.seeds import external_urls_of
from crawlers.store.sites.site_rows import PROBLEM, site_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.store.database import Database

MAX_ERRORS = 20  # kinds of them


class SeedState(StrEnum):
    """What is known of a site of the list."""

    AVAILABLE = "available"
    UNAVAILABLE = "not available"
    NEVER = "not crawled yet"


STATES = ("enabled", "disabled", *SeedState)
SEEDS = (
    Column("number", "No.", Kind.NUMBER),
    Column("start_url", "Site", Kind.URL),
    Column("short_name", "Short name"),
    Column("name", "Full name"),
    Column("enabled", "Harvested"),
    Column("state", "State", Kind.STATE),
    Column("problem", "Problem", Kind.REASON),
    Column("pages", "Pages", Kind.COUNT),
    Column("errors", "Errors", Kind.COUNT),
    Column("yield", "Yield", Kind.DECIMAL),
    Column("crawl", "Latest crawl", Kind.NUMBER),
)


class SeedLine(NamedTuple):
    """A site of the list with its latest crawl: the cells of `SEEDS`, then what is not shown."""

    number: int
    start_url: str
    short_name: str | None
    name: str | None
    enabled: bool
    state: SeedState
    problem: str | None = None  # see `site_problem`
    pages: int | None = None
    errors: int | None = None
    reward: float | None = None  # sum of those of its pulls
    crawl_id: int | None = None
    site: str = ""
    site_id: int | None = None
    copies: int = 0  # see `UrlCounts`

    @property
    def names(self) -> str:
        """All by which people look for it, in lower case."""
        return f"{self.number}\n{self.start_url}\n{self.name or ''}\n{self.short_name or ''}".casefold()


class SiteDetails(NamedTuple):
    """What the latest crawl of a site found out; times are seconds since 1970."""

    row: Any  # of the site, with the name of the crawl
    problem: str | None  # see `site_problem`
    counts: UrlCounts
    external_urls: int  # distinct
    levels: Sequence[tuple[int, int]]  # with the numbers of their pages
    errors: Sequence[tuple[str, int]]  # the most frequent reasons
    robots_delay_s: float  # the Crawl-delay of robots.txt as the crawl keeps it; 0: none


_earlier = site.alias()
_latest_id = select(func.max(_earlier.c.id)).where(_earlier.c.site == seed.c.site).scalar_subquery()


def seed_lines(database: Database) -> list[SeedLine]:
    """Return all sites of the list, by number; 100,000 take some seconds. Raises `StoreError`."""
    listed = select(seed, *PROBLEM, site.c.crawl_id, site.c.id.label("site_id"))
    statement = listed.select_from(seed.outerjoin(site, site.c.id == _latest_id)).order_by(seed.c.id)
    latest = select(func.max(site.c.id)).group_by(site.c.site)
    counts: dict[int, UrlCounts] = {}
    with database.read() as connection:
        for mission in connection.scalars(select(crawl.c.mission).distinct()).all():
            of_crawls = site.c.crawl_id.in_(select(crawl.c.id).where(crawl.c.mission == mission))
            of_sites = select(site.c.id).where(site.c.id.in_(latest), of_crawls)
            counts |= url_counts(connection, page.c.site_id.in_(of_sites), guesses_of(mission))
        rewards = select(pull.c.site_id, func.sum(pull.c.reward)).where(pull.c.site_id.in_(latest))
        yields = {site_id: total for site_id, total in connection.execute(rewards.group_by(pull.c.site_id))}
        return [
            _line(row, counts.get(row.site_id, UrlCounts()), yields.get(row.site_id))
            for row in connection.execute(statement)
        ]


def chosen_lines(lines: Sequence[SeedLine], text: str = "", state: str = "") -> list[SeedLine]:
    """Return those of *lines* that have *text* in a name or address, whatever its case, and are in a *state*.

    The state is one of `STATES`; anything else means all.
    """
    wanted = text.strip().casefold()
    return [
        one
        for one in lines
        if (state not in STATES or state in (one.state, "enabled" if one.enabled else "disabled"))
        and (not wanted or wanted in one.names)
    ]


def site_details(database: Database, name: str) -> SiteDetails | None:
    """Return what the latest crawl found out about the site *name*; None: it was never crawled."""
    found = (
        select(site, *PROBLEM, crawl.c.name.label("crawl_name"), crawl.c.mission)
        .join(crawl, crawl.c.id == site.c.crawl_id)
        .where(site.c.site == name)
        .order_by(site.c.id.desc())
        .limit(1)
    )
    with database.read() as connection:
        row = connection.execute(found).one_or_none()
        if row is None:
            return None
        of_site = page.c.site_id == row.id
        counts = url_counts(connection, of_site, guesses_of(row.mission)).get(row.id, UrlCounts())
        done = (of_site, page.c.state == int(State.DONE))
        by_level = select(page.c.level, func.count()).where(*done).group_by(page.c.level).order_by(page.c.level)
        levels = [(level, number) for level, number in connection.execute(by_level)]
        is_error = (page.c.state == int(State.FAILED)) | (
            (page.c.state == int(State.REFUSED)) & (page.c.status >= MIN_ERROR_STATUS)
        )
        failed = (of_site, is_error)
        by_reason = select(page.c.reason, func.count().label("number")).where(*failed).group_by(page.c.reason)
        most_frequent = by_reason.order_by(desc("number"), by_code_points(page.c.reason)).limit(MAX_ERRORS)
        reasons = [(reason, number) for reason, number in connection.execute(most_frequent)]
        external_urls = external_urls_of(connection, row.id)
        robots_delay_s = robots_delays(connection, row.crawl_id).of(row.robots_status, row.robots_text)
    return SiteDetails(row, site_problem(row, time.time()), counts, external_urls, levels, reasons, robots_delay_s)


def _line(row: Any, counts: UrlCounts, reward: float | None) -> SeedLine:
    seed = (row.id, row.start_url, row.short_name, row.name, row.enabled)
    if row.site_id is None:
        return SeedLine(*seed, SeedState.NEVER, site=row.site)
    state = SeedState.AVAILABLE if row.unavailable_because is None else SeedState.UNAVAILABLE
    figures = (counts.pages, counts.errors, reward)
    of_site = (row.crawl_id, row.site, row.site_id, counts.copies)
    return SeedLine(*seed, state, site_problem(row, time.time()), *figures, *of_site)
