"""What a news crawl writes when it stops, from the store: a chart of its iterations, and its documents as Parquet."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.files.atomic import check_file, check_parquet, check_setting_file
from crawlers.missions.news.reports.document_parquet import write_documents
from crawlers.missions.news.reports.news_pictures import Days, Iterations, UsefulShare
from crawlers.missions.news.stored.iterations import last_iteration
from crawlers.options.kinds import RESULT
from crawlers.plurals import counted
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.pictures.picture import PictureRequest, draw_pictures
from crawlers.store.reading.crawl_settings import settings_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl


logger = logging.getLogger(__name__)

FILE_NAME = "news.svg"


class NewsChart:
    """The chart of a news crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if find_spec("matplotlib") is None:
            raise NotConfigured("matplotlib is missing, so no chart is drawn; pip install matplotlib")
        check_file(Path(crawler.settings.get("RESULT_FOLDER")) / FILE_NAME, "RESULT_FOLDER", RESULT)
        extension = cls(crawler)
        add_output(crawler, extension._draw)
        return extension

    def _draw(self, database: Database, crawl: NamedCrawl) -> list[Path]:
        last = last_iteration(database, crawl.id)
        if last is None:
            return []
        path = owner_of(self._crawler).result_folder() / FILE_NAME
        wanted = PictureRequest(crawl, crawl_rules(settings_of(database, crawl.id)))
        with database.read() as connection:
            draw_pictures(path, connection, wanted, (Iterations(), UsefulShare(), Days()))
        logger.info("%s; drawn in %s", last, path)
        return [path]


class ParquetExport:
    """Exports all documents of a crawl to *path*, including those of earlier runs."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        path = crawler.settings.get("DOCUMENTS_PARQUET")
        if not path:
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
