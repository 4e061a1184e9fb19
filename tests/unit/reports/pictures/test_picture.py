"""What all pictures have in common, and their data as a table."""

from crawlers.reports.catalogue.file_formats import csv_lines
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.pictures.picture import PAGES_READ, Axis, Drawing, Series, table_of

Y = Axis("found", "links found")


def test_data_are_a_row_for_each_point():
    series = (Series("=auto: x", (0.0, 2.0)), Series("ucb1", (None, 0.5)))
    columns, rows = table_of(Drawing(PAGES_READ, Y, (1.0, 2.0), series))
    assert [one.kind for one in columns] == [Kind.NUMBER, Kind.NUMBER, Kind.DECIMAL]
    text = b"".join(csv_lines(columns, rows)).decode()
    assert text.splitlines() == ["pages,'=auto: x,ucb1", "1.0,0.0,", "2.0,2.0,0.5"]
