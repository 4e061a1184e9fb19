"""Lets Scrapy's commands that are not crawls (fetch, shell …) run without the scheduler and components of this project.

With them, each of these commands would begin a crawl in the store, which `scrapy graph` and others would then read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import default_settings as scrapy_defaults

from crawlers.inputs.program import suggested
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

COMPONENTS = ("ADDONS", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
ROBOTS = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"


class WithoutCrawl(ScrapyCommand):
    """A base class, before that of the Scrapy command."""

    is_polite = True  # about sites of others

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        use_scrapy_alone(self.settings, is_polite=self.is_polite)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        name = vars(opts).get("spider")
        if name is not None:
            loader = self.crawler_process.spider_loader
            if name not in loader.list():
                raise UsageError(f"--spider {name}: there is no such spider", print_help=False)
            if issubclass(loader.load(name), SiteSpider):
                command = suggested(f"scrapy crawl {name}")
                raise UsageError(
                    f"--spider {name} reads its pages within a crawl; leave out --spider, or run {command}",
                    print_help=False,
                )
        super().run(args, opts)  # type: ignore[safe-super] # of the Scrapy command


def use_scrapy_alone(settings: BaseSettings, *, is_polite: bool) -> None:
    """Replace the values that settings.py gives to Scrapy's own settings; those of the command line stay."""
    for name in COMPONENTS:
        own = {path for path in settings.getdict(name) if str(path).startswith("crawlers.")}
        own.add(ROBOTS)  # switched off, because the frontier obeys robots.txt
        others = {path: place for path, place in settings.getdict(name).items() if path not in own}
        settings.set(name, others, "project")
    for name in ("SCHEDULER", "DOWNLOADER", "LOG_FORMATTER"):
        settings.set(name, getattr(scrapy_defaults, name), "project")
    if is_polite:
        settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", settings.getint("SITE_PARALLEL"), "project")
        settings.set("DOWNLOAD_DELAY", settings.getfloat("SITE_DELAY_SECONDS"), "project")
