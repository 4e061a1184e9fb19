"""`scrapy check`, which is not a crawl: see `WithoutCrawl`."""

from __future__ import annotations

from scrapy.commands.check import Command as ScrapyCommand

from crawlers.cli.without_crawl import WithoutCrawl


class Command(WithoutCrawl, ScrapyCommand):
    pass
