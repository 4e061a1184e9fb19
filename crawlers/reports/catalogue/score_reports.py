"""The pages of a crawl by what its order found out about them: importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.reports.catalogue.conditions import BROAD, by_code_points, is_wanted_site, of_page
from crawlers.reports.catalogue.page_reports import FOUND, LEVEL, REQUESTED, SITE, STATUS, TITLE, URL, links_to
from crawlers.reports.catalogue.report import ComputedReport, Group
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.store.reading.importance import totals_of, weights_of_crawl
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, FromClause, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Related
    from crawlers.reports.catalogue.table import Cells


class ImportantPages(ComputedReport):
    """Pages by importance."""

    name = "important-pages"
    title = "Important pages"
    group = Group.CONTENTS
    about = "The pages with the largest shares of the cash of OPIC, the online estimate of their importance."
    columns = (
        Column("importance", "Importance", Kind.DECIMAL, about="its share of the cash"),
        URL,
        TITLE,
        LEVEL,
        STATUS,
        FOUND,
        REQUESTED,
        SITE,
    )
    conditions = of_page("text", "level", "status")
    missions = BROAD
    most = 10_000  # whoever wants more reads all pages
    empty = (
        "Crawls with ORDER=aopic or ORDER=opic measure the importance of the pages that they read, as broad ones do."
    )

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        totals = totals_of(connection, crawl_id)
        if totals is None:
            return
        weighed = weights_of_crawl(connection, crawl_id, totals)
        conditions = (is_wanted_site(crawl_id, filters), *self.met(filters))
        statement = by_score(weighed, *self.values[1:]).where(*conditions).limit(self.most + 1)
        for weight, *about in connection.execute(statement):
            yield (totals.share(weight), *about)

    def related(self, cells: Cells) -> Related | None:
        return links_to(cells[1])


def by_score(scores: FromClause, *values: ColumnElement[Any]) -> Select[Any]:
    """Return the query for the score and the *values* of the pages in *scores*, the best first, equal ones by URL."""
    pages = select(scores.c.score, *values).join(page, page.c.id == scores.c.page_id)
    return pages.join(site, site.c.id == page.c.site_id).order_by(scores.c.score.desc(), by_code_points(page.c.url))
