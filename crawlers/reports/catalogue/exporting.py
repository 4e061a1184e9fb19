"""Reports as files: CSV, in which no cell runs as a formula, JSON lines and Parquet. Times are UTC."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from crawlers.reports.catalogue.crawl_report import Kind
from crawlers.storage.files.cells import clean, guarded_cell, utc
from crawlers.storage.files.parquet_files import ParquetColumn, parquet_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.reports.catalogue.crawl_report import Column, Row
    from crawlers.storage.files.cells import Value
    from crawlers.storage.files.parquet_files import ColumnType

ROWS_AT_ONCE = 500
ROWS_OF_GROUP = 20_000  # of Parquet: some 10 MB in memory
PARQUET = "parquet"
_PARQUET_TYPES: Mapping[Kind, ColumnType] = {
    Kind.NUMBER: "int64",
    Kind.BYTES: "int64",
    Kind.DECIMAL: "float64",
    Kind.SECONDS: "float64",
    Kind.TIME: "timestamp",
}


def csv_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield a line of headings, and *rows* as RFC 4180 says, in UTF-8."""
    yield _csv([[guarded_cell(column.name) for column in columns]])
    for some in _batches(rows):
        yield _csv([map(guarded_cell, _values(columns, row)) for row in some])


def json_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield each of *rows* as a JSON object on a line of its own."""
    names = [column.name for column in columns]
    for some in _batches(rows):
        objects = (dict(zip(names, map(_cleaned, _values(columns, row)), strict=True)) for row in some)
        yield "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects).encode()


def parquet_file(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield *rows* as a Parquet file; pyarrow must be installed, see `check_parquet`."""
    stored = [ParquetColumn(column.name, _PARQUET_TYPES.get(column.kind, "string")) for column in columns]
    groups = (
        [list(map(_parquet_value(column.kind), values)) for column, values in zip(columns, by_column, strict=True)]
        for some in _batches(rows, ROWS_OF_GROUP)
        if (by_column := list(zip(*(row.cells for row in some), strict=True)))
    )
    yield from parquet_parts(stored, groups)


def _parquet_value(kind: Kind) -> Callable[[Value], Value]:
    return _milliseconds if kind is Kind.TIME else _cleaned


def _milliseconds(value: Value) -> Value:
    return round(value * 1000) if isinstance(value, (int, float)) else None


FORMATS: Mapping[str, Callable[[Sequence[Column], Iterable[Row]], Iterator[bytes]]] = {
    "csv": csv_lines,
    "jsonl": json_lines,
    PARQUET: parquet_file,
}


def _csv(rows: Iterable[Iterable[str | None]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _values(columns: Sequence[Column], row: Row) -> Iterator[Value]:
    for column, value in zip(columns, row.cells, strict=True):
        yield utc(value) if column.kind is Kind.TIME and isinstance(value, float) else value


def _cleaned(value: Value) -> Value:
    return clean(value) if isinstance(value, str) else value


def _batches(rows: Iterable[Row], size: int = ROWS_AT_ONCE) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    yield batch
