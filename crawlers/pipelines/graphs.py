"""Writes the graph of every site when the crawl stops, from the store.

Scrapy closes pipelines before the scheduler, and only logs their exceptions. So the files are an output of the crawl,
which is finished only when its outputs are written.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.algorithms.plurals import counted
from crawlers.errors import ConfigError
from crawlers.extensions.crawl_owner import add_output
from crawlers.graphs.analysis import MEASURES
from crawlers.graphs.export import no_graph_of, write_site_graphs
from crawlers.graphs.files import FORMATS
from crawlers.inputs.crawl_name import crawl_name
from crawlers.spiders.base import SiteSpider
from crawlers.storage.database import Database
from crawlers.storage.files.writable import check_folder
from crawlers.storage.queries import crawl_named, sites_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class GraphPipeline:
    """Writes one graph per site and format to *folder*; only for missions."""

    def __init__(self, crawler: Crawler, folder: Path, formats: list[str], measures: list[str]) -> None:
        self._crawler = crawler
        self._folder = folder
        self._formats = formats
        self._measures = measures

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        formats = [name for name in settings.getlist("GRAPH_FORMATS") if name]
        if not formats:
            raise NotConfigured  # no graphs are requested
        strange = set(formats) - set(FORMATS)
        if strange:
            raise _unknown("GRAPH_FORMATS", strange, FORMATS)
        measures = [name for name in settings.getlist("GRAPH_MEASURES") if name]
        unknown = set(measures) - set(MEASURES)
        if unknown:
            raise _unknown("GRAPH_MEASURES", unknown, MEASURES)
        pipeline = cls(crawler, Path(settings.get("RESULT_FOLDER")), formats, measures)
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # a plain Scrapy spider has no list of sites
        check_folder(pipeline._folder, "RESULT_FOLDER")
        add_output(crawler, pipeline._write)
        return pipeline

    def _write(self) -> list[Path]:
        written = []
        settings = self._crawler.settings
        database = Database(settings.get("DATABASE_URL"), create=False)
        try:
            crawl = crawl_named(database, crawl_name(settings, self._crawler.spider))
            sites = sites_of(database, crawl.id)
            graphs = write_site_graphs(database, crawl.id, sites, sites, self._folder, self._formats, self._measures)
            unread = {site.site: None for site in sites}
            for site, paths, size in graphs:
                unread.pop(site.site, None)  # a site has a file in each format
                written += paths
                pages, edges = counted(size.nodes, "page"), counted(size.edges, "edge")
                logger.info("%s: %s, %s in %s", site.site, pages, edges, paths[0])
            if unread:
                logger.warning("%s", no_graph_of(list(unread)))
        finally:
            database.close()
        return written


def _unknown(setting: str, names: Iterable[str], known: Iterable[str]) -> ConfigError:
    return ConfigError(f"{setting}={','.join(sorted(names))} is unknown; choose one of: {', '.join(known)}")
