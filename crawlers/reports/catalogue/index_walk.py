"""Walks along an index of a table in bounded steps: by site and key, or from the highest value to the lowest.

Reports that walk through pages, by site, state, level and number, are each a `PageReport`: of pages, or of what is on
them, such as links.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import case, func, select, tuple_

from crawlers.items import State
from crawlers.reports.catalogue.conditions import is_wanted_site, sites_from
from crawlers.reports.catalogue.report import NUMBERS, PAGE_NUMBERS, Report, Row, Step
from crawlers.store.reading.url_counts import is_kind, states_of
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cursor, Ranges

FIRST_STEP = 100  # rows: without filters, they fill what a person looks at
ROWS_AT_ONCE = 1000


Part = tuple["Cursor", "Sequence[ColumnElement[bool]]"]  # of an index: the beginning of its cursors, and its conditions


def walk(
    connection: Connection,
    parts: Iterable[Part],
    key: Sequence[ColumnElement[int]],
    after: Cursor | None,
    end: Cursor,
    at_once: int = ROWS_AT_ONCE,
    first_step: int = FIRST_STEP,
) -> Iterator[tuple[Sequence[Any], Cursor]]:
    """Yield the keys of each of *parts* in order, with the cursor behind them; and none at the end of each part.

    The cursor of a part's end has *end* for a key, which is greater than all of them.
    They are read from the index alone, so that no filter makes a step longer. Steps grow, so that who has little time
    does not wait for much more.
    """
    place = tuple_(*key)
    size = min(first_step, at_once)
    for prefix, conditions in parts:
        here = None
        if after is not None and after[: len(prefix)] >= prefix:
            if after[: len(prefix)] > prefix or after[len(prefix) :] == end:
                continue
            here = after[len(prefix) :]
        keys = select(*key).where(*conditions).order_by(*key)
        while True:
            further = keys if here is None else keys.where(place > tuple_(*here))
            found = connection.execute(further.limit(size)).all()
            if found:
                here = tuple(found[-1])
                yield found, (*prefix, *here)
            if len(found) < size:
                break
            size = min(2 * size, at_once)
        yield [], (*prefix, *end)


class KeyedReport(Report):
    """Rows of a table whose index begins with the site, by site and key; a cursor is both."""

    key: ClassVar[tuple[ColumnElement[int], ...]]  # without the site

    @abstractmethod
    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        """Yield the parts of the index about a site; their cursors begin with its number."""

    @abstractmethod
    def statement(self) -> Select[Any]:
        """Return the query for the key and the values of rows, without the conditions of filters."""

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        sites = sites_from(connection, crawl_id, filters, after[0] if after is not None else 0)
        parts = (part for site_id in sites for part in self.of_site(site_id, filters))
        first_step = ROWS_AT_ONCE if filters.given else FIRST_STEP
        rows = self.statement().where(*self.met(filters)).order_by(*self.key)
        length = len(self.key)
        end = tuple(one[-1] for one in self.cursor_ranges[-length:] if one is not None)
        for keys, cursor in walk(connection, parts, self.key, after, end, first_step=first_step):
            prefix, found = cursor[:-length], list[Any]()
            if keys:
                is_in = tuple_(*self.key).in_(keys) if length > 1 else self.key[0].in_([one[0] for one in keys])
                of_site = self.site_id == prefix[0]
                found += connection.execute(rows.where(of_site, is_in))
            yield Step([Row(tuple(one[length:]), (*prefix, *one[:length])) for one in found], cursor)
        yield Step([], None)

    @property
    def site_id(self) -> ColumnElement[int]:
        """The column with the site, in the table of the key."""
        column: ColumnElement[int] = self.key[0].table.c.site_id
        return column


class Place(NamedTuple):
    """A row of the table: its value, which is a float, and its number."""

    value: float
    number: int

    @property
    def cursor(self) -> Cursor:
        """Numbers that ascend along the walk."""
        return (-self.value, -self.number)


PLACES: Ranges = (None, range(1 - 2**63, 1))  # the ranges of the numbers of a cursor


def place_of(cursor: Cursor) -> Place:
    """Return the place whose cursor that is."""
    return Place(-cursor[0], -cursor[1])


def value_steps(
    connection: Connection,
    key: tuple[ColumnElement[float], ColumnElement[int]],
    parts: Sequence[Sequence[ColumnElement[bool]]],
    after: Place | None,
    size: int = FIRST_STEP,
    *,
    ascending: bool = False,
) -> Iterator[tuple[list[Place], Place | None]]:
    """Yield the places after *after*, at first *size* of them; and where the walk goes on, which is None at its end.

    They are those of the rows that meet one of the *parts*, each of which an index orders by the *key*, a value and a
    number. Every row meets at most one of them. If it is *ascending*, the walk goes from the lowest value to the
    highest.
    """
    ordered = select(*key).order_by(*(one.asc() if ascending else one.desc() for one in key))
    place, choose = tuple_(*key), heapq.nsmallest if ascending else heapq.nlargest
    while True:
        places: list[Place] = []
        for conditions in parts:
            statement = ordered.where(*conditions).limit(size)
            if after is not None:
                here = tuple_(*after)
                statement = statement.where(place > here if ascending else place < here)
            places += [Place(*row) for row in connection.execute(statement)]
        found = choose(size, places)
        after = found[-1] if len(found) == size else None
        yield found, after
        if after is None:
            return
        size = ROWS_AT_ONCE


def in_order(rows: Sequence[Any], places: Sequence[Place], number: str) -> list[tuple[Place, Any]]:
    """Return each of *rows* with its place, in the order of *places*; *number* is the name of the column with it."""
    by_number = {row._mapping[number]: row for row in rows}
    return [(place, by_number[place.number]) for place in places if place.number in by_number]


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


# Pages with the wanted columns behind site_id, state, level and id; and the position after which the walk goes on, None
# at its end.
PageStep = tuple["Sequence[Any]", Position | None]


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
        yield connection.execute(wanted).all() if keys else [], Position(*cursor)
    yield [], None


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
    cursor_ranges: ClassVar[Ranges] = POSITIONS
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
        end = tuple(one[-1] for one in self.cursor_ranges[length:] if one is not None)  # after all rows of a page
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
