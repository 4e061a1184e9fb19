"""Writes tables for people as CSV files, in which no cell runs as a formula, see `cells`."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from crawlers.batches import batches
from crawlers.files.atomic import replacing
from crawlers.files.cells import guarded_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawlers.files.cells import Value

ROWS_AT_ONCE = 500


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> int:
    """Write *rows* to *path* below a line of headings, and return their number. Raises the same as `write_graph`."""
    with replacing(path) as stream:
        return write_rows(stream, columns, rows)


def write_rows(stream: IO[bytes], columns: Sequence[str], rows: Iterable[Iterable[Value]]) -> int:
    """Write *rows* to *stream*, in UTF-8 without byte order mark, below a line of headings; return their number."""
    stream.write(csv_text([columns]))
    number = 0
    for some in batches(rows, ROWS_AT_ONCE):
        stream.write(csv_text(some))
        number += len(some)
    return number


def csv_text(rows: Iterable[Iterable[Value]]) -> bytes:
    """Return *rows* as RFC 4180 says, in UTF-8."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(map(guarded_cell, row) for row in rows)
    return text.getvalue().encode()
