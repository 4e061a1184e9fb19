"""The contract of reports: a description (columns, filters, order), and rows that are read in bounded steps.

A report has an order, in which each row has a cursor. Whoever knows the cursor of the last row that he has seen reads
on from there: no row is counted, sorted or skipped for it. A step reads a bounded number of stored rows, and may find
none that the filters let through. So a reader who has no more time says how far the search came, and goes on later.
A report that counts, compares or sorts what it reads is computed at once, and bounded: a `ComputedReport`.

The columns of a table have names, kinds and meanings: terminals, files, pages and the reference are made of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from enum import Enum
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.files.csv_tables import Value
    from crawlers.reports.catalogue.conditions import Condition, Filters


Cells = tuple["Value", ...]


class Kind(Enum):
    """What the cells of a column hold, which decides how they look; None is an empty cell of each kind."""

    TEXT = "text"
    URL = "URL"
    NUMBER = "number"  # whole, such as a level
    COUNT = "count"  # of things that have a sum
    DECIMAL = "decimal"
    BYTES = "bytes"
    SECONDS = "seconds"  # a duration
    TIME = "time"  # seconds since 1970
    STATE = "state"  # of a URL or a site: a word that is translated
    REASON = "reason"  # a stored reason, of which people read the sentence
    SAID = "sentences"  # a tuple of `Said`, which are translated
    TITLE = "title"  # of the document whose number is the first cell of the row
    RULE = "rule"  # for URLs of the site in the first cell of the row


NUMERIC = frozenset({Kind.NUMBER, Kind.COUNT, Kind.DECIMAL, Kind.BYTES, Kind.SECONDS})

SUMMED = frozenset({Kind.COUNT, Kind.BYTES})


class Column(NamedTuple):
    """A column of a table."""

    name: str  # in files
    title: str  # for people, in English: translations are found by it
    kind: Kind = Kind.TEXT
    value: Any = None  # the expression of SQL that is read, if the cells are computed by the database
    about: str = ""  # what it means, if its title does not say everything


Line = TypeVar("Line", bound=Cells)
Cursor = tuple[Any, ...]  # of whole numbers, or of values by which rows are sorted
Kinds = tuple[type[int] | type[float], ...]  # of the numbers of a cursor
MOST = 2**63 - 1  # the greatest number of a database
MAX_CURSOR = 200  # characters
MOST_ROWS = 100_000  # that are computed or sorted at once: 50 MB of texts


class Row(NamedTuple):
    """A row of a report, and where the report goes on after it."""

    cells: Cells
    cursor: Cursor


class Step(NamedTuple):
    """Some successive rows, as one bounded read has found them, or as many as were wanted.

    The next ones begin after *cursor*, which is None at the end of the report. If *is_partial*, time was over before as
    many rows were found as were wanted.
    """

    rows: list[Row]
    cursor: Cursor | None
    is_partial: bool = False


class Result(NamedTuple):
    """The first rows of a report, all of them unless it *is_cut*."""

    rows: Sequence[Cells]
    is_cut: bool


class Group(Enum):
    """What people crawl a site for: reports are listed by it. The values are titles, in English."""

    CONTENTS = "What there is"
    LINKS = "Links"
    ERRORS = "What is broken"
    CONTENT = "Titles and copies"
    SPEED = "Size, speed and depth"
    SITEMAPS = "Sitemaps and orphans"
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
    conditions: ClassVar[Mapping[str, Condition]] = {}  # of filters, by their names
    scope: ClassVar[frozenset[str]] = frozenset({"site"})  # further filters that it obeys
    cursor_kinds: ClassVar[Kinds] = (int,)  # kinds of the numbers of its cursors
    link_kind: ClassVar[str] = ""  # external, internal or bad: of its rows, links that may be deleted
    has_tab: ClassVar[bool] = False  # in the panel, beside that of the pages
    most: ClassVar[int] = MOST_ROWS  # of its rows that are computed or sorted together
    order: ClassVar[str] = ""  # the column by which its rows come, as in `sorted_by`; "": none
    empty: ClassVar[str] = "This crawl has nothing of this kind yet."  # what is said if it has no rows, without filters

    @abstractmethod
    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        """Yield the steps of the report, beginning after the row of the cursor *after*.

        The last step, and only that, has no cursor.
        """

    def result(
        self, connection: Connection, crawl_id: int, filters: Filters, is_over: Callable[[], bool] = lambda: False
    ) -> Result:
        """Return the first rows that the filters let through, at most `most`, or fewer if the time *is_over*.

        Raises `StoreError`.
        """
        found = slice_of(self.steps(connection, crawl_id, filters, None), self.most, is_over)
        return Result([row.cells for row in found.rows], found.cursor is not None)

    @property
    def filters(self) -> frozenset[str]:
        """The fields of `Filters` that it obeys."""
        return self.scope | self.conditions.keys()

    @property
    def values(self) -> list[Any]:
        """The expressions of SQL whose values are the cells of a row."""
        return [column.value for column in self.columns]

    def met(self, filters: Filters) -> list[ColumnElement[bool]]:
        """Return the conditions of these *filters*."""
        return [self.conditions[name](value) for name, value in filters.given.items() if name in self.conditions]

    def related(self, cells: Cells) -> Related | None:
        """Return where the URLs or links are listed that the row with these *cells* is about; None if nowhere else."""
        return None

    @property
    def has_related(self) -> bool:
        """Whether rows may have such a list."""
        return type(self).related is not Report.related

    def counted(self, cells: Cells) -> Mapping[str, Related]:
        """Return where the URLs are listed that the row with these *cells* counts, by the column of the number."""
        return {}


class ComputedReport(Report):
    """A report that is read as a whole; its cursor is the place of a row."""

    def found(self, connection: Connection, crawl_id: int, filters: Filters) -> Iterator[Cells]:
        """Yield the rows, the most important ones first; no more are read than the report may have."""
        statement = self.query(crawl_id, filters).where(*self.met(filters)).limit(self.most + 1)
        return map(tuple, connection.execute(statement))

    def query(self, crawl_id: int, filters: Filters) -> Select[Any]:
        """Return the statement that reads the rows in their order; the conditions of filters are added to it."""
        raise NotImplementedError

    def result(
        self, connection: Connection, crawl_id: int, filters: Filters, is_over: Callable[[], bool] = lambda: False
    ) -> Result:
        rows = list(islice(self.found(connection, crawl_id, filters), self.most + 1))
        return Result(rows[: self.most], len(rows) > self.most)

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        first = after[0] + 1 if after is not None else 0
        rows = self.result(connection, crawl_id, filters).rows
        yield Step([Row(cells, (place,)) for place, cells in enumerate(rows) if place >= first], None)


def slice_of(steps: Iterator[Step], size: int, is_over: Callable[[], bool]) -> Step:
    """Return the next *size* rows of *steps*, or fewer if *is_over* after a step. Raises `StoreError`."""
    rows: list[Row] = []
    for step in steps:
        rows += islice(step.rows, size - len(rows))
        if len(rows) == size and (step.cursor is not None or rows[-1] is not step.rows[-1]):
            return Step(rows, rows[-1].cursor)
        if step.cursor is None:
            return Step(rows, None)
        if is_over():
            return Step(rows, step.cursor, is_partial=True)
    raise AssertionError("a report ends with a step without a cursor")


def rows_of(steps: Iterator[Step]) -> Iterator[Row]:
    """Yield all rows of *steps*. Raises `StoreError`."""
    for step in steps:
        yield from step.rows


def is_whole(report: Report, order: str) -> bool:
    """Return whether all rows are needed to show some of them by a column, see `sorted_by`. Raises `ConfigError`."""
    sorted_by((), report.columns, order)
    return isinstance(report, ComputedReport) or order not in ("", report.order)


def in_order(report: Report, result: Result, order: str) -> Sequence[Cells]:
    """Return the rows of *result* by a column, see `sorted_by`. Raises `ConfigError` if there are too many."""
    if order and result.is_cut and not isinstance(report, ComputedReport):
        raise ConfigError(f"{report.name} has more than {report.most:,} rows, too many to sort; set filters")
    return sorted_by(result.rows, report.columns, order)


class Total(NamedTuple):
    """The number of rows, and the sums of the columns that have one; if it *is_cut*, of the first rows."""

    rows: int
    sums: Cells
    is_cut: bool


def total(columns: Sequence[Column], rows: Iterable[Cells], *, is_cut: bool = False) -> Total:
    """Return the total of *rows*, which are read one by one.

    >>> from crawlers.reports.catalogue.report import Column, Kind
    >>> total([Column("url", "URL"), Column("links", "Links", Kind.COUNT)], [("a", 2), ("b", None), ("c", 3)])
    Total(rows=3, sums=(None, 5), is_cut=False)
    """
    places = [place for place, column in enumerate(columns) if column.kind in SUMMED]
    number, sums = 0, dict.fromkeys(places, 0)
    for row in rows:
        number += 1
        for place in places:
            value = row[place]
            sums[place] += value if isinstance(value, int) else 0
    return Total(number, tuple(sums.get(place) for place in range(len(columns))), is_cut)


def sorted_by(rows: Sequence[Line], columns: Sequence[Column], order: str) -> Sequence[Line]:
    """Return *rows* by the column that *order* names, after a minus in descending order; "" keeps theirs.

    Texts, whatever the case of their letters, come after numbers; rows without a value, or with a value of several
    parts, come last in both directions.
    Raises `ConfigError` if there is no such column.
    """
    if not order:
        return rows
    name = order.removeprefix("-")
    places = [place for place, column in enumerate(columns) if column.name == name]
    if not places:
        raise ConfigError(f"sort={name!r} must be one of: {', '.join(column.name for column in columns)}")
    place, is_down = places[0], order.startswith("-")
    texts = [row for row in rows if isinstance(row[place], str)]
    numbers = [row for row in rows if isinstance(row[place], (int, float))]
    texts.sort(key=lambda row: str(row[place]).casefold(), reverse=is_down)
    numbers.sort(key=itemgetter(place), reverse=is_down)
    others = [row for row in rows if not isinstance(row[place], (str, int, float))]
    return [*texts, *numbers, *others] if is_down else [*numbers, *texts, *others]


def cursor_text(cursor: Cursor) -> str:
    """Return *cursor* as it stands in a URL.

    >>> cursor_text((3, -1)), cursor_text((-0.25, 7))
    ('3_-1', '-0.25_7')
    """
    return "_".join(map(str, cursor))


def parsed_cursor(text: str, kinds: Kinds) -> Cursor | None:
    """Return the cursor that *text* stands for, or None if it stands for none with numbers of these *kinds*.

    >>> parsed_cursor("3_-1", (int, int)), parsed_cursor("0.5_-1", (float, int))
    ((3, -1), (0.5, -1))
    >>> [parsed_cursor(text, (int,)) for text in ("x", "9223372036854775808", "2.0", "1_2")]
    [None, None, None, None]
    """
    numbers = text.split("_")
    if len(numbers) != len(kinds) or len(text) > MAX_CURSOR:
        return None
    try:
        cursor = tuple(kind(one) for kind, one in zip(kinds, numbers, strict=True))
    except ValueError:
        return None
    return cursor if all(-MOST <= one <= MOST for one in cursor) else None


class TimeLimit:
    """A time that begins now and is over after *seconds*: called, it returns whether it is."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def __call__(self) -> bool:
        return time.monotonic() > self._until

    @property
    def left_s(self) -> float:
        """What is left of it, in seconds."""
        return max(0.0, self._until - time.monotonic())
