"""Sites: what a crawl read of each, what went wrong, and how politely it is crawled; and the list of seeds."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import desc, func, select

from crawlers.items import State
from crawlers.options import SETTINGS
from crawlers.pages.robots_groups import is_unreachable
from crawlers.reports.catalogue.conditions import by_code_points, in_text, is_wanted_site
from crawlers.reports.catalogue.index_walk import is_kind, states_of
from crawlers.reports.catalogue.page_reports import guesses_in, trap_counts
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind, Related
from crawlers.reports.crawl_manifest import RecordedSettings
from crawlers.reports.histories.history import N_
from crawlers.sites.robots_rules import RobotsRules, robots_token
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.url_counts import COUNT_OF, UrlCounts, UrlKind, guesses_of, url_counts
from crawlers.store.schema.tables import crawl, page, pull, seed, site
from crawlers.store.sites.seeds import external_urls_of
from crawlers.store.sites.site_opening import PROBLEM, site_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.database import Database


ROWS_AT_ONCE = 100
_COLUMNS = (
    *(site.c.id, site.c.site, site.c.is_open, site.c.parallel, site.c.delay_s),
    *(site.c.robots_status, site.c.robots_text, *PROBLEM),
)
LONGEST_S: float = SETTINGS["ROBOTS_MAX_DELAY_SECONDS"].default
NAMES = ("USER_AGENT", "ROBOTSTXT_USER_AGENT", "ROBOTSTXT_OBEY", "ROBOTS_MAX_DELAY_SECONDS")


class Sites(ComputedReport):
    """The sites of a crawl."""

    name = "sites"
    title = "Sites"
    group = Group.CONTENTS
    about = "The sites of the crawl: their pages, errors, levels and yield, and how politely they are crawled."
    columns = (
        Column("site", "Site", Kind.URL),
        Column("state", "State", Kind.STATE),
        Column("availability", "Problem", Kind.REASON, about="why it can't be loaded, or what is wrong with it"),
        Column("pages", "Pages", Kind.COUNT, about="that were read, with duplicates"),
        Column("waiting", "Waiting", Kind.COUNT),
        Column("redirects", "Redirects", Kind.COUNT),
        Column("errors", "Errors", Kind.COUNT, about="without a response, or with a status of an error"),
        Column("not_pages", "Not pages", Kind.COUNT, about="other responses"),
        Column("not_requested", "Not requested", Kind.COUNT),
        Column("cut", "Cut as endless", Kind.COUNT, about="not requested as parts of traps"),
        Column("deepest", "Depth", Kind.NUMBER, about="level of its deepest page"),
        Column("yield", "Yield", Kind.DECIMAL, about="sum of the rewards of its downloads"),
        Column("parallel", "At a time", Kind.NUMBER, about="downloads"),
        Column("delay_s", "Delay", Kind.SECONDS, about="between two downloads, as set"),
        Column("robots_delay_s", "Crawl-delay", Kind.SECONDS, about="of robots.txt"),
        Column("robots", "robots.txt"),
        Column("rest_until", "Rests until", Kind.TIME),
    )
    conditions: ClassVar = {"text": in_text(site.c.site)}

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        of_sites = select(site.c.id).where(is_wanted_site(crawl_id, filters))
        counts = url_counts(connection, page.c.site_id.in_(of_sites), guesses_in(connection, crawl_id))
        cuts = trap_counts(connection, crawl_id)
        yields = _yields(connection, crawl_id)
        delays = robots_delays(connection, crawl_id)
        conditions = (is_wanted_site(crawl_id, filters), *self.met(filters))
        wanted = select(*_COLUMNS).where(*conditions).order_by(site.c.site).limit(self.most + 1)
        # A robots.txt may have 500 kB: few of them are in memory at a time.
        for row in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(wanted):
            of_it, problem = counts.get(row.id, UrlCounts()), site_problem(row, time.time())
            yield (
                row.site,
                _state(row.is_open, row.unavailable_because, of_it.waiting),
                problem,
                *(of_it.pages, of_it.waiting, of_it.redirects, of_it.errors, of_it.not_pages, of_it.not_requested),
                cuts.get(row.id, 0),
                of_it.deepest,
                yields.get(row.id),
                row.parallel,
                row.delay_s,
                delays.of(row.robots_status, row.robots_text) or None,
                _robots(row.robots_status),
                row.rest_until,
            )

    def related(self, cells: Cells) -> Related | None:
        return Related("pages", {"site": str(cells[0])})

    def counted(self, cells: Cells) -> Mapping[str, Related]:
        return {name: Related("pages", {"site": str(cells[0]), "state": kind}) for kind, name in COUNT_OF.items()}


def _yields(connection: Connection, crawl_id: int) -> dict[int, float]:
    """Return the sum of the rewards of each site's pulls."""
    statement = (
        select(pull.c.site_id, func.sum(pull.c.reward))
        .where(pull.c.site_id.in_(select(site.c.id).where(site.c.crawl_id == crawl_id)))
        .group_by(pull.c.site_id)
    )
    return {site_id: total for site_id, total in connection.execute(statement)}


def _state(is_open: bool, unavailable_because: str | None, waiting: int) -> str:
    if not is_open:
        return N_("not in the latest list")
    if unavailable_because is not None:
        return N_("not available")
    return UrlKind.WAITING if waiting else N_("finished")


def _robots(status: int | None) -> str | None:
    if status is None:
        return "not requested yet"
    if is_unreachable(status):
        return f"status {status}: nothing may be requested" if status else "no response: nothing may be requested"
    return "read" if status == 200 else f"status {status}: there is none"


class RobotsDelays(NamedTuple):
    """What decides the Crawl-delay of a crawl besides the files."""

    token: str  # product token of the crawl
    longest_s: float = LONGEST_S  # 0: robots.txt is not obeyed

    def of(self, status: int | None, text: str | None) -> float:
        """Return the delay by a robots.txt with its *status* and *text*, in seconds; 0: none, or it was not read.

        >>> RobotsDelays("mybot").of(200, "User-agent: mybot\\nCrawl-delay: 1e2")
        60.0
        """
        if status is None or "crawl-delay" not in (text or "").lower():  # most files, without the time to parse them
            return 0.0
        return min(RobotsRules(status, text, self.token).crawl_delay_s, self.longest_s)


def robots_delays(connection: Connection, crawl_id: int) -> RobotsDelays:
    """Return what decides the Crawl-delay of a crawl; what was not recorded is the default."""
    settings = RecordedSettings(recorded(connection, crawl_id, *NAMES))
    longest_s = settings.getfloat("ROBOTS_MAX_DELAY_SECONDS") if settings.getbool("ROBOTSTXT_OBEY") else 0.0
    return RobotsDelays(robots_token(settings), longest_s)


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
        failed = (of_site, page.c.state.in_([int(state) for state in states_of(UrlKind.ERROR)]), is_kind(UrlKind.ERROR))
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
