"""Tables as files, and as text for a terminal."""

import io

import pytest

from crawlers.reports.catalogue import renderers
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.catalogue.renderers import parquet_file, text_table
from crawlers.reports.catalogue.report import Column, Kind
from tests.support.report_rows import report_rows

parquet = pytest.importorskip("pyarrow.parquet")


def read(parts):
    return parquet.read_table(io.BytesIO(b"".join(parts)))


def test_parquet_has_the_rows_of_the_reports(database, crawl_id):
    for report in REPORTS.values():
        rows = [row.cells for row in report_rows(database, report, crawl_id)]
        table = read(parquet_file(report.columns, rows))
        assert table.column_names == [column.name for column in report.columns]
        assert table.num_rows == len(rows)
        texts = [place for place, column in enumerate(report.columns) if column.kind in (Kind.TEXT, Kind.NUMBER)]
        for place in texts:
            assert table.column(place).to_pylist() == [row[place] for row in rows], report.name


def test_parquet_is_written_in_row_groups(monkeypatch):
    monkeypatch.setattr(renderers, "ROWS_OF_GROUP", 2)
    columns = (Column("at", "At", Kind.TIME), Column("text", "Text"))
    parts = list(parquet_file(columns, ((number + 0.5, "x") for number in range(5))))
    assert len(parts) == 4  # three row groups, and the end of the file
    assert [at.timestamp() for at in read(parts).column("at").to_pylist()] == [0.5, 1.5, 2.5, 3.5, 4.5]


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
    assert text_table((Column("x", "X", kind),), [(value,)], 70).split("\n")[-1].strip() == shown
