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
from crawlers.storage.queries import NamedCrawl, crawl_named
from crawlers.storage.story import bad_link_story, story

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
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if len(args) != 1:
            raise UsageError("name one URL")
        try:
            database = Database(self.settings.get("DATABASE_URL"), create=False)
            try:
                lines = self._lines(
                    database, crawl_named(database, opts.crawl or self.settings.get("CRAWL") or None), args[0]
                )
            finally:
                database.close()
        except CrawlersError as error:
            print(f"Error: {error}", file=sys.stderr)
            self.exitcode = 2
        else:
            print("\n".join(lines))

    def _lines(self, database: Database, crawl: NamedCrawl, text: str) -> list[str]:
        assert self.settings is not None
        try:
            target = resolve(text, "", normalization(self.settings))
        except BadUrl as error:
            lines = bad_link_story(database, crawl, text)
            if lines is None:
                raise BadUrl(f"{text}: {error}, nor a link of any page; give a whole URL, http://…") from error
            return lines
        return story(database, crawl, target)
