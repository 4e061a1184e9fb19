"""Walks along an index of a table in bounded steps: by site and key, or from the highest value to the lowest.

Reports that walk through pages, by site, state, level and number, are each a `PageReport`: of pages, or of what is on
them, such as links.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import case, func, literal, or_, select, true, tuple_

from crawlers.items import State
from crawlers.reports.catalogue.conditions import is_wanted_site, sites_from
from crawlers.reports.catalogue.report import MOST, Report, Row, Step
from crawlers.store.reading.url_counts import KIND_OF_STATE, MIN_ERROR_STATUS, UrlKind
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cursor, Kinds

FIRST_STEP = 100  # rows: without filters, they fill what a person looks at
ROWS_AT_ONCE = 1000


Part = tuple["Cursor", "Sequence[ColumnElement[bool]]"]  # of an index: the beginning of its cursors, and its conditions


def walk(
    connection: Connection,
    parts: Iterable[Part],
    key: Sequence[ColumnElement[int]],
    after: Cursor | None,
    first_step: int,
    at_once: int = ROWS_AT_ONCE,
) -> Iterator[tuple[Cursor, Sequence[Any], Cursor]]:
    """Yield the keys of each of *parts* in order, with the prefix of the part before and the cursor behind them.

    None are yielded at the end of each part, with a cursor that is greater than all of its keys.
    They are read from the index alone, so that no filter makes a step longer. Steps grow, so that who has little time
    does not wait for much more.
    """
    place, end = tuple_(*key), (MOST,) * len(key)
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
                yield prefix, found, (*prefix, *here)
            if len(found) < size:
                break
            size = min(2 * size, at_once)
        yield prefix, [], (*prefix, *end)


class KeyedReport(Report):
    """Rows of a table whose index begins with the site, by site and key; a cursor is both.

    If several rows have one key, *further* numbers of the cursor tell them apart.
    """

    key: ClassVar[tuple[ColumnElement[int], ...]]  # without the site
    further: ClassVar[int] = 0
    at_once: ClassVar[int] = ROWS_AT_ONCE  # keys of a step

    @abstractmethod
    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        """Yield the parts of the index about a site; their cursors begin with its number."""

    @abstractmethod
    def statement(self) -> Select[Any]:
        """Return the query for the key, the *further* numbers and the values of rows, without filters' conditions."""

    def wanted(self, connection: Connection, crawl_id: int, filters: Filters) -> list[ColumnElement[bool]]:
        """Return the conditions that rows of the statement must meet."""
        return self.met(filters)

    def with_keys(self, prefix: Cursor, keys: Sequence[Any]) -> ColumnElement[bool]:
        """Return whether a row has one of these *keys* in the part of the index with a *prefix*."""
        of_site: ColumnElement[bool] = self.key[-1].table.c.site_id == prefix[0]
        return of_site & self.key[-1].in_([one[-1] for one in keys])

    def rows(self, connection: Connection, prefix: Cursor, found: Sequence[Any], filters: Filters) -> Iterator[Row]:
        """Yield the rows of what the statement *found* in the part of the index with a *prefix*."""
        first = len(self.key) + self.further
        for one in found:
            yield Row(tuple(one[first:]), (*self.place(prefix, one), *one[len(self.key) : first]))

    def place(self, prefix: Cursor, one: Any) -> Cursor:
        """Return the place of a key: the beginning of the cursors of its rows."""
        return (*prefix, *one[: len(self.key)])

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        end = (MOST,) * self.further  # after all rows of a key
        place = None if after is None else after[: len(after) - self.further]
        first = after if after is not None and self.further and after[len(after) - self.further :] != end else None
        if place is not None and first is not None:  # this key may have further rows
            place = (*place[:-1], place[-1] - 1)
        sites = sites_from(connection, crawl_id, filters, after[0] if after is not None else 0)
        parts = (part for site_id in sites for part in self.of_site(site_id, filters))
        first_step = self.at_once if filters.given else FIRST_STEP
        wanted = self.statement().where(*self.wanted(connection, crawl_id, filters))
        wanted = wanted.order_by(*[*wanted.selected_columns][: len(self.key) + self.further])
        for prefix, keys, cursor in walk(connection, parts, self.key, place, first_step, self.at_once):
            found = connection.execute(wanted.where(self.with_keys(prefix, keys))).all() if keys else []
            rows = self.rows(connection, prefix, found, filters) if found else ()
            yield Step([row for row in rows if first is None or row.cursor > first], (*cursor, *end))
        yield Step([], None)


class Place(NamedTuple):
    """A row of the table: its value, which is a float, and its number."""

    value: float
    number: int

    @property
    def cursor(self) -> Cursor:
        """Numbers that ascend along the walk."""
        return (-self.value, -self.number)


PLACES: Kinds = (float, int)  # of the numbers of a cursor


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


HOLDERS_AT_ONCE = 100  # pages, of 70 links on average, whose targets are read one by one


class Position(NamedTuple):
    """The place of a page in the walk."""

    site_id: int
    state: int
    level: int
    page_id: int


class SearchPlace(NamedTuple):
    """How far a search has come: down to *level* of a site, or to the end of it.

    Without a level, *number* sites were searched, and perhaps some states of the next one.
    """

    number: int  # of the site, in the order of the search
    sites: int
    level: int | None


class PageReport(KeyedReport):
    """Pages by site, state and level; or rows about what is on them.

    A cursor is the `Position` of the page, and that of the row on it if a page may have several.
    """

    states: ClassVar[Sequence[State]] = tuple(State)
    where: ClassVar[Sequence[ColumnElement[bool]]] = ()  # what the pages have in common besides their states
    scope = frozenset({"site", "level", "since", "until"})  # the times are those of the request
    key = (page.c.level, page.c.id)
    cursor_kinds = (int,) * len(Position._fields)

    def of_site(self, site_id: int, filters: Filters) -> Iterator[Part]:
        of_level = [page.c.level == filters.level] if filters.level is not None else []
        for state in _walked(self.states, filters):
            yield (site_id, int(state)), [page.c.site_id == site_id, page.c.state == int(state), *of_level]

    def statement(self) -> Select[Any]:
        return select(*self.key, *self.values).where(*self.where)

    def wanted(self, connection: Connection, crawl_id: int, filters: Filters) -> list[ColumnElement[bool]]:
        conditions = self.met(filters)
        if filters.since is not None:
            conditions.append(page.c.fetched_at >= filters.since)
        if filters.until is not None:
            conditions.append(page.c.fetched_at < filters.until)
        return [*conditions, is_kind(filters.state)] if filters.state is not None else conditions

    def with_keys(self, prefix: Cursor, keys: Sequence[Any]) -> ColumnElement[bool]:
        return page.c.id.in_([number for _, number in keys])  # with its site, SQLite would read the whole site

    def search_place(self, connection: Connection, crawl_id: int, filters: Filters, position: Position) -> SearchPlace:
        """Return how far a walk through the pages of a crawl has come at *position*."""
        walked = _walked(self.states, filters)
        is_end = position[1:] == (walked[-1], MOST, MOST)
        is_level = not is_end and position.level >= 0 and len(walked) == 1
        last = position.site_id if is_end or is_level else position.site_id - 1
        is_passed = case((site.c.id <= literal(last), 1))
        statement = select(func.count(is_passed), func.count()).where(is_wanted_site(crawl_id, filters))
        number, sites = connection.execute(statement).one()
        return SearchPlace(number, sites, position.level if is_level else None)


def _walked(states: Sequence[State], filters: Filters) -> list[State]:
    """Return those of *states* that the filters want, in the order of the walk."""
    wanted = states if filters.state is None else states_of(filters.state)
    return sorted(state for state in states if state in wanted)


def link_key(cursor: Cursor) -> tuple[int, ...]:
    """Return the key of the link whose row has that *cursor*: the number of its page comes first."""
    return cursor[len(Position._fields) - 1 :]


def states_of(kind: UrlKind) -> Sequence[State]:
    """Return the states that URLs of *kind* may have."""
    if kind is UrlKind.ERROR:
        return (State.REFUSED, State.FAILED)
    return [state for state, known in KIND_OF_STATE.items() if known is kind]


def is_kind(kind: UrlKind) -> ColumnElement[bool]:
    """Return whether a page in one of the states of *kind* is of that kind."""
    if kind is UrlKind.ERROR:
        return or_(page.c.state == int(State.FAILED), page.c.status >= MIN_ERROR_STATUS)
    return func.coalesce(page.c.status, 0) < MIN_ERROR_STATUS if kind is UrlKind.NOT_PAGE else true()
