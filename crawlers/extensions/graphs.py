"""Writes the graph of every site when the crawl stops, from the store."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlers.errors import ConfigError
from crawlers.signals import crawl_stored
from crawlers.storage.database import Database
from crawlers.storage.graph_analysis import MEASURES
from crawlers.storage.graph_export import write_site_graph
from crawlers.storage.graph_files import graph_format
from crawlers.storage.queries import crawl_named, sites_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Graphs:
    """One graph a site and format in *folder*; only of spiders that crawl listed sites."""

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
            raise NotConfigured("set GRAPH_FORMATS")
        for name in formats:
            graph_format(name)
        measures = [name for name in settings.getlist("GRAPH_MEASURES") if name]
        unknown = set(measures) - set(MEASURES)
        if unknown:
            raise ConfigError(f"GRAPH_MEASURES={','.join(sorted(unknown))} is unknown; known are: {', '.join(MEASURES)}")
        extension = cls(crawler, Path(settings.get("RESULT_FOLDER")), formats, measures)
        if getattr(crawler.spider, "site_limits", None):
            _check_folder(extension._folder)
            crawler.signals.connect(extension._write, crawl_stored)
        return extension

    def _write(self) -> None:
        settings = self._crawler.settings
        database = Database(settings.get("DATABASE_URL"), create=False)
        try:
            crawl = crawl_named(database, settings.get("CRAWL") or self._crawler.spider.name)  # type: ignore[union-attr]
            sites = sites_of(database, crawl.id)
            for site in sites:
                for path, size in write_site_graph(
                    database, site, sites, self._folder, self._formats, self._measures
                ):
                    logger.info("%s: %d pages, %d edges in %s", site.site, size.nodes, size.edges, path)
        finally:
            database.close()


def _check_folder(folder: Path) -> None:
    """Raise `ConfigError` now rather than after the crawl."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(
            f"RESULT_FOLDER={folder} can't be written ({error.strerror}); make it writable or name another folder"
        ) from error
