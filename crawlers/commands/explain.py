"""`scrapy explain URL`: the history of one URL in the store; and `--search WORDS`: documents that contain them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.algorithms.urls.resolution import resolve
from crawlers.cli.lab.lab_options import whole_number
from crawlers.cli.outcome import reporting_errors
from crawlers.cli.project_command import ProjectCommand
from crawlers.cli.read_crawl import read_crawl
from crawlers.cli.sites.site_parts import seed_named
from crawlers.errors import BadUrl
from crawlers.inputs.crawl_name import named_by
from crawlers.inputs.url_settings import normalization, normalization_recorded
from crawlers.reports.history_wording import when
from crawlers.reports.pull_log import settings_of
from crawlers.reports.search import search, sites_named
from crawlers.reports.url_history import bad_link_history, url_history
from crawlers.storage.database import Database
from crawlers.storage.queries import sites_of

if TYPE_CHECKING:
    import argparse

    from crawlers.algorithms.urls.normalization import Normalization
    from crawlers.items import Target
    from crawlers.storage.queries import NamedCrawl


class Command(ProjectCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return "[options] <url> | --search <words>"

    def short_desc(self) -> str:
        return "Explain the history of a URL: why it was fetched or not, and with which result; or search documents"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest; --search: all)")
        parser.add_argument("--search", metavar="WORDS", help="show documents that contain these words, the best first")
        parser.add_argument(
            "--limit", type=int, default=10, metavar="N", help="--search: documents to show (%(default)s)"
        )
        parser.add_argument("--site", help="--search: only documents of this site, host or domain")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if len(args) != (opts.search is None):
            raise UsageError("expected one URL, or words with --search")
        with reporting_errors(self):
            self.check_settings()
            with closing(Database(self.settings.get("DATABASE_URL"), create=False)) as database:
                if opts.search is None:
                    lines = self._lines(database, read_crawl(database, opts.crawl, self.settings), args[0])
                elif named_by(opts.crawl, self.settings):
                    lines = self._found(database, read_crawl(database, opts.crawl, self.settings).id, opts)
                else:
                    lines = self._found(database, None, opts)
            print("\n".join(lines))

    def _lines(self, database: Database, crawl: NamedCrawl, text: str) -> list[str]:
        assert self.settings is not None
        # The keys in the store are those of the settings that the crawl recorded, not of today's.
        options = normalization_recorded(settings_of(database, crawl.id), normalization(self.settings))
        try:
            return url_history(database, crawl, [resolve(text, "", options)])
        except BadUrl as error:
            lines = bad_link_history(database, crawl, text)
            if lines is not None:
                return lines
            targets = self._with_scheme(database, crawl, text, options)
            if not targets:
                raise BadUrl(f"{text}: {error}, and no page links to it; write a full URL, http://…") from error
        return url_history(database, crawl, targets)

    def _with_scheme(self, database: Database, crawl: NamedCrawl, text: str, options: Normalization) -> list[Target]:
        """Return the URLs that *text*, such as example.org/page, may stand for; none if it has no host."""
        if "@" in text:
            return []  # an e-mail address
        try:
            targets = [resolve(f"{scheme}://{text}", "", options) for scheme in ("http", "https")]
        except BadUrl:
            return []
        sites = {one.site for one in sites_of(database, crawl.id)}
        return [one for one in targets if one.site in sites or "." in one.site]

    def _found(self, database: Database, crawl_id: int | None, opts: argparse.Namespace) -> list[str]:
        most = whole_number("--limit", opts.limit, 1)
        site_ids = None
        if opts.site is not None:
            site_ids = sites_named(database, opts.site) or sites_named(database, seed_named(database, opts.site).site)
        found = search(database, opts.search, most, site_ids=site_ids, crawl_id=crawl_id)
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
