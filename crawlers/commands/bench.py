"""`scrapy bench`, which is not a crawl: see `WithoutCrawl`."""

from __future__ import annotations

from scrapy.commands.bench import Command as ScrapyCommand

from crawlers.cli.without_crawl import WithoutCrawl


class Command(WithoutCrawl, ScrapyCommand):
    is_polite = False  # it measures a server of its own
