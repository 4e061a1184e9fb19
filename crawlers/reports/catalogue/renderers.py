"""Renders the rows of tables: as text for terminals, with times in UTC, and for programs as CSV, JSON, Parquet."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers import reasons
from crawlers.batches import batches
from crawlers.files.csv_tables import ROWS_AT_ONCE, aligned, clean, csv_text, cut, utc
from crawlers.files.parquet_files import ParquetColumn, milliseconds, parquet_parts
from crawlers.reports.catalogue.report import NUMERIC, Cells, Kind
from crawlers.reports.histories.history import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.files.csv_tables import Value
    from crawlers.files.parquet_files import ColumnType
    from crawlers.reports.catalogue.report import Column
    from crawlers.reports.histories.history import Said

    Cell = Value | tuple[Said, ...]

CELL_CHARS = 70  # of reports on a terminal
NOTHING = "-"


def text_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], most: int | None = None) -> str:
    """Return a table for a terminal, the titles of *columns* first; texts are cut to *most* characters.

    >>> from crawlers.reports.catalogue.report import Column, Kind
    >>> print(text_table([Column("site", "site"), Column("pages", "pages", Kind.COUNT)], [("a.test", 1200)]))
    site    pages
    a.test  1,200
    """
    cells = [[_text(value, column, most) for value, column in zip(row, columns, strict=True)] for row in rows]
    return aligned([[column.title for column in columns], *cells], [column.kind in NUMERIC for column in columns])


def _duration(seconds: float) -> str:
    """Return a duration in the unit in which people would say it.

    >>> _duration(0.25), _duration(300.0), _duration(-90000.0), _duration(1e6)
    ('0.25 s', '5 min', '-25 h', '12 d')
    """
    for unit, length_s, below in (("min", 60, 2 * 3600), ("h", 3600, 2 * 86_400), ("d", 86_400, float("inf"))):
        if 120 <= abs(seconds) < below:
            return f"{seconds / length_s:,.0f} {unit}"
    return f"{seconds:.2f} s"


def _text(value: Cell, column: Column, most: int | None) -> str:
    kind = column.kind
    if value is None or value in ("", ()):
        return NOTHING
    if isinstance(value, tuple):
        return ", ".join(map(sentence, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if kind is Kind.TIME:
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M")
        return _duration(value) if kind is Kind.SECONDS else f"{float(f'{value:.6g}'):,}"
    if isinstance(value, int):
        return f"{value:,}"
    value = reasons.sentence(value) if kind is Kind.REASON else value
    return value if most is None else cut(" ".join(value.split()), most)


ROWS_OF_GROUP = 20_000  # of Parquet: some 10 MB in memory
PARQUET = "parquet"
_PARQUET_TYPES: Mapping[Kind, ColumnType] = {
    Kind.NUMBER: "int64",
    Kind.COUNT: "int64",
    Kind.BYTES: "int64",
    Kind.DECIMAL: "float64",
    Kind.SECONDS: "float64",
    Kind.TIME: "timestamp",
}


def csv_lines(columns: Sequence[Column], rows: Iterable[Cells]) -> Iterator[bytes]:
    """Yield a line of headings, and *rows* as RFC 4180 says, in UTF-8."""
    yield csv_text([[column.name for column in columns]])
    for some in batches(rows, ROWS_AT_ONCE):
        yield csv_text(file_cells(columns, row) for row in some)


def json_lines(columns: Sequence[Column], rows: Iterable[Cells]) -> Iterator[bytes]:
    """Yield each of *rows* as a JSON object on a line of its own."""
    names = [column.name for column in columns]
    for some in batches(rows, ROWS_AT_ONCE):
        objects = (dict(zip(names, map(_cleaned, file_cells(columns, row)), strict=True)) for row in some)
        yield "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects).encode()


def parquet_file(columns: Sequence[Column], rows: Iterable[Cells]) -> Iterator[bytes]:
    """Yield *rows* as a Parquet file; pyarrow must be installed, see `check_parquet`."""
    stored = [ParquetColumn(column.name, _PARQUET_TYPES.get(column.kind, "string")) for column in columns]
    groups = (
        [
            [milliseconds(value) if column.kind is Kind.TIME else _cleaned(_said(value, column)) for value in values]
            for column, values in zip(columns, zip(*some, strict=True), strict=True)
        ]
        for some in batches(rows, ROWS_OF_GROUP)
    )
    yield from parquet_parts(stored, groups)


FORMATS: Mapping[str, Callable[[Sequence[Column], Iterable[Cells]], Iterator[bytes]]] = {
    "csv": csv_lines,
    "jsonl": json_lines,
    PARQUET: parquet_file,
}


def file_cells(columns: Sequence[Column], row: Cells) -> Iterator[Value]:
    """Yield the cells of *row* as files of text have them."""
    for column, value in zip(columns, row, strict=True):
        yield utc(value) if column.kind is Kind.TIME and isinstance(value, float) else _said(value, column)


def _said(value: Value, column: Column) -> Value:
    return reasons.sentence(value) if column.kind is Kind.REASON and isinstance(value, str) else value


def _cleaned(value: Value) -> Value:
    return clean(value) if isinstance(value, str) else value
