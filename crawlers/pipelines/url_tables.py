"""Writes the tables of URLs and links when the crawl stops, from the store, as outputs of the crawl."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.files.writable import check_folder
from crawlers.plurals import counted
from crawlers.reports.result_tables import write_tables
from crawlers.spiders.base import SiteSpider
from crawlers.store.reading.queries import NamedCrawl, sites_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.store.database import Database

logger = logging.getLogger(__name__)


class TablePipeline:
    """Writes the tables called *names*; only for missions."""

    def __init__(self, crawler: Crawler, names: list[str]) -> None:
        self._crawler = crawler
        self._names = names

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        names = [name for name in crawler.settings.getlist("RESULT_TABLES") if name]
        if not names or not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # no tables are requested; the links of plain Scrapy spiders are not stored
        pipeline = cls(crawler, names)
        check_folder(Path(crawler.settings.get("RESULT_FOLDER")), "RESULT_FOLDER")
        add_output(crawler, pipeline._write)
        return pipeline

    def _write(self, database: Database, crawl: NamedCrawl) -> list[Path]:
        folder, sites, written = owner_of(self._crawler).result_folder(), sites_of(database, crawl.id), []
        for path, rows, noun in write_tables(database, crawl, sites, sites, folder, self._names):
            logger.debug("%s in %s", counted(rows, noun), path)  # the summary names the files
            written.append(path)
        return written
