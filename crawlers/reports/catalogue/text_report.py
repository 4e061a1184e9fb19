"""Reports as text for a terminal."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawlers.algorithms.plurals import counted
from crawlers.reports.catalogue.crawl_report import NUMERIC, Kind
from crawlers.reports.history_wording import cut
from crawlers.reports.text_table import NOTHING, table, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.reports.catalogue.crawl_report import Column, Row
    from crawlers.storage.files.cells import Value

CELL_CHARS = 70


def text_report(columns: Sequence[Column], rows: Iterator[Row], limit: int) -> list[str]:
    """Return the first *limit* of *rows* (0: all of them) as a table, and whether there are more."""
    shown = list(islice(rows, limit) if limit else rows)
    if not shown:
        return ["no rows"]
    headings = [column.title for column in columns]
    cells = [[_text(value, column.kind) for value, column in zip(row.cells, columns, strict=True)] for row in shown]
    lines = table([headings, *cells], "".join("r" if column.kind in NUMERIC else " " for column in columns)).split("\n")
    if next(rows, None) is not None:
        return [*lines, "", f"The first {counted(limit, 'row')}; there are more: add --limit 0, or filters."]
    return lines


def _duration(seconds: float) -> str:
    """Return a duration in the unit in which people would say it.

    >>> _duration(0.25), _duration(300.0), _duration(-90000.0), _duration(1e6)
    ('0.25 s', '5 min', '-25 h', '12 d')
    """
    for unit, length_s, below in (("min", 60, 2 * 3600), ("h", 3600, 2 * 86_400), ("d", 86_400, float("inf"))):
        if 120 <= abs(seconds) < below:
            return f"{seconds / length_s:,.0f} {unit}"
    return f"{seconds:.2f} s"


def _text(value: Value, kind: Kind) -> str:
    if value is None or value == "":
        return NOTHING
    if kind is Kind.TIME and isinstance(value, float):
        return time_of(value)
    if kind is Kind.SECONDS and isinstance(value, float):
        return _duration(value)
    if kind is Kind.DECIMAL and isinstance(value, float):
        return f"{float(f'{value:.6g}'):,}"
    if isinstance(value, (int, float)):
        return f"{value:,}"
    return cut(" ".join(str(value).split()), CELL_CHARS)
