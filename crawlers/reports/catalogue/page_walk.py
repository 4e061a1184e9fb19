"""Walks through the pages of a crawl in bounded steps: by site, state, level and number, in the order of one index.

Reports that walk like this are each a `PageReport`: of pages, or of what is on them, such as links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import case, func, select

from crawlers.items import State
from crawlers.reports.catalogue.conditions import is_wanted_site, sites_from
from crawlers.reports.catalogue.index_walk import FIRST_STEP, walk
from crawlers.reports.catalogue.report import NUMBERS, PAGE_NUMBERS, Report, Row, Step
from crawlers.storage.schema.tables import page, site
from crawlers.storage.url_counts import is_kind, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cursor

PAGES_AT_ONCE = 1000
HOLDERS_AT_ONCE = 100  # pages, of 70 links on average, whose targets are read one by one
END = (2**31 - 1, 2**63 - 1)  # after every level and page of a state


class Position(NamedTuple):
    """The place of a page in the walk."""

    site_id: int
    state: int
    level: int
    page_id: int


POSITIONS = (NUMBERS, range(2**15), range(-1, 2**31), PAGE_NUMBERS)  # the ranges of their numbers


class SearchPlace(NamedTuple):
    """How far a search has come: down to *level* of a site, or to the end of it.

    Without a level, *number* sites were searched, and perhaps some states of the next one.
    """

    number: int  # of the site, in the order of the search
    sites: int
    level: int | None


def search_place(
    connection: Connection, crawl_id: int, filters: Filters, states: Sequence[State], position: Position
) -> SearchPlace:
    """Return how far a walk through the pages of a crawl in some *states* has come at *position*."""
    walked = _walked(states, filters)
    is_end = position[1:] == (walked[-1], *END)
    is_level = not is_end and position.level >= 0 and len(walked) == 1
    last = position.site_id if is_end or is_level else position.site_id - 1
    is_passed = case((site.c.id <= last, 1))
    statement = select(func.count(is_passed), func.count()).where(is_wanted_site(crawl_id, filters))
    number, sites = connection.execute(statement).one()
    return SearchPlace(number, sites, position.level if is_level else None)


def _walked(states: Sequence[State], filters: Filters) -> list[State]:
    """Return those of *states* that the filters want, in the order of the walk."""
    wanted = states if filters.state is None else states_of(filters.state)
    return sorted(state for state in states if state in wanted)


class PageStep(NamedTuple):
    """Pages with the wanted columns; the walk goes on after *position*, which is None at its end."""

    pages: Sequence[Any]  # site_id, state, level and id come first
    position: Position | None


def page_steps(
    connection: Connection,
    crawl_id: int,
    filters: Filters,
    after: Position | None,
    columns: Sequence[ColumnElement[Any]],
    conditions: Sequence[ColumnElement[bool]] = (),
    states: Sequence[State] = tuple(State),
    at_once: int = PAGES_AT_ONCE,
) -> Iterator[PageStep]:
    """Yield the pages of a crawl that are in some of the *states* and meet the filters and the *conditions*.

    They begin after *after*; the last step has no position. Obeys the filters `site`, `state`, `level`, `since` and
    `until`, which are about the time of the request.
    """
    pages = select(page.c.site_id, page.c.state, page.c.level, page.c.id, *columns).where(*conditions, *_times(filters))
    if filters.state is not None:
        pages = pages.where(is_kind(filters.state))
    of_level = [page.c.level == filters.level] if filters.level is not None else []
    parts = (
        ((site_id, int(state)), [page.c.site_id == site_id, page.c.state == int(state), *of_level])
        for site_id in sites_from(connection, crawl_id, filters, 0 if after is None else after.site_id)
        for state in _walked(states, filters)
    )
    first_step = at_once if filters.given else FIRST_STEP
    for keys, cursor in walk(connection, parts, (page.c.level, page.c.id), after, END, at_once, first_step):
        wanted = pages.where(page.c.id.in_([number for _, number in keys])).order_by(page.c.level, page.c.id)
        yield PageStep(connection.execute(wanted).all() if keys else [], Position(*cursor))
    yield PageStep([], None)


def _times(filters: Filters) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.since is not None:
        conditions.append(page.c.fetched_at >= filters.since)
    if filters.until is not None:
        conditions.append(page.c.fetched_at < filters.until)
    return conditions


class PageReport(Report):
    """Pages by site, state and level; or rows about what is on them.

    A cursor is the place of the page, and that of the row on it if a page may have several.
    """

    states = tuple(State)
    where: ClassVar[Sequence[ColumnElement[bool]]] = ()  # what the pages have in common besides their states
    scope = frozenset({"site", "level", "since", "until"})
    cursor_ranges: ClassVar[tuple[range, ...]] = POSITIONS
    at_once: ClassVar[int] = PAGES_AT_ONCE

    def pages(
        self, connection: Connection, crawl_id: int, filters: Filters, after: Position | None
    ) -> Iterator[PageStep]:
        """Yield the pages after *after*."""
        conditions = [*self.where, *self.met(filters)]
        return page_steps(connection, crawl_id, filters, after, self.values, conditions, self.states, self.at_once)

    def rows(self, connection: Connection, pages: Sequence[Any], filters: Filters) -> Iterator[Row]:
        """Yield the rows of some *pages*."""
        for one in pages:
            yield Row(tuple(one[len(POSITIONS) :]), place_of_page(one))

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        length = len(POSITIONS)
        end = tuple(one[-1] for one in self.cursor_ranges[length:])  # after all rows of a page
        place = Position(*after[:length]) if after is not None else None
        first = after if after is not None and after[length:] != end else None
        if place is not None and first is not None:  # this page may have further rows
            place = place._replace(page_id=place.page_id - 1)
        for pages, position in self.pages(connection, crawl_id, filters, place):
            rows = self.rows(connection, pages, filters) if pages else ()
            found = [row for row in rows if first is None or row.cursor > first]
            yield Step(found, (*position, *end) if position is not None else None)


def place_of_page(one: Any) -> Position:
    """Return the place of a row of a `PageStep`."""
    return Position(*one[: len(POSITIONS)])


def link_key(cursor: Cursor) -> tuple[int, ...]:
    """Return the key of the link whose row has that *cursor*: the number of its page comes first."""
    return cursor[len(POSITIONS) - 1 :]


def on_pages(connection: Connection, links: Select[Any], pages: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each of *pages*, in order, with each row of *links* on it; their first column is the number of the page."""
    of_page: dict[int, list[Any]] = {}
    for one in connection.execute(links):
        of_page.setdefault(one[0], []).append(one)
    for holder in pages:
        for one in of_page.get(holder.id, ()):
            yield holder, one
