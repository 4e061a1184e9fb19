"""Reports as text for a terminal."""

from __future__ import annotations

import pytest

from crawlers.reports.catalogue.crawl_report import Column, Kind, Row
from crawlers.reports.catalogue.text_report import text_report


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (Kind.SECONDS, 0.25, "0.25 s"),
        (Kind.SECONDS, 119.0, "119.00 s"),
        (Kind.SECONDS, 300.0, "5 min"),
        (Kind.SECONDS, -90_000.0, "-25 h"),
        (Kind.SECONDS, 80_652_262.7, "933 d"),
        (Kind.DECIMAL, 0.00001234567891, "1.23457e-05"),
        (Kind.DECIMAL, 12_345.678, "12,345.7"),
        (Kind.NUMBER, 1_234_567, "1,234,567"),
        (Kind.TITLE, "a\x1b[31m\nb", "a�[31m b"),
        (Kind.URL, None, "-"),
    ],
)
def test_cells_are_short_texts(kind, value, shown):
    lines = text_report((Column("x", "X", kind),), iter([Row((value,), (1,))]), 0)
    assert lines[-1].strip() == shown


def test_rows_beyond_the_limit_are_told():
    lines = text_report((Column("x", "X"),), (Row((str(number),), (number,)) for number in range(3)), 2)
    assert lines[-1] == "The first 2 rows; there are more: add --limit 0, or filters."
