"""Writes the documents of a news crawl as a Parquet file when it stops, from the store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.algorithms.plurals import counted
from crawlers.extensions.crawl_owner import add_output
from crawlers.inputs.crawl_name import crawl_name
from crawlers.reports.document_parquet import write_documents
from crawlers.spiders.news import NewsSpider
from crawlers.storage.database import Database
from crawlers.storage.files.parquet_files import check_parquet
from crawlers.storage.files.writable import check_setting_file
from crawlers.storage.queries import crawl_named

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ParquetExport:
    """Exports all documents of the crawl *name* to *path*, including those of earlier runs."""

    def __init__(self, database_url: str, name: str, path: Path) -> None:
        self._database_url = database_url
        self._name = name
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        path = settings.get("DOCUMENTS_PARQUET")
        if not path or not isinstance(crawler.spider, NewsSpider):
            raise NotConfigured  # not requested, so that no warning is needed
        check_parquet("DOCUMENTS_PARQUET")
        check_setting_file("DOCUMENTS_PARQUET", path)
        name = crawl_name(settings, crawler.spider)
        extension = cls(settings.get("DATABASE_URL"), name, Path(path))
        add_output(crawler, extension._write)
        return extension

    def _write(self) -> list[Path]:
        database = Database(self._database_url, create=False)
        try:
            crawl = crawl_named(database, self._name)
            number = write_documents(database, crawl.id, self._path)
            logger.info("%s: %s in %s", crawl.name, counted(number, "document"), self._path)
            return [self._path]
        finally:
            database.close()
