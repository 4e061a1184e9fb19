"""The list of sites at a glance, and everything that the latest crawl of one of them found out about it."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import String, cast, desc, func, or_, select

from crawlers.items import Seed, State
from crawlers.reports.catalogue.conditions import by_code_points, contains
from crawlers.reports.catalogue.site_report import robots_delays
from crawlers.reports.crawl_overview import guesses_of
from crawlers.storage.crawl_results import MIN_ERROR_STATUS
from crawlers.storage.schema.tables import crawl, page, pull, seed, site
from crawlers.storage.seeds import SEED_COLUMNS, external_urls_of
from crawlers.storage.site_rows import PROBLEM, WHY_UNAVAILABLE, site_problem
from crawlers.storage.url_counts import UrlCounts, url_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement

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
    problem: str | None = None  # see `site_problem`
    crawl_id: int | None = None
    site_id: int | None = None


class SeedPage(NamedTuple):
    """A part of the list."""

    lines: Sequence[SeedLine]
    total: int  # of the whole list


class SeedFigures(NamedTuple):
    """What the latest crawls of all sites have counted, by the number of the site in its crawl."""

    counts: Mapping[int, UrlCounts]
    yields: Mapping[int, float]  # sums of rewards


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
_LISTED = seed.outerjoin(site, site.c.id == _latest_id)
_STATES = {
    "enabled": seed.c.enabled,
    "disabled": ~seed.c.enabled,
    SeedState.AVAILABLE: site.c.id.is_not(None) & WHY_UNAVAILABLE.is_(None),
    SeedState.UNAVAILABLE: WHY_UNAVAILABLE.is_not(None),
    SeedState.NEVER: site.c.id.is_(None),
}
_name = func.coalesce(seed.c.short_name, seed.c.name)
_STORED_KEYS: dict[str, tuple[ColumnElement[Any], ...]] = {  # each ends with what no two sites have in common
    "number": (seed.c.id,),
    "name": (_name.is_(None), func.lower(_name), seed.c.id),
    "site": (func.replace(func.replace(seed.c.site, "http://", ""), "https://", ""), seed.c.site),
    "state": (site.c.id.is_(None), WHY_UNAVAILABLE.is_not(None), WHY_UNAVAILABLE, seed.c.id),
    "enabled": (~seed.c.enabled, seed.c.id),
}
_COUNTED_KEYS: dict[str, Callable[[SeedFigures, int], float | None]] = {
    "pages": lambda figures, site_id: figures.counts.get(site_id, UrlCounts()).pages,
    "errors": lambda figures, site_id: figures.counts.get(site_id, UrlCounts()).errors,
    "yield": lambda figures, site_id: figures.yields.get(site_id),
}
SORTED_BY = (*_STORED_KEYS, *_COUNTED_KEYS)


def seed_page(
    database: Database,
    text: str = "",
    state: str = "",
    by: str = "number",
    figures: SeedFigures | None = None,
    *,
    descending: bool = False,
    first: int = 0,
    rows: int = 100,
) -> SeedPage:
    """Return *rows* sites of the list, beginning with the one at the place *first*, sorted *by* a key of `SORTED_BY`.

    The list are those that have *text* in a name or address, and are in a *state*: a `SeedState`, `enabled` or
    `disabled`; anything else means all. Only the rows that are returned are read as a whole. Without *figures* they
    can't be sorted by what is counted, but by number. Raises `StoreError`.
    """
    conditions = list(_conditions(text, state))
    of_crawl = (*PROBLEM, site.c.crawl_id, site.c.id.label("site_id"))
    wanted = select(*SEED_COLUMNS, *of_crawl).select_from(_LISTED)
    with database.read() as connection:
        total = connection.execute(select(func.count()).select_from(_LISTED).where(*conditions)).scalar_one()
        if by in _COUNTED_KEYS and figures is not None:
            pairs = connection.execute(select(seed.c.id, site.c.id).select_from(_LISTED).where(*conditions))
            ids = _ranked([(number, site_id) for number, site_id in pairs], figures, by, descending=descending)
            ids = ids[first : first + rows]
            places = {number: place for place, number in enumerate(ids)}
            listed = connection.execute(wanted.where(seed.c.id.in_(ids)))
            lines = sorted(map(_line, listed), key=lambda line: places[line.seed.number])
        else:
            keys = _STORED_KEYS.get(by, _STORED_KEYS["number"])
            ordered = wanted.where(*conditions).order_by(*(key.desc() if descending else key.asc() for key in keys))
            lines = [_line(row) for row in connection.execute(ordered.offset(first).limit(rows))]
    return SeedPage(lines, total)


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


def _conditions(text: str, state: str) -> Iterator[ColumnElement[bool]]:
    if state in _STATES:
        yield _STATES[state]
    if wanted := text.strip():
        number = cast(seed.c.id, String)
        yield or_(
            *(
                contains(column, one)
                for column in (number, seed.c.start_url, seed.c.name, seed.c.short_name)
                for one in {wanted.lower(), wanted.upper(), wanted.capitalize()}  # SQLite knows the case of ASCII only
            )
        )


def _ranked(pairs: Sequence[tuple[int, int | None]], figures: SeedFigures, by: str, *, descending: bool) -> list[int]:
    """Return the first ones of pairs of numbers (in the list, in the latest crawl) by a figure of the second ones.

    Those without a figure come last.
    """
    value = _COUNTED_KEYS[by]
    known, unknown = [], []
    for number, site_id in pairs:
        found = None if site_id is None else value(figures, site_id)
        if found is None:
            unknown.append(number)
        else:
            known.append((found, number))
    known.sort(reverse=descending)
    return [*(number for _, number in known), *unknown]


def _line(row: Any) -> SeedLine:
    one = Seed(*row[: len(SEED_COLUMNS)])
    if row.site_id is None:
        return SeedLine(one, SeedState.NEVER)
    state = SeedState.AVAILABLE if row.unavailable_because is None else SeedState.UNAVAILABLE
    return SeedLine(one, state, site_problem(row, time.time()), row.crawl_id, row.site_id)
