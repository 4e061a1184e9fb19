"""`scrapy explain URL`: the story of one URL, as the store knows it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlers.algorithms.url_settings import normalization
from crawlers.algorithms.urls import resolve
from crawlers.errors import BadUrl, CrawlersError
from crawlers.storage.database import Database
from crawlers.storage.queries import crawl_named
from crawlers.storage.story import story

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return "[options] <url>"

    def short_desc(self) -> str:
        return "Tell why a URL was fetched, or why not, and what became of it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", help="name of the crawl (default: the latest)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if len(args) != 1:
            raise UsageError("name one URL")
        try:
            target = resolve(args[0], "", normalization(self.settings))
            database = Database(self.settings.get("DATABASE_URL"), create=False)
            try:
                lines = story(database, crawl_named(database, opts.crawl), target)
            finally:
                database.close()
        except BadUrl as error:
            print(f"Error: {args[0]}: {error}; give a whole URL, http://…", file=sys.stderr)
            self.exitcode = 2
        except CrawlersError as error:
            print(f"Error: {error}", file=sys.stderr)
            self.exitcode = 2
        else:
            print("\n".join(lines))
