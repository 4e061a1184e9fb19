"""Tables of text with aligned columns, and their cells."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers.storage.files.cells import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "-"


def time_of(seconds: float | None) -> str:
    """Return a time in UTC, to the minute; `NOTHING` for None."""
    return NOTHING if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def table(rows: Sequence[Sequence[str]], right: str = "") -> str:
    """Return *rows* as text with aligned columns; *right* has an r for each column that is aligned to the right.

    >>> print(table([["site", "pages"], ["a.test", "12"]], right=" r"))
    site    pages
    a.test     12
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = right.ljust(len(widths))
    lines = (
        "  ".join(
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        )
        for row in rows
    )
    return clean("\n".join(line.rstrip() for line in lines))
