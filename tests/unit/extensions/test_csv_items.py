"""Exported items are no formulas, whatever strangers write into titles and URLs."""

import csv
import io

import pytest
from scrapy.utils.misc import load_object

from crawlers.files.csv_tables import FORMULA_STARTS
from tests.support.opened_crawl import project_settings


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_texts_of_items_are_guarded_and_numbers_are_not(start):
    exporter = load_object(project_settings().getdict("FEED_EXPORTERS")["csv"])
    file = io.BytesIO()
    out = exporter(file, fields_to_export=["title", "authors", "level"])
    out.start_exporting()
    out.export_item({"title": f"{start}cmd|' /C calc'!A0", "authors": [f"{start}A", "B"], "level": -1})
    out.finish_exporting()
    (_, row) = csv.reader(io.TextIOWrapper(io.BytesIO(file.getvalue()), newline=""))
    assert (row[0], row[2]) == (f"'{start}cmd|' /C calc'!A0", "-1")
    assert row[1].startswith(f"'{start}A")
