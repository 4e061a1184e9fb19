"""What a news crawl writes when it stops, from the store: a chart of its iterations, and its documents as Parquet."""

from __future__ import annotations

import logging
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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


class NewsOutputs:
    """Draws the chart, and exports all documents of a crawl, those of earlier runs included."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if path := crawler.settings.get("DOCUMENTS_PARQUET"):
            check_parquet("DOCUMENTS_PARQUET")
            check_setting_file("DOCUMENTS_PARQUET", path)
            add_output(crawler, partial(_export, Path(path)))
        if find_spec("matplotlib") is None:
            logger.warning("matplotlib is missing, so no chart is drawn; pip install matplotlib")
        else:
            check_file(Path(crawler.settings.get("RESULT_FOLDER")) / FILE_NAME, "RESULT_FOLDER", RESULT)
            add_output(crawler, partial(_draw, crawler))
        return cls()


def _draw(crawler: Crawler, database: Database, crawl: NamedCrawl) -> list[Path]:
    last = last_iteration(database, crawl.id)
    if last is None:
        return []
    path = owner_of(crawler).result_folder() / FILE_NAME
    wanted = PictureRequest(crawl, crawl_rules(settings_of(database, crawl.id)))
    with database.read() as connection:
        draw_pictures(path, connection, wanted, (Iterations(), UsefulShare(), Days()))
    logger.info("%s; drawn in %s", last, path)
    return [path]


def _export(path: Path, database: Database, crawl: NamedCrawl) -> list[Path]:
    number = write_documents(database, crawl.id, path)
    logger.info("%s: %s in %s", crawl.name, counted(number, "document"), path)
    return [path]
