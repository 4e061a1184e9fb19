"""The sites of a crawl: what was read of each, what went wrong, and how politely it is crawled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from sqlalchemy import func, select

from crawlers.options import SETTINGS
from crawlers.pages.robots_groups import is_unreachable, product_token
from crawlers.reports.catalogue.conditions import in_text, is_wanted_site
from crawlers.reports.catalogue.page_reports import trap_counts
from crawlers.reports.catalogue.report import Column, ComputedReport, Group, Kind, Related
from crawlers.reports.histories.history import N_
from crawlers.sites.robots_rules import RobotsRules
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.reading.url_counts import COUNT_OF, UrlCounts, UrlKind, guesses_in, url_counts
from crawlers.store.schema.tables import page, pull, site
from crawlers.store.sites.site_rows import PROBLEM, site_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells

ROWS_AT_ONCE = 100
_COLUMNS = (
    *(site.c.id, site.c.site, site.c.is_open, site.c.parallel, site.c.delay_s),
    *(site.c.robots_status, site.c.robots_text, *PROBLEM),
)
LONGEST_S: float = SETTINGS["ROBOTS_MAX_DELAY_SECONDS"].default
NAMES = ("USER_AGENT", "ROBOTSTXT_USER_AGENT", "ROBOTSTXT_OBEY", "ROBOTS_MAX_DELAY_SECONDS")
NOT_GIVEN = ("", "None")  # as values of settings are stored


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
    stored = {name: value for name, value in recorded(connection, crawl_id, *NAMES).items() if value not in NOT_GIVEN}
    agent = stored.get("ROBOTSTXT_USER_AGENT") or stored.get("USER_AGENT") or ""
    obeys = stored.get("ROBOTSTXT_OBEY", "True") in ("True", "true", "1")
    longest_s = float(stored.get("ROBOTS_MAX_DELAY_SECONDS") or LONGEST_S) if obeys else 0.0
    return RobotsDelays(product_token(agent) or "*", longest_s)
