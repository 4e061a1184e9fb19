"""What Scrapy says of a crawl, without work for each page: its log lines and its basic stats.

Lines about pages, and about Scrapy itself, are there only if they are wanted: LOG_LEVEL=DEBUG.
"""

from __future__ import annotations

import logging
from textwrap import indent
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.extensions.corestats import CoreStats
from scrapy.logformatter import LogFormatter
from scrapy.statscollectors import MemoryStatsCollector

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

# Loggers of Scrapy, and the beginnings of messages that fill a screen and say nothing about the crawl.
_DUMPS = {
    "scrapy.addons": "Enabled addons",
    "scrapy.crawler": "Overridden settings",
    "scrapy.middleware": "Enabled ",
    "scrapy.statscollectors": "Dumping Scrapy stats",
    "scrapy.utils.log": "Versions",
}


class PageLogFormatter(LogFormatter):
    """Scrapy's log formatter, which logs pages and items only if *is_verbose*.

    Scrapy creates two records per page for a handler that drops them; at 400 pages a second that takes an eighth of the
    time.
    """

    def __init__(self, is_verbose: bool) -> None:
        self.is_verbose = is_verbose

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        level = crawler.settings.get("LOG_LEVEL")
        number = level if isinstance(level, int) else logging.getLevelNamesMapping().get(str(level).upper(), 0)
        return cls(number <= logging.DEBUG)

    def crawled(self, *args: Any, **kwargs: Any) -> Any:
        return super().crawled(*args, **kwargs) if self.is_verbose else None

    def scraped(self, *args: Any, **kwargs: Any) -> Any:
        return super().scraped(*args, **kwargs) if self.is_verbose else None


class PageStats(MemoryStatsCollector):
    """Scrapy's default, without a warning of an outdated argument, for which it looks each attribute up three times."""

    __getattribute__ = object.__getattribute__


class RunStats(CoreStats):
    """In place of `CoreStats`. Scrapy starts a task for each listener to `item_scraped`: the store pipeline counts."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # plain Scrapy spiders have Scrapy's own
        stats = super().from_crawler(crawler)
        crawler.signals.disconnect(stats.item_scraped, signals.item_scraped)
        return stats


class DebugDumps:
    """An add-on that lowers Scrapy's dumps of its settings, components, versions and stats to the level DEBUG.

    The stats of plain Scrapy spiders stay, because these spiders have no other summary.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        for name in _DUMPS:
            logging.getLogger(name).addFilter(_lower_dumps)  # once, however often this is called


def _lower_dumps(record: logging.LogRecord) -> bool:
    is_dump = record.levelno == logging.INFO and str(record.msg).startswith(_DUMPS[record.name])
    spider = record.__dict__.get("spider")  # Scrapy adds it to the stats
    if is_dump and (spider is None or isinstance(spider, SiteSpider)):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
    return True


class OfWorker(logging.Formatter):
    """Formats records as *formatter* does, each line after the *number* of the worker: several write one log."""

    def __init__(self, number: int, formatter: logging.Formatter) -> None:
        super().__init__()
        self._mark = f"[{number}] "
        self._formatter = formatter

    def format(self, record: logging.LogRecord) -> str:
        return indent(self._formatter.format(record), self._mark, lambda _: True)


def mark_lines(number: int) -> None:
    """Let the number of this worker stand before all lines of its log, unless these are JSON."""
    for handler in logging.root.handlers:
        if handler.formatter is not None and type(handler.formatter) is logging.Formatter:
            handler.setFormatter(OfWorker(number, handler.formatter))
