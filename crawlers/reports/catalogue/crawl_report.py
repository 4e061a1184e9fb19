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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.items import State
    from crawlers.reports.catalogue.filters import Filters
    from crawlers.storage.files.cells import Value

Cursor = tuple[int, ...]
NUMBERS = range(2**31 - 1)  # of sites and alarms; reports also ask for the one after a number
PAGE_NUMBERS = range(2**63)
KEYS = range(-(2**63), 2**63)
_PAGE = 3  # the place of the page in the cursors of links, after its site, its state and its level


class Kind(Enum):
    """What the cells of a column hold, which decides how they look; None is an empty cell of each kind."""

    TEXT = "text"
    URL = "url"
    NUMBER = "number"  # whole
    DECIMAL = "decimal"
    BYTES = "bytes"
    SECONDS = "seconds"  # a duration
    TIME = "time"  # seconds since 1970
    STATE = "state"  # of a URL or a site: a word that is translated
    WORDS = "words"  # a text of ours, such as a reason, see `reports.stored_words`
    TITLE = "title"  # of the document whose number is the first cell of the row
    RULE = "rule"  # for URLs of the site in the first cell of the row


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
    filters: ClassVar[frozenset[str]]  # fields of `Filters` that it obeys
    cursor_ranges: ClassVar[tuple[range, ...]]  # of the numbers of a cursor: beyond them, PostgreSQL has no such values
    states: ClassVar[Sequence[State]] = ()  # of the pages that it walks through, see `PageWalk`; empty: it does not
    missions: ClassVar[frozenset[str]] = frozenset()  # whose crawls it is about; empty: all of them
    empty: ClassVar[str] = "This crawl has nothing of this kind yet."  # what is said if it has no rows, without filters

    @abstractmethod
    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        """Yield the steps of the report, beginning after the row of the cursor *after*.

        The last step, and only that, has no cursor.
        """

    def related(self, cells: tuple[Value, ...]) -> Related | None:
        """Return where the URLs or links are listed that the row with these *cells* is about; None if nowhere else."""
        return None

    @property
    def has_related(self) -> bool:
        """Whether rows may have such a list."""
        return type(self).related is not Report.related

    def counted(self, cells: tuple[Value, ...]) -> Mapping[str, Related]:
        """Return where the URLs are listed that the row with these *cells* counts, by the column of the number."""
        return {}


class LinkReport(Report):
    """A table of links, which may be deleted."""

    link_kind: ClassVar[str]  # external, internal, bad

    @abstractmethod
    def remove(self, connection: Connection, keys: Sequence[tuple[int, ...]]) -> int:
        """Delete the links with these *keys*, and return their number."""

    def key_of(self, cursor: Cursor) -> tuple[int, ...]:
        """Return the key of the link in the row of *cursor*: the number of its page comes first."""
        return cursor[_PAGE:]


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


def parsed_cursor(text: str, ranges: Sequence[range]) -> Cursor | None:
    """Return the cursor that *text* stands for, or None if it stands for none with a number in each of *ranges*.

    >>> ranges = (range(10), range(-5, 1))
    >>> parsed_cursor("3.-1", ranges), parsed_cursor("3.x", ranges), parsed_cursor("3", ranges)
    ((3, -1), None, None)
    >>> parsed_cursor("3.2", ranges) is None
    True
    """
    numbers = text.split(".")
    if len(numbers) != len(ranges) or not all(one.removeprefix("-").isdecimal() and len(one) <= 20 for one in numbers):
        return None
    cursor = tuple(map(int, numbers))
    return cursor if all(one in known for one, known in zip(cursor, ranges, strict=True)) else None
