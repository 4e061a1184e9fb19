"""Exported items are no formulas, whatever strangers write into titles and URLs."""

import csv
import io

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from crawlers.storage.files.cells import FORMULA_STARTS


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_texts_of_items_are_guarded_and_numbers_are_not(start):
    settings = Settings()
    settings.setmodule("crawlers.settings")
    exporter = load_object(settings.getdict("FEED_EXPORTERS")["csv"])
    file = io.BytesIO()
    out = exporter(file, fields_to_export=["title", "authors", "level"])
    out.start_exporting()
    out.export_item({"title": f"{start}cmd|' /C calc'!A0", "authors": [f"{start}A", "B"], "level": -1})
    out.finish_exporting()
    (_, row) = csv.reader(io.TextIOWrapper(io.BytesIO(file.getvalue()), newline=""))
    assert row[0] == f"'{start}cmd|' /C calc'!A0"
    assert row[1].startswith(f"'{start}A")
    assert row[2] == "-1"
