"""Imports all that a command of Scrapy does in this project; see `processes`."""

from __future__ import annotations

import gc
from importlib import import_module

from scrapy.utils.misc import walk_modules_iter

for package in (
    *(f"crawlers.{name}" for name in ("commands", "extensions", "middlewares", "pipelines", "schedulers", "spiders")),
    *(f"scrapy.{name}" for name in ("commands", "downloadermiddlewares", "spidermiddlewares")),
):
    list(walk_modules_iter(package))

for module in (
    "aiohttp.web",
    "alembic.command",
    "networkx",
    "rich.live",
    "scipy.sparse",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "sqlite3",
):
    import_module(module)

gc.freeze()  # so that the collector of a fork leaves these modules alone, and their memory shared
