"""Reports as files."""

from __future__ import annotations

import io

import pytest

from crawlers.reports.catalogue import exporting
from crawlers.reports.catalogue.crawl_report import Column, Kind, Row, rows_of
from crawlers.reports.catalogue.exporting import parquet_file
from crawlers.reports.catalogue.filters import Filters
from crawlers.reports.catalogue.registry import REPORTS

parquet = pytest.importorskip("pyarrow.parquet")


def read(parts):
    return parquet.read_table(io.BytesIO(b"".join(parts)))


@pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)
def test_parquet_has_the_rows_of_the_report(sqlite, crawl_id_of_sqlite, report):
    with sqlite.read() as connection:
        rows = list(rows_of(report.steps(connection, crawl_id_of_sqlite, Filters(), None)))
    table = read(parquet_file(report.columns, rows))
    assert table.column_names == [column.name for column in report.columns]
    assert table.num_rows == len(rows)
    texts = [place for place, column in enumerate(report.columns) if column.kind in (Kind.TEXT, Kind.NUMBER)]
    for place in texts:
        assert table.column(place).to_pylist() == [row.cells[place] for row in rows]


def test_parquet_is_written_in_row_groups(monkeypatch):
    monkeypatch.setattr(exporting, "ROWS_OF_GROUP", 2)
    columns = (Column("at", "At", Kind.TIME), Column("text", "Text"))
    parts = list(parquet_file(columns, (Row((number + 0.5, "x"), (number,)) for number in range(5))))
    assert len(parts) == 4  # three row groups, and the end of the file
    assert [at.timestamp() for at in read(parts).column("at").to_pylist()] == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_parquet_without_rows_can_be_read():
    assert read(parquet_file((Column("text", "Text"),), ())).num_rows == 0
