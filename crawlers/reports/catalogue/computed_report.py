"""Reports whose rows are counted, compared or sorted over a whole crawl: computed at once, and bounded."""

from __future__ import annotations

import sys
from abc import abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.crawl_report import NUMBERS, Report, Row, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Column, Cursor
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

Cells = tuple["Value", ...]
WEIGHED_ROWS = 100


class Result(NamedTuple):
    """The rows of a computed report; if it *is_cut*, there are more than its maximum."""

    rows: Sequence[Cells]
    is_cut: bool

    @property
    def size_bytes(self) -> int:
        """About how much memory this takes, judged by a hundred of the rows."""
        some = self.rows[:: len(self.rows) // WEIGHED_ROWS + 1]
        weights = [sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in some]
        return len(self.rows) * sum(weights) // max(1, len(weights))


class ComputedReport(Report):
    """A report that is read as a whole; its cursor is the place of a row."""

    most: ClassVar[int] = 100_000  # rows: 50 MB of texts
    cursor_ranges = (NUMBERS,)

    @abstractmethod
    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        """Yield the rows, the most important ones first; no more are read than the report may have."""

    def result(self, connection: Connection, crawl_id: int, filters: Filters) -> Result:
        """Return the rows that the filters let through, in their usual order. Raises `StoreError`."""
        rows = list(islice(self.found(connection, crawl_id, filters), self.most + 1))
        return Result(rows[: self.most], len(rows) > self.most)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        first = after[0] + 1 if after is not None else 0
        rows = self.result(connection, crawl_id, filters).rows
        yield Step([Row(cells, (place,)) for place, cells in enumerate(rows) if place >= first], None)


def sorted_by(rows: Sequence[Cells], columns: Sequence[Column], order: str) -> Sequence[Cells]:
    """Return *rows* by the column that *order* names, after a minus in descending order; "" keeps theirs.

    Rows without a value come last in both directions. Raises `ConfigError` if there is no such column.
    """
    if not order:
        return rows
    name = order.removeprefix("-")
    places = [place for place, column in enumerate(columns) if column.name == name]
    if not places:
        raise ConfigError(f"sort={name!r} must be one of: {', '.join(column.name for column in columns)}")
    place = places[0]
    with_value = [row for row in rows if row[place] is not None]
    with_value.sort(key=lambda row: _key(row[place]), reverse=order.startswith("-"))
    return [*with_value, *(row for row in rows if row[place] is None)]


def _key(value: Value) -> tuple[float, str]:
    """Return by what a value is sorted: texts after numbers, whatever the case of their letters."""
    return (float("inf"), value.casefold()) if isinstance(value, str) else (float(value or 0), "")
