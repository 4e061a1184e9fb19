"""The traps of a crawl: patterns of URLs that were not followed any further."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.reports.catalogue.computed_report import ComputedReport
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related
from crawlers.reports.catalogue.crawl_scope import is_wanted_page
from crawlers.reports.catalogue.filters import MAX_CHARS, Filters
from crawlers.reports.catalogue.text_filter import by_code_points, contains
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_kinds import UrlKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.computed_report import Cells

TRAP = "trap: "  # how the reasons begin, see `algorithms.traps`


def trap_counts(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the number of URLs that were left out as traps, by site, without sites that have none."""
    statement = (
        select(page.c.site_id, func.count())
        .where(is_wanted_page(crawl_id, Filters(), State.REJECTED), page.c.reason.startswith(TRAP))
        .group_by(page.c.site_id)
    )
    return {site_id: number for site_id, number in connection.execute(statement)}


class Traps(ComputedReport):
    """URLs that were not requested because they belong to a trap, by the reason."""

    name = "traps"
    title = "Traps"
    group = Group.REFUSALS
    about = "Endless calendars, session numbers and loops that were recognised, with the URLs that were left out."
    columns = (
        Column("reason", "Why it is a trap", Kind.WORDS),
        Column("urls", "URLs left out", Kind.NUMBER),
        Column("site", "Site"),
        Column("level", "Lowest level", Kind.NUMBER),
        Column("url", "Example", Kind.URL),
    )
    filters = frozenset({"site", "reason"})

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        number = func.count()
        statement = (
            select(page.c.reason, number, site.c.site, func.min(page.c.level), func.min(by_code_points(page.c.url)))
            .join(site, site.c.id == page.c.site_id)
            .where(is_wanted_page(crawl_id, filters, State.REJECTED), page.c.reason.startswith(TRAP))
            .group_by(site.c.id, site.c.site, page.c.reason)
            .order_by(number.desc(), site.c.id, by_code_points(page.c.reason))
            .limit(self.most + 1)
        )
        if filters.reason:
            statement = statement.where(contains(page.c.reason, filters.reason))
        for row in connection.execute(statement):
            yield tuple(row)

    def related(self, cells: Cells) -> Related | None:
        reason = str(cells[0])[:MAX_CHARS].strip()
        return Related("pages", {"site": str(cells[2]), "state": UrlKind.NOT_REQUESTED, "reason": reason})
