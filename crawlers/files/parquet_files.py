"""Writes rows as Parquet files, in row groups that are compressed one after the other.

pyarrow is an extra of users and slow to import, so it is imported where a file is written.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

ColumnType = Literal["int16", "int32", "int64", "float64", "string", "strings", "timestamp", "boolean"]
# Values that repeat are written once per row group (dictionary); ascending numbers as differences (delta).
Encoding = Literal["plain", "dictionary", "delta"]


class ParquetColumn(NamedTuple):
    """A column of a Parquet file; timestamps are in milliseconds since 1970, UTC."""

    name: str
    type: ColumnType
    encoding: Encoding = "plain"


def milliseconds(seconds: object) -> int | None:
    """Return a time as columns of timestamps have it; None if it is none."""
    return round(seconds * 1000) if isinstance(seconds, (int, float)) else None


def arrow_schema(columns: Sequence[ParquetColumn]) -> Any:
    """Return the schema of *columns* for pyarrow."""
    arrow = importlib.import_module("pyarrow")
    others = {"strings": arrow.list_(arrow.string()), "timestamp": arrow.timestamp("ms", tz="UTC")}
    return arrow.schema(
        [(column.name, others.get(column.type) or arrow.type_for_alias(column.type)) for column in columns]
    )


def parquet_parts(columns: Sequence[ParquetColumn], groups: Iterable[Sequence[Sequence[Any]]]) -> Iterator[bytes]:
    """Yield a Parquet file in parts, each with a row group; *groups* are the values of each column.

    One row group is kept in memory. pyarrow must be installed, see `check_parquet`.
    """
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    schema, file = arrow_schema(columns), io.BytesIO()

    def taken() -> bytes:
        part = file.getvalue()
        file.seek(0)
        file.truncate()
        return part

    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for values in groups:
            writer.write_table(arrow.table(list(values), schema=schema))
            yield taken()
    yield taken()


class PartWriter:
    """Writes rows to part-00000.parquet, part-00001.parquet … in *folder*; at least one file, even without rows.

    A file has at most *file_rows* rows, a multiple of *group_rows*, the rows of a row group. One row group is kept in
    memory. Equal rows give equal files with one version of pyarrow: nothing in them says when they were written.
    """

    def __init__(self, folder: Path, columns: Sequence[ParquetColumn], group_rows: int, file_rows: int) -> None:
        self._arrow = importlib.import_module("pyarrow")
        self._parquet = importlib.import_module("pyarrow.parquet")
        self._folder = folder
        self._columns = columns
        self._schema = arrow_schema(columns)
        self._group_rows = group_rows
        self._file_rows = file_rows
        self._waiting: list[Any] = []  # tables of a few thousand rows, which are compact
        self._waiting_rows = 0
        self._files = 0
        self._rows_in_file = 0
        self._stream: Any = None
        self._writer: Any = None
        self.rows = 0
        folder.mkdir(parents=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and (self._waiting_rows or not self._files):
            self._write_group(self._waiting_rows)
        self._close_file()

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write rows, given as the values of each column."""
        table = self._arrow.table(list(columns), schema=self._schema)
        self._waiting.append(table)
        self._waiting_rows += table.num_rows
        self.rows += table.num_rows
        while self._waiting_rows >= self._group_rows:
            self._write_group(self._group_rows)

    def _write_group(self, rows: int) -> None:
        together = self._arrow.concat_tables(self._waiting) if self._waiting else self._schema.empty_table()
        if self._writer is None:
            self._open_file()
        self._writer.write_table(together.slice(0, rows), row_group_size=max(rows, 1))
        self._waiting = [together.slice(rows)] if together.num_rows > rows else []
        self._waiting_rows -= rows
        self._rows_in_file += rows
        if self._rows_in_file >= self._file_rows:
            self._close_file()

    def _open_file(self) -> None:
        self._stream = (self._folder / f"part-{self._files:05}.parquet").open("wb")
        self._files += 1
        self._rows_in_file = 0
        first = self._columns[0].name
        self._writer = self._parquet.ParquetWriter(
            self._stream,
            self._schema,
            compression="zstd",
            use_dictionary=[column.name for column in self._columns if column.encoding == "dictionary"],
            column_encoding={
                column.name: "DELTA_BINARY_PACKED" for column in self._columns if column.encoding == "delta"
            },
            sorting_columns=self._parquet.SortingColumn.from_ordering(self._schema, [(first, "ascending")]),
            write_page_index=True,
        )

    def _close_file(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        self._writer = self._stream = None
