"""The list of sites at a glance, and everything that the latest crawl of one of them found out about it."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import desc, func, select

from crawlers.items import Seed, State
from crawlers.reports.catalogue.conditions import by_code_points
from crawlers.reports.catalogue.site_report import robots_delays
from crawlers.reports.crawl_overview import guesses_of
from crawlers.storage.schema.tables import crawl, page, pull, seed, site
from crawlers.storage.seeds import SEED_COLUMNS, external_urls_of
from crawlers.storage.site_rows import PROBLEM, site_problem
from crawlers.storage.url_counts import MIN_ERROR_STATUS, UrlCounts, url_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlers.storage.database import Database

MAX_ERRORS = 20  # kinds of them


class SeedState(StrEnum):
    """What is known of a site of the list."""

    AVAILABLE = "available"
    UNAVAILABLE = "not available"
    NEVER = "not crawled yet"


STATES = ("enabled", "disabled", *SeedState)


class SeedLine(NamedTuple):
    """A site of the list, with its latest crawl."""

    seed: Seed
    state: SeedState
    problem: str | None = None  # see `site_problem`
    crawl_id: int | None = None
    site_id: int | None = None

    @property
    def names(self) -> str:
        """All by which people look for it, in lower case."""
        one = self.seed
        return f"{one.number}\n{one.start_url}\n{one.name or ''}\n{one.short_name or ''}".casefold()


class SeedFigures(NamedTuple):
    """What the latest crawls of all sites have counted, by the number of the site in its crawl."""

    counts: Mapping[int, UrlCounts]
    yields: Mapping[int, float]  # sums of rewards

    def counts_of(self, line: SeedLine) -> UrlCounts:
        """Return the counts of a site of the list; none, if it was never crawled."""
        return self.counts.get(line.site_id or 0, UrlCounts())


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
_VALUES: dict[str, Callable[[SeedLine, SeedFigures], Any]] = {  # by which the list is sorted
    "number": lambda line, _: line.seed.number,
    "name": lambda line, _: (line.seed.short_name or line.seed.name or "").lower() or None,
    "site": lambda line, _: line.seed.site.partition("://")[2],
    "state": lambda line, _: (line.state, line.problem or ""),
    "enabled": lambda line, _: not line.seed.enabled,
    "pages": lambda line, figures: figures.counts_of(line).pages if line.site_id else None,
    "errors": lambda line, figures: figures.counts_of(line).errors if line.site_id else None,
    "yield": lambda line, figures: figures.yields.get(line.site_id or 0),
}
SORTED_BY = tuple(_VALUES)


def seed_lines(database: Database) -> list[SeedLine]:
    """Return all sites of the list, by number; 100,000 take 1.5 seconds. Raises `StoreError`."""
    of_crawl = (*PROBLEM, site.c.crawl_id, site.c.id.label("site_id"))
    listed = select(*SEED_COLUMNS, *of_crawl).select_from(seed.outerjoin(site, site.c.id == _latest_id))
    return [_line(row) for row in database.rows(listed.order_by(seed.c.id))]


def chosen_lines(
    lines: Sequence[SeedLine],
    figures: SeedFigures,
    text: str = "",
    state: str = "",
    by: str = "number",
    *,
    descending: bool = False,
) -> list[SeedLine]:
    """Return those of *lines* that have *text* in a name or address and are in a *state*, sorted *by* a value.

    The state is a `SeedState`, `enabled` or `disabled`; anything else means all. Values are those of `SORTED_BY`; lines
    without one come last.
    """
    wanted, value = text.strip().casefold(), _VALUES.get(by, _VALUES["number"])
    chosen = [
        one
        for one in lines
        if (state not in STATES or state in (one.state, "enabled" if one.seed.enabled else "disabled"))
        and wanted in one.names
    ]
    values = [(value(one, figures), one) for one in chosen]
    known = sorted((pair for pair in values if pair[0] is not None), key=lambda pair: pair[0], reverse=descending)
    return [one for _, one in (*known, *(pair for pair in values if pair[0] is None))]


def seed_figures(database: Database) -> SeedFigures:
    """Return what the latest crawls of all sites have counted; it takes a second for 10^6 URLs. Raises `StoreError`."""
    is_news = crawl.c.mission == "news"
    latest = select(func.max(site.c.id)).group_by(site.c.site)
    counts: dict[int, UrlCounts] = {}
    with database.read() as connection:
        for mission, is_mission in (("news", is_news), ("", ~is_news)):
            of_crawls = site.c.crawl_id.in_(select(crawl.c.id).where(is_mission))
            of_sites = select(site.c.id).where(site.c.id.in_(latest), of_crawls)
            counts |= url_counts(connection, page.c.site_id.in_(of_sites), guesses_of(mission))
        rewards = select(pull.c.site_id, func.sum(pull.c.reward)).where(pull.c.site_id.in_(latest))
        yields = {site_id: total for site_id, total in connection.execute(rewards.group_by(pull.c.site_id))}
    return SeedFigures(counts, yields)


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


def _line(row: Any) -> SeedLine:
    one = Seed(*row[: len(SEED_COLUMNS)])
    if row.site_id is None:
        return SeedLine(one, SeedState.NEVER)
    state = SeedState.AVAILABLE if row.unavailable_because is None else SeedState.UNAVAILABLE
    return SeedLine(one, state, site_problem(row, time.time()), row.crawl_id, row.site_id)
