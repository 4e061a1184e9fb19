"""Settles the similarities of a topic crawl when it stops, and writes its results, from the store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_name import crawl_name
from crawlers.pipelines.topic_results import ENDINGS, result_path, write_topic_results
from crawlers.signals import crawl_stored
from crawlers.spiders.topic import TopicSpider
from crawlers.storage.database import Database
from crawlers.storage.files.writable import check_file
from crawlers.storage.queries import crawl_named
from crawlers.storage.topic.topic_similarity import settle_similarities

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class TopicResults:
    """The results of the crawl *name*, of all *kinds*, in *folder*; only of a spider that has a topic."""

    def __init__(self, database_url: str, name: str, folder: Path, kinds: list[str]) -> None:
        self._database_url = database_url
        self._name = name
        self._folder = folder
        self._kinds = kinds

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not isinstance(crawler.spider, TopicSpider):
            raise NotConfigured  # no topic: nothing to warn of
        kinds = [kind for kind in settings.getlist("TOPIC_RESULTS") if kind]
        unknown = set(kinds) - set(ENDINGS)
        if unknown:
            known = ", ".join(ENDINGS)
            raise ConfigError(f"TOPIC_RESULTS={','.join(sorted(unknown))} is unknown; known are: {known}")
        name = crawl_name(settings, crawler.spider)
        extension = cls(settings.get("DATABASE_URL"), name, Path(settings.get("RESULT_FOLDER")), kinds)
        for kind in kinds:
            check_file(result_path(extension._folder, name, kind), "RESULT_FOLDER")
        crawler.signals.connect(extension._write, crawl_stored)
        return extension

    def _write(self) -> None:
        database = Database(self._database_url, create=False)
        try:
            crawl = crawl_named(database, self._name)
            mean = settle_similarities(database, crawl.id)
            if mean is None:
                return
            logger.info("%s: the similarity of its pages to the topic is %.3f on average", crawl.name, mean)
            written = write_topic_results(database, crawl.id, crawl.name, self._folder, self._kinds)
            for path, content in written.items():
                logger.info("%s: %s in %s", crawl.name, content, path)
        finally:
            database.close()
