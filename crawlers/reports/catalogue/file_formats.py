"""Renders the rows of a table as files for programs: CSV, lines of JSON, Parquet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawlers import reasons
from crawlers.batches import batches
from crawlers.files.csv_tables import ROWS_AT_ONCE, clean, csv_text, utc
from crawlers.files.parquet_files import ParquetColumn, parquet_parts
from crawlers.reports.catalogue.report import Cells, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.files.csv_tables import Value
    from crawlers.files.parquet_files import ColumnType
    from crawlers.reports.catalogue.report import Column

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
            [_milliseconds(value) if column.kind is Kind.TIME else _cleaned(_said(value, column)) for value in values]
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


def _milliseconds(value: Value) -> Value:
    return round(value * 1000) if isinstance(value, (int, float)) else None


def file_cells(columns: Sequence[Column], row: Cells) -> Iterator[Value]:
    """Yield the cells of *row* as files of text have them."""
    for column, value in zip(columns, row, strict=True):
        yield utc(value) if column.kind is Kind.TIME and isinstance(value, float) else _said(value, column)


def _said(value: Value, column: Column) -> Value:
    return reasons.sentence(value) if column.kind is Kind.REASON and isinstance(value, str) else value


def _cleaned(value: Value) -> Value:
    return clean(value) if isinstance(value, str) else value
