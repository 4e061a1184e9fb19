"""Tables as text for a terminal. Times are UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers import reasons
from crawlers.files.csv_tables import aligned, cut
from crawlers.reports.catalogue.report import NUMERIC, Kind
from crawlers.reports.histories.history import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.files.csv_tables import Value
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
