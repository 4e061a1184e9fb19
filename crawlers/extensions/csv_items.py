"""Exports items as CSV (`-O pages.csv`) that no spreadsheet runs: titles and URLs are written by strangers."""

from __future__ import annotations

from typing import Any

from scrapy.exporters import CsvItemExporter

from crawlers.storage.files.cells import guarded


class GuardedCsvExporter(CsvItemExporter):
    """Scrapy's exporter, with an apostrophe before texts that a spreadsheet would take for formulas; see `cells`."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        found = super().serialize_field(field, name, value)
        return guarded(found) if isinstance(found, str) else found
