"""Writes tables for people as CSV files, in which no cell runs as a formula, see `cells`."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from crawlers.storage.files.atomic import replacing
from crawlers.storage.files.cells import guarded_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawlers.storage.files.cells import Value


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> int:
    """Write *rows* to *path* below a line of headings, and return their number. Raises the same as `write_graph`."""
    with replacing(path) as stream:
        return write_rows(stream, columns, rows)


def write_rows(stream: IO[bytes], columns: Sequence[str], rows: Iterable[Iterable[Value]]) -> int:
    """Write *rows* to *stream*, in UTF-8 without byte order mark, below a line of headings; return their number."""
    number = 0
    lines = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(lines, lineterminator="\r\n")  # with "\n", Python 3.11 leaves a lone \r unquoted
    table.writerow(columns)
    for row in rows:
        table.writerow(map(guarded_cell, row))
        number += 1
    lines.detach()
    return number
