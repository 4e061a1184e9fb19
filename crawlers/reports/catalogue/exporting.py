"""Reports as files: CSV, in which no cell runs as a formula, and JSON lines. Times are UTC."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers.reports.catalogue.crawl_report import Kind
from crawlers.storage.files.cells import clean, guarded_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.reports.catalogue.crawl_report import Column, Row
    from crawlers.storage.files.cells import Value

ROWS_AT_ONCE = 500


def csv_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield a line of headings, and *rows* as RFC 4180 says, in UTF-8."""
    yield _csv([[column.name for column in columns]])
    for some in _batches(rows):
        yield _csv([map(guarded_cell, _values(columns, row)) for row in some])


def json_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield each of *rows* as a JSON object on a line of its own."""
    names = [column.name for column in columns]
    for some in _batches(rows):
        objects = (dict(zip(names, map(_cleaned, _values(columns, row)), strict=True)) for row in some)
        yield "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects).encode()


FORMATS: Mapping[str, Callable[[Sequence[Column], Iterable[Row]], Iterator[bytes]]] = {
    "csv": csv_lines,
    "jsonl": json_lines,
}


def _csv(rows: Iterable[Iterable[str | None]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _values(columns: Sequence[Column], row: Row) -> Iterator[Value]:
    for column, value in zip(columns, row.cells, strict=True):
        yield utc(value) if column.kind is Kind.TIME and isinstance(value, float) else value


def utc(seconds: float) -> str:
    """Return a time, in seconds since 1970, in the format that spreadsheets read.

    >>> utc(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _cleaned(value: Value) -> Value:
    return clean(value) if isinstance(value, str) else value


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    yield batch
