"""The contract of reports: columns, filters, and rows that are read in bounded steps.

A report that counts, compares or sorts what it read is a `ComputedReport`: see `computed_report.py`.

A report has an order, in which each row has a cursor. Whoever knows the cursor of the last row that he has seen reads
on from there: no row is counted, sorted or skipped for it. A step reads a bounded number of stored rows, and may find
none that the filters let through. So a reader who has no more time says how far the search came, and goes on later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

Cursor = tuple[int, ...]


class Kind(Enum):
    """What the cells of a column hold, which decides how they look; None is an empty cell of each kind."""

    TEXT = "text"
    URL = "url"
    NUMBER = "number"  # whole
    DECIMAL = "decimal"
    BYTES = "bytes"
    SECONDS = "seconds"  # a duration
    TIME = "time"  # seconds since 1970


NUMERIC = frozenset({Kind.NUMBER, Kind.DECIMAL, Kind.BYTES, Kind.SECONDS})


class Column(NamedTuple):
    """A column of a report."""

    name: str  # in files
    title: str  # for people, in English: translations are found by it
    kind: Kind = Kind.TEXT


class Row(NamedTuple):
    """A row of a report, and where the report goes on after it."""

    cells: tuple[Value, ...]
    cursor: Cursor


class Step(NamedTuple):
    """What one bounded read has found; the next one begins after *cursor*, which is None at the end of the report."""

    rows: list[Row]
    cursor: Cursor | None


class Slice(NamedTuple):
    """Some successive rows of a report.

    *cursor* is where it goes on, None at its end. If *is_partial*, time was over before as many rows were found as were
    wanted.
    """

    rows: list[Row]
    cursor: Cursor | None
    is_partial: bool = False


class Group(Enum):
    """What people crawl a site for: reports are listed by it. The values are titles, in English."""

    CONTENTS = "What there is"
    LINKS = "Links"
    ERRORS = "What is broken"
    CONTENT = "Titles and copies"
    SPEED = "Size, speed and depth"
    REFUSALS = "What was not fetched"


class Related(NamedTuple):
    """Another report whose rows explain a row: its name, and the filters as text."""

    report: str
    filters: dict[str, str]


class Report(ABC):
    """A table about a crawl."""

    name: ClassVar[str]
    title: ClassVar[str]
    group: ClassVar[Group]
    about: ClassVar[str]  # one sentence: what is in it, and what it is good for
    columns: ClassVar[tuple[Column, ...]]
    filters: ClassVar[frozenset[str]]  # fields of `Filters` that it obeys
    cursor_length: ClassVar[int]

    @abstractmethod
    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        """Yield the steps of the report, beginning after the row of the cursor *after*.

        The last step, and only that, has no cursor.
        """

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        """Return where the URLs or links are listed that the row with these *cells* is about; None if nowhere else."""
        return None


def slice_of(steps: Iterator[Step], size: int, is_over: Callable[[], bool]) -> Slice:
    """Return the next *size* rows of *steps*, or fewer if *is_over* after a step. Raises `StoreError`."""
    rows: list[Row] = []
    for step in steps:
        rows += islice(step.rows, size - len(rows))
        if len(rows) == size and (step.cursor is not None or rows[-1] is not step.rows[-1]):
            return Slice(rows, rows[-1].cursor)
        if step.cursor is None:
            return Slice(rows, None)
        if is_over():
            return Slice(rows, step.cursor, is_partial=True)
    raise AssertionError("a report ends with a step without a cursor")


def rows_of(steps: Iterator[Step]) -> Iterator[Row]:
    """Yield all rows of *steps*. Raises `StoreError`."""
    for step in steps:
        yield from step.rows


def cursor_text(cursor: Cursor) -> str:
    """Return *cursor* as it stands in a URL.

    >>> cursor_text((3, -1))
    '3.-1'
    """
    return ".".join(map(str, cursor))


def parsed_cursor(text: str, length: int) -> Cursor | None:
    """Return the cursor of *length* numbers that *text* stands for, or None if it stands for none.

    >>> parsed_cursor("3.-1", 2), parsed_cursor("3.x", 2), parsed_cursor("3", 2)
    ((3, -1), None, None)
    """
    numbers = text.split(".")
    if len(numbers) != length or not all(one.removeprefix("-").isdecimal() and len(one) <= 20 for one in numbers):
        return None
    cursor = tuple(map(int, numbers))
    return cursor if all(-(2**63) <= one < 2**63 for one in cursor) else None
