"""The redirects of a crawl, each with its chain and where that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_

from crawlers.items import State
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Related, Report, Row, Step
from crawlers.reports.catalogue.page_list import links_to
from crawlers.reports.catalogue.page_steps import POSITIONS, PageWalk, Position
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.crawl_results import MIN_ERROR_STATUS
from crawlers.storage.redirect_chains import chain_of, hops_after, outward_targets
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

MIN_REDIRECT_STATUS = 300


class Redirects(Report):
    """Redirects by site and level."""

    name = "redirects"
    title = "Redirects"
    group = Group.ERRORS
    about = "URLs that redirect, each with all URLs of its chain: link to the last one instead."
    columns = (
        Column("url", "URL", Kind.URL),
        Column("status", "HTTP status", Kind.NUMBER),
        Column("redirects", "Redirects", Kind.NUMBER),
        Column("final_url", "Ends at", Kind.URL),
        Column("final_status", "Status there", Kind.NUMBER),
        Column("problem", "Problem", Kind.WORDS),
        Column("level", "Level", Kind.NUMBER),
        Column("chain", "Chain"),
    )
    filters = frozenset({"site", "text", "level", "status", "since", "until"})
    cursor_ranges = POSITIONS
    states = (State.MOVED, State.REFUSED, State.FAILED)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        # A redirect that could not be followed has no page as its target.
        is_redirect = page.c.status.between(MIN_REDIRECT_STATUS, MIN_ERROR_STATUS - 1)
        conditions: list[ColumnElement[bool]] = [or_(page.c.state == int(State.MOVED), is_redirect)]
        if filters.text:
            conditions.append(contains(page.c.url, filters.text))
        if filters.status is not None:
            conditions.append(page.c.status == filters.status)
        walk = PageWalk(connection, crawl_id, filters, [page.c.url, page.c.status], conditions, self.states)
        for pages, position in walk.steps(Position(*after) if after is not None else None):
            yield Step(list(_rows(connection, pages)), position)

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        return links_to(cells[0])


def _rows(connection: Connection, pages: Sequence[Any]) -> Iterator[Row]:
    known = hops_after(connection, [one.id for one in pages])
    outward = outward_targets(connection, list(known))
    for one in pages:
        urls, final_status, problem = chain_of(one.id, known, outward)
        final_url = None if len(urls) == 1 else urls[-1]
        chain = " > ".join(urls)
        cells = (one.url, one.status, len(urls) - 1, final_url, final_status, problem, one.level, chain)
        yield Row(cells, tuple(one[: len(Position._fields)]))
