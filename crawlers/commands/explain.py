"""`scrapy explain URL`: the history of one URL in the store; and `--search WORDS`: documents that contain them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import StoreCommand, opened_store, read_crawl, whole_number
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import clean
from crawlers.files.text_file import shortened

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

REPLAY_S = 10.0  # for replaying the site rule up to the decision that chose the URL
SEARCH_S = 20.0  # for searching the pages that link to it


class Command(StoreCommand):
    def syntax(self) -> str:
        return "[options] <url> | --search <words>"

    def short_desc(self) -> str:
        return "Explain the history of a URL: why it was fetched or not, and with which result; or search documents"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest; --search: all)")
        parser.add_argument("--search", metavar="WORDS", help="show documents that contain these words, the best first")
        parser.add_argument(
            "--limit", type=int, default=10, metavar="N", help="--search: documents to show (default: %(default)s)"
        )
        parser.add_argument("--site", help="--search: only documents of this site, host or domain")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        if len(args) != (opts.search is None):
            raise UsageError("expected one URL, or words with --search")
        from crawlers.inputs.setting_readers import named_by

        with opened_store(settings) as database:
            if opts.search is None:
                lines = self._lines(database, read_crawl(database, opts.crawl, settings), args[0])
            elif named_by(opts.crawl, settings):
                lines = self._found(database, read_crawl(database, opts.crawl, settings).id, opts)
            else:
                lines = self._found(database, None, opts)
        print(clean("\n".join(lines)))

    def _lines(self, database: Database, crawl: NamedCrawl, text: str) -> list[str]:
        # The keys in the store are those of the settings that the crawl recorded, not of today's.
        from crawlers.reports.catalogue.report import TimeLimit
        from crawlers.reports.crawl_manifest import crawl_rules
        from crawlers.reports.histories.history import history_lines
        from crawlers.reports.histories.linking_pages import linking_facts
        from crawlers.reports.histories.url_history import BAD_LINK, url_history
        from crawlers.store.reading.crawl_settings import settings_of

        rules = crawl_rules(settings_of(database, crawl.id))
        found = url_history(database, crawl, text, rules, time.time(), TimeLimit(REPLAY_S))
        links = linking_facts(database, crawl.id, found.subject, TimeLimit(SEARCH_S))
        if found.state == BAD_LINK and not links:
            raise ConfigError(
                f"{shortened(text)}: not the address of a page, and no page links to it; write a full URL, http://…"
            )
        return history_lines(found.with_facts(*links))

    def _found(self, database: Database, crawl_id: int | None, opts: argparse.Namespace) -> list[str]:
        from crawlers.cli.sites.site_seeds import seed_named
        from crawlers.mission import parts_of_all
        from crawlers.reports.histories.history import when

        most = whole_number("--limit", opts.limit, 1)
        searches = parts_of_all("search")
        if not searches:
            raise ConfigError("No mission that is installed stores documents; give a URL instead")
        (documents,) = searches
        site_ids = None
        if opts.site is not None:
            site_ids = documents.sites_named(database, opts.site) or documents.sites_named(
                database, seed_named(database, opts.site).site
            )
        found = documents.search(database, opts.search, most, site_ids=site_ids, crawl_id=crawl_id)
        if not found:
            return [f"no documents found for: {opts.search}"]
        return [
            line
            for one in found
            for line in (
                f"{(one.published or when(one.stored_at))[:10]}  {one.title}",
                f"  {one.url}",
                f"  {' '.join(one.snippet.split())}",
            )
        ]
