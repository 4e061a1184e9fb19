"""Log lines per page only if they are wanted: LOG_LEVEL=DEBUG.

Scrapy creates two records per page for a handler that drops them; at 400 pages a second that takes an eighth
of the time.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class PageLogFormatter(LogFormatter):
    """Scrapy's log formatter, which logs pages and items only if *is_verbose*."""

    def __init__(self, is_verbose: bool) -> None:
        self._is_verbose = is_verbose

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        level = crawler.settings.get("LOG_LEVEL")
        number = level if isinstance(level, int) else logging.getLevelNamesMapping().get(str(level).upper(), 0)
        return cls(number <= logging.DEBUG)

    def crawled(self, *args: Any, **kwargs: Any) -> Any:
        return super().crawled(*args, **kwargs) if self._is_verbose else None

    def scraped(self, *args: Any, **kwargs: Any) -> Any:
        return super().scraped(*args, **kwargs) if self._is_verbose else None
