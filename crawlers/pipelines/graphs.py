"""Writes the graph of every site, and its tables of URLs and links, when the crawl stops, from the store.

Scrapy closes pipelines before the scheduler, and only logs their exceptions. So the files are an output of the crawl,
which is finished only when its outputs are written.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.files.atomic import check_folder, check_parquet
from crawlers.graphs.export import PARQUET, ResultFiles
from crawlers.graphs.looks import graph_layout
from crawlers.spiders.base import SiteSpider
from crawlers.store.reading.queries import NamedCrawl, sites_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.store.database import Database

logger = logging.getLogger(__name__)


class GraphPipeline:
    """Writes the *wanted* files of each site, and with *has_dataset* the graph of the whole crawl as Parquet.

    Only missions have such files.
    """

    def __init__(self, crawler: Crawler, wanted: ResultFiles, *, has_dataset: bool) -> None:
        self._crawler = crawler
        self._wanted = wanted
        self._has_dataset = has_dataset

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        formats, measures, words, tables = (
            [name for name in settings.getlist(setting) if name]
            for setting in ("GRAPH_FORMATS", "GRAPH_MEASURES", "GRAPH_LAYOUT", "RESULT_TABLES")
        )
        if not formats and not tables:
            raise NotConfigured  # nothing is requested
        if PARQUET in formats:
            check_parquet("GRAPH_FORMATS")
        wanted = ResultFiles([name for name in formats if name != PARQUET], measures, graph_layout(words), tables)
        pipeline = cls(crawler, wanted, has_dataset=PARQUET in formats)
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # a plain Scrapy spider has no list of sites
        check_folder(Path(settings.get("RESULT_FOLDER")), "RESULT_FOLDER")
        add_output(crawler, pipeline._write)
        return pipeline

    def _write(self, database: Database, crawl: NamedCrawl) -> Iterator[Path]:
        # What only writes files is imported when files are written.
        from crawlers.graphs.export import no_graph_of
        from crawlers.reports.site_results import write_site_results

        folder, sites = owner_of(self._crawler).result_folder(), sites_of(database, crawl.id)
        if self._has_dataset:
            from crawlers.graphs.dataset import DATASET, write_dataset

            dataset = folder / DATASET
            size = write_dataset(database, [site.id for site in sites], dataset)
            logger.info("%s: %s in %s", crawl.name, size, dataset)
            yield dataset
        unread = {site.site: None for site in sites} if self._wanted.formats else {}
        for written in write_site_results(database, crawl, sites, folder, self._wanted):
            unread.pop(written.site, None)
            logger.info("%s: %s in %s", written.site or crawl.name, written.contents, written.paths[0])
            yield from written.paths
        if unread:
            logger.warning("%s", no_graph_of(list(unread)))
