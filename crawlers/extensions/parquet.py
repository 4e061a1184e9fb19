"""Writes the documents of a news crawl as a Parquet file when it stops, from the store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.algorithms.plurals import counted
from crawlers.extensions.crawl_owner import add_output
from crawlers.reports.document_parquet import write_documents
from crawlers.spiders.news import NewsSpider
from crawlers.storage.files.parquet_files import check_parquet
from crawlers.storage.files.writable import check_setting_file

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl

logger = logging.getLogger(__name__)


class ParquetExport:
    """Exports all documents of a crawl to *path*, including those of earlier runs."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        path = crawler.settings.get("DOCUMENTS_PARQUET")
        if not path or not isinstance(crawler.spider, NewsSpider):
            raise NotConfigured  # not requested, so that no warning is needed
        check_parquet("DOCUMENTS_PARQUET")
        check_setting_file("DOCUMENTS_PARQUET", path)
        extension = cls(Path(path))
        add_output(crawler, extension._write)
        return extension

    def _write(self, database: Database, crawl: NamedCrawl) -> list[Path]:
        number = write_documents(database, crawl.id, self._path)
        logger.info("%s: %s in %s", crawl.name, counted(number, "document"), self._path)
        return [self._path]
