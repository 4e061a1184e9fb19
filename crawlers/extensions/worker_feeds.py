"""Feed exports (`-o`, `-O`): each worker that joins others writes files of its own, and CSV runs in no spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exporters import CsvItemExporter
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage

from crawlers.extensions.crawl_owner import owner_of
from crawlers.files.atomic import check_file, of_worker
from crawlers.files.csv_tables import guarded
from crawlers.options.kinds import FEED

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler


STDOUT = "stdout:"


class WorkerFeeds(FeedExporter):
    """Scrapy's feed exports; of `pages.csv`, worker 17, which joined others, writes `pages.17.csv`.

    Raises `ConfigError` if a file is one of something else: with `-O` it would be lost.

    A crawl that could not begin opens no file: with `-O` it would empty that of an earlier crawl, or of one that runs.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        for uri in self.feeds:
            if urlsplit(uri).scheme in ("", "file"):
                path = FileFeedStorage(uri).path
                check_file(Path(path), "-o", FEED)

    def open_spider(self, spider: Spider) -> None:
        owner = owner_of(self.crawler)
        if owner.failure is not None:
            return
        number = owner.joined_as
        if number is not None:
            names = {uri: uri if uri == STDOUT else of_worker(uri, number) for uri in self.feeds}
            self.feeds = {names[uri]: options for uri, options in self.feeds.items()}
            self.filters = {names[uri]: chosen for uri, chosen in self.filters.items()}
        super().open_spider(spider)


class GuardedCsvExporter(CsvItemExporter):
    """Scrapy's exporter, with an apostrophe before texts that a spreadsheet would take for formulas."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        found = super().serialize_field(field, name, value)
        return guarded(found) if isinstance(found, str) else found
