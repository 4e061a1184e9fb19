"""Writes the graph of every site when the crawl stops, from the store.

Scrapy closes pipelines before the scheduler, and only logs their exceptions. So the files are an output of the crawl,
which is finished only when its outputs are written.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.files.parquet_files import check_parquet
from crawlers.files.writable import check_folder
from crawlers.graphs.dataset.dataset_export import DATASET, write_dataset
from crawlers.graphs.export import no_graph_of, write_site_graphs
from crawlers.graphs.files import PARQUET
from crawlers.graphs.looks import graph_layout
from crawlers.plurals import counted
from crawlers.spiders.base import SiteSpider
from crawlers.store.reading.queries import NamedCrawl, sites_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.graphs.looks import GraphLayout
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import CrawledSite

logger = logging.getLogger(__name__)


class GraphPipeline:
    """Writes one graph per site and format, or one of the whole crawl as Parquet; only for missions."""

    def __init__(self, crawler: Crawler, formats: list[str], measures: list[str], layout: GraphLayout | None) -> None:
        self._crawler = crawler
        self._formats = formats
        self._measures = measures
        self._layout = layout

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        formats = [name for name in settings.getlist("GRAPH_FORMATS") if name]
        if not formats:
            raise NotConfigured  # no graphs are requested
        if PARQUET in formats:
            check_parquet("GRAPH_FORMATS")
        measures = [name for name in settings.getlist("GRAPH_MEASURES") if name]
        layout = graph_layout([name for name in settings.getlist("GRAPH_LAYOUT") if name])
        pipeline = cls(crawler, formats, measures, layout)
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # a plain Scrapy spider has no list of sites
        check_folder(Path(settings.get("RESULT_FOLDER")), "RESULT_FOLDER")
        add_output(crawler, pipeline._write)
        return pipeline

    def _write(self, database: Database, crawl: NamedCrawl) -> list[Path]:
        written = []
        folder, sites = owner_of(self._crawler).result_folder(), sites_of(database, crawl.id)
        if PARQUET in self._formats:
            dataset = folder / DATASET
            size = write_dataset(database, [site.id for site in sites], dataset)
            written.append(dataset)
            logger.info("%s: %s in %s", crawl.name, size, dataset)
        formats = [name for name in self._formats if name != PARQUET]
        if formats:
            written += self._write_site_graphs(database, crawl.id, sites, folder, formats)
        return written

    def _write_site_graphs(
        self, database: Database, crawl_id: int, sites: list[CrawledSite], folder: Path, formats: list[str]
    ) -> Iterator[Path]:
        unread = {site.site: None for site in sites}
        graphs = write_site_graphs(database, crawl_id, sites, folder, formats, self._measures, self._layout)
        for site, paths, size in graphs:
            unread.pop(site.site, None)  # a site has a file in each format
            pages, edges = counted(size.nodes, "page"), counted(size.edges, "edge")
            logger.info("%s: %s, %s in %s", site.site, pages, edges, paths[0])
            yield from paths
        if unread:
            logger.warning("%s", no_graph_of(list(unread)))
