"""Computes the final similarities of a topic crawl when it stops, and writes its results, from the store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.files.atomic import check_file
from crawlers.graphs.export import write_laid_out
from crawlers.graphs.looks import graph_layout
from crawlers.inputs.setting_readers import crawl_name
from crawlers.missions.topic.topic_file import store_similarities
from crawlers.missions.topic.topic_graph import TopicGraph
from crawlers.missions.topic.topic_report import write_topic_list
from crawlers.options.kinds import RESULT
from crawlers.plurals import counted

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.graphs.looks import GraphLayout
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

logger = logging.getLogger(__name__)


ENDINGS = {"csv": ".pages.csv", "gexf": ".gexf"}  # by kind of result


class TopicPipeline:
    """Writes the results of a topic crawl."""

    def __init__(self, crawler: Crawler, layout: GraphLayout | None) -> None:
        self._crawler = crawler
        self._layout = layout

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert crawler.spider is not None
        settings = crawler.settings
        name = crawl_name(settings, crawler.spider.name)
        layout = graph_layout([word for word in settings.getlist("GRAPH_LAYOUT") if word])
        pipeline = cls(crawler, layout)
        for kind in ENDINGS:
            check_file(result_path(Path(settings.get("RESULT_FOLDER")), name, kind), "RESULT_FOLDER", RESULT)
        add_output(crawler, pipeline._write)
        return pipeline

    def _write(self, database: Database, crawl: NamedCrawl) -> list[Path]:
        mean = store_similarities(database, crawl.id)
        if mean is None:
            return []
        logger.info("%s: the similarity of its pages to the topic is %.3f on average", crawl.name, mean)
        folder = owner_of(self._crawler).result_folder()
        pages, graph = (result_path(folder, crawl.name, kind) for kind in ENDINGS)
        number = write_topic_list(database, crawl.id, pages)
        size = write_laid_out(TopicGraph(database, crawl.id, crawl.name), graph.with_suffix(""), "gexf", self._layout)
        logger.info("%s: %s in %s", crawl.name, counted(number, "page"), pages)
        logger.info("%s: %s, %s in %s", crawl.name, counted(size.nodes, "page"), counted(size.edges, "edge"), graph)
        return [pages, graph]


def result_path(folder: Path, crawl: str, kind: str) -> Path:
    """Return the file for one kind of results of a crawl.

    >>> from pathlib import Path
    >>> result_path(Path("result"), "unicode", "csv").as_posix()
    'result/unicode.pages.csv'
    """
    return folder / (crawl.replace("/", "_") + ENDINGS[kind])
