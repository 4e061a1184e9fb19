"""Walks along an index of a table in bounded steps: by site and key, or from the highest value to the lowest."""

from __future__ import annotations

import heapq
import struct
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import select, tuple_

from crawlers.reports.catalogue.conditions import sites_from
from crawlers.reports.catalogue.report import KEYS, Report, Row, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cursor

FIRST_STEP = 100  # rows: without filters, they fill what a person looks at
ROWS_AT_ONCE = 1000
_SIGN = 1 << 63


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
        end = tuple(one[-1] for one in self.cursor_ranges[-length:])
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
        """Whole numbers that ascend along the walk: the bits of the value order like it."""
        return (-ordered_bits(self.value), -self.number)


PLACES = (KEYS, range(1 - 2**63, 1))  # the ranges of the numbers of a cursor


def place_of(cursor: Cursor) -> Place:
    """Return the place whose cursor that is.

    >>> place_of(Place(0.25, 7).cursor), place_of(Place(-2.5, 7).cursor)
    (Place(value=0.25, number=7), Place(value=-2.5, number=7))
    """
    bits = -cursor[0]
    packed = bits if bits >= 0 else (-bits - 1) | _SIGN
    return Place(struct.unpack(">d", struct.pack(">Q", packed & (2 * _SIGN - 1)))[0], -cursor[1])


def ordered_bits(value: float) -> int:
    """Return a number of 64 bits; those of two values have their order.

    >>> ordered_bits(-1.5) < ordered_bits(-1.0) < ordered_bits(0.0) < ordered_bits(0.25) < ordered_bits(1e300)
    True
    """
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))  # -0.0 equals 0.0
    return int(bits) if bits < _SIGN else -int(bits - _SIGN) - 1


class ValueWalk:
    """The rows that meet one of the *parts*, each of which an index orders by *value* and then by *number*.

    Every row meets at most one of them. If it is *ascending*, the walk goes from the lowest value to the highest.
    """

    def __init__(
        self,
        connection: Connection,
        value: ColumnElement[float],
        number: ColumnElement[int],
        parts: Sequence[Sequence[ColumnElement[bool]]],
        *,
        ascending: bool = False,
    ) -> None:
        self._connection = connection
        self._key = tuple_(value, number)
        self._parts = parts
        self._ascending = ascending
        order = (value.asc(), number.asc()) if ascending else (value.desc(), number.desc())
        self._places = select(value, number).order_by(*order)

    def steps(self, after: Place | None, first_step: int = FIRST_STEP) -> Iterator[tuple[list[Place], Place | None]]:
        """Yield the places after *after*; and where the walk goes on, which is None at its end."""
        size = first_step
        while True:
            found = self._next(after, size)
            after = found[-1] if len(found) == size else None
            yield found, after
            if after is None:
                return
            size = ROWS_AT_ONCE

    def _next(self, after: Place | None, size: int) -> list[Place]:
        places: list[list[Place]] = []
        for conditions in self._parts:
            statement = self._places.where(*conditions)
            if after is not None:
                here = tuple_(*after)
                statement = statement.where(self._key > here if self._ascending else self._key < here)
            places.append([Place(*row) for row in self._connection.execute(statement.limit(size))])
        if len(places) == 1:
            return places[0]
        return (heapq.nsmallest if self._ascending else heapq.nlargest)(size, (one for some in places for one in some))


def in_order(rows: Sequence[Any], places: Sequence[Place], number: str) -> list[tuple[Place, Any]]:
    """Return each of *rows* with its place, in the order of *places*; *number* is the name of the column with it."""
    by_number = {row._mapping[number]: row for row in rows}
    return [(place, by_number[place.number]) for place in places if place.number in by_number]
