"""The sites of a crawl: what was read of each, what went wrong, and how politely it is crawled."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.algorithms.robots_groups import is_unreachable, lines_for, product_token
from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_site
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.tables import crawler_setting, page, pull, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells
    from crawlers.reports.catalogue.filters import Filters

_DELAY = re.compile(r"crawl-delay\s*:\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*$", re.IGNORECASE)


class _Counts(NamedTuple):
    by_state: Counter[State]
    deepest: int | None = None  # level of a page


class Sites(ComputedReport):
    """The sites of a crawl."""

    name = "sites"
    title = "Sites"
    group = Group.CONTENTS
    about = "The sites of the crawl: their pages, errors, levels and yield, and how politely they are crawled."
    columns = (
        Column("site", "Site", Kind.URL),
        Column("state", "State"),
        Column("availability", "Problem"),
        Column("pages", "Pages", Kind.NUMBER),
        Column("waiting", "Waiting", Kind.NUMBER),
        Column("redirects", "Redirects", Kind.NUMBER),
        Column("errors", "Errors", Kind.NUMBER),
        Column("rejected", "Left out", Kind.NUMBER),
        Column("deepest", "Depth", Kind.NUMBER),
        Column("max_level", "Level limit", Kind.NUMBER),
        Column("yield", "Yield", Kind.DECIMAL),
        Column("parallel", "At a time", Kind.NUMBER),
        Column("delay_s", "Delay", Kind.SECONDS),
        Column("robots_delay_s", "Crawl-delay", Kind.SECONDS),
        Column("robots", "robots.txt"),
        Column("rest_until", "Rests until", Kind.TIME),
    )
    filters = frozenset({"site", "text"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        wanted = select(site).where(is_wanted_site(crawl_id, filters)).order_by(site.c.site).limit(self.most + 1)
        if filters.text:
            wanted = wanted.where(contains(site.c.site, filters.text))
        rows = connection.execute(wanted).all()
        counts = _counts(connection, crawl_id)
        yields = _yields(connection, crawl_id)
        token = _token(connection, crawl_id)
        for row in rows:
            by_state, deepest = counts.get(row.id, _Counts(Counter()))
            yield (
                row.site,
                _state(row.is_open, row.availability, by_state[State.WAITING]),
                row.availability,
                by_state[State.DONE],
                by_state[State.WAITING],
                by_state[State.MOVED],
                by_state[State.REFUSED] + by_state[State.FAILED],
                by_state[State.REJECTED],
                deepest,
                row.max_level,
                yields.get(row.id),
                row.parallel,
                row.delay_s,
                _robots_delay(row.robots_text, token),
                _robots(row.robots_status),
                row.rest_until,
            )

    def related(self, cells: Cells) -> Related | None:
        return Related("pages", {"site": str(cells[0])})


def _counts(connection: Connection, crawl_id: int) -> dict[int, _Counts]:
    """Return the numbers of URLs by site and state, from the index alone."""
    statement = (
        select(page.c.site_id, page.c.state, func.count(), func.max(page.c.level))
        .where(page.c.site_id.in_(select(site.c.id).where(site.c.crawl_id == crawl_id)))
        .group_by(page.c.site_id, page.c.state)
    )
    found: dict[int, _Counts] = {}
    for site_id, number, count, level in connection.execute(statement):
        by_state, deepest = found.get(site_id, _Counts(Counter()))
        by_state[State(number)] = count
        found[site_id] = _Counts(by_state, level if number == State.DONE else deepest)
    return found


def _yields(connection: Connection, crawl_id: int) -> dict[int, float]:
    """Return the sum of the rewards of each site's pulls."""
    statement = (
        select(pull.c.site_id, func.sum(pull.c.reward))
        .where(pull.c.site_id.in_(select(site.c.id).where(site.c.crawl_id == crawl_id)))
        .group_by(pull.c.site_id)
    )
    return {site_id: total for site_id, total in connection.execute(statement)}


def _token(connection: Connection, crawl_id: int) -> str:
    """Return the name under which the crawl read robots.txt."""
    statement = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == "USER_AGENT"
    )
    return product_token(connection.execute(statement).scalar() or "") or "*"


def _state(is_open: bool, availability: str | None, waiting: int) -> str:
    if not is_open:
        return "not in the latest list"
    if availability is not None:
        return "not available"
    return "waiting" if waiting else "done"


def _robots_delay(text: str | None, token: str) -> float | None:
    """Return the Crawl-delay that robots.txt asks of *token*, in seconds."""
    if not text or "crawl-delay" not in text.lower():
        return None
    delays = (_DELAY.match(line) for line in lines_for(text, token))
    return next((float(found[1]) for found in delays if found is not None), None)


def _robots(status: int | None) -> str | None:
    if status is None:
        return "not requested yet"
    if is_unreachable(status):
        return f"status {status}: nothing may be requested" if status else "no response: nothing may be requested"
    return "read" if status == 200 else f"status {status}: there is none"
