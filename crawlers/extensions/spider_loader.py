"""Finds spiders by their names: for the crawl of one mission, those of the others are not imported."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from scrapy import spiderloader
from scrapy.settings import BaseSettings
from scrapy.utils.spider import iter_spider_classes

from crawlers import spiders
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    import builtins

    from scrapy import Spider

PACKAGE = spiders.__name__


class SpiderLoader(spiderloader.SpiderLoader):
    """Scrapy's loader for the spiders of users. One of this project is in the module of its name."""

    def __init__(self, settings: BaseSettings) -> None:
        modules = settings.getlist("SPIDER_MODULES")
        names = (one.name for one in iter_modules(spiders.__path__)) if PACKAGE in modules else ()
        self._missions = [name for name in names if name != "base"]
        others = [name for name in modules if name != PACKAGE]
        is_lenient = settings.getbool("SPIDER_LOADER_WARN_ONLY")
        try:
            super().__init__(BaseSettings({"SPIDER_MODULES": others, "SPIDER_LOADER_WARN_ONLY": is_lenient}))
        except ConfigError as error:  # no command that could report it has begun
            print(f"Error: {error}", file=sys.stderr)
            sys.exit(2)

    def load(self, spider_name: str) -> type[Spider]:
        if spider_name not in self._missions or spider_name in super().list():
            return super().load(spider_name)
        return next(iter(iter_spider_classes(import_module(f"{PACKAGE}.{spider_name}"))))

    def list(self) -> builtins.list[str]:
        return [*dict.fromkeys([*self._missions, *super().list()])]
