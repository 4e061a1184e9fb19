"""Imports the modules that Scrapy commands of this project need; see `processes`."""

import gc
from importlib import import_module

from scrapy.utils.misc import walk_modules_iter

for package in (
    *(f"crawlers.{name}" for name in ("cli", "commands", "crawl", "extensions", "graphs", "middlewares", "pipelines")),
    *(f"crawlers.{name}" for name in ("reports", "schedulers", "spiders")),
    *(f"scrapy.{name}" for name in ("commands", "downloadermiddlewares", "spidermiddlewares")),
):
    list(walk_modules_iter(package))

for module in (
    "aiohttp.web",
    "networkx",
    "rich.live",
    "scipy.sparse",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "sqlite3",
):
    import_module(module)

gc.freeze()  # so that garbage collection in a fork does not touch these modules, and their memory stays shared
