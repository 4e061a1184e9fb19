"""The log as JSON, one object a line, if LOG_JSON is set; Scrapy has no setting for it.

Scrapy makes its handler anew for each crawler, with a formatter of its own, and writes to it before. So the handler is
ours: it is installed before Scrapy would install one, and again with the settings of the crawler.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.utils.log import _get_handler

from crawlers.extensions.crawl_owner import CRAWL_OPENED
from crawlers.inputs.setting_readers import crawl_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlers.crawl.running_crawl import Crawl

HANDLER = "crawlers-json"  # its name
_levels_before: list[int] = []  # of the root logger, see `install`


class JsonLog:
    """An add-on. All lines have `crawl` and `spider` as soon as *crawler* has a spider, and then `worker`."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        add_on = cls(crawler)
        crawler.signals.connect(add_on._opened, CRAWL_OPENED)
        return add_on

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        if not settings.getbool("LOG_JSON") or not settings.getbool("LOG_INSTALL_ROOT_HANDLER"):
            return
        settings.set("LOG_INSTALL_ROOT_HANDLER", False, "cmdline")
        install(settings, {})
        settings.set("LOG_FILE_APPEND", True, settings.getpriority("LOG_FILE_APPEND") or 0)  # from now on

    def update_settings(self, settings: BaseSettings) -> None:
        spider = self._crawler.spider
        if spider is not None and _handlers():
            install(settings, {"crawl": crawl_name(settings, spider.name), "spider": spider.name})

    def _opened(self, crawl: Crawl) -> None:
        for handler in _handlers():
            formatter: Any = handler.formatter  # `JsonLines`
            formatter.static_fields["worker"] = crawl.session.row.worker_id


def install(settings: BaseSettings, fields: Mapping[str, str]) -> None:
    """Let the root logger write JSON where Scrapy's settings say, instead of an earlier call. All lines have *fields*.

    Scrapy's own choice of the handler is private; its public `install_scrapy_root_handler` makes Scrapy replace the
    handler, with a formatter of its own, for each crawler. `test_json_log.py` fails if this one breaks.

    >>> from scrapy.settings import Settings
    >>> install(Settings({"LOG_ENABLED": False}), {"crawl": "night"})
    >>> remove()
    """
    from crawlers.extensions.json_lines import JsonLines  # with a library that only such logs need

    handler = _get_handler(settings)  # type: ignore[arg-type]
    handler.name = HANDLER
    handler.setFormatter(JsonLines(fields))
    remove()
    _levels_before.append(logging.root.level)
    logging.root.setLevel(logging.NOTSET)
    logging.root.addHandler(handler)


def remove() -> None:
    """Undo `install`."""
    for handler in _handlers():
        logging.root.removeHandler(handler)
        handler.close()
        logging.root.setLevel(_levels_before.pop())


def _handlers() -> list[logging.Handler]:
    return [handler for handler in logging.root.handlers if handler.name == HANDLER]


def prints_for_people(settings: BaseSettings) -> bool:
    """Return whether messages may be printed to standard error, because it is not a log of JSON."""
    return bool(settings.get("LOG_FILE")) or not settings.getbool("LOG_JSON")
