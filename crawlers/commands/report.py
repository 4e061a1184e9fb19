"""`scrapy report NAME`: prints a report about a crawl from the store, at any time, even while the crawl runs."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.outcome import reporting_errors
from crawlers.cli.project_command import ProjectCommand, whole_number
from crawlers.cli.read_crawl import read_crawl
from crawlers.errors import ConfigError
from crawlers.reports.catalogue.computed_report import ComputedReport, sorted_by
from crawlers.reports.catalogue.crawl_report import Row, rows_of
from crawlers.reports.catalogue.exporting import FORMATS, PARQUET
from crawlers.reports.catalogue.filters import Filters, parsed_filters
from crawlers.reports.catalogue.registry import REPORTS, report_named
from crawlers.reports.catalogue.text_report import text_report
from crawlers.storage.database import Database
from crawlers.storage.files.parquet_files import check_parquet

if TYPE_CHECKING:
    import argparse

TABLE = "table"


class Command(ProjectCommand):
    requires_project = True
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - Scrapy's convention

    def syntax(self) -> str:
        return "[options] [name]"

    def short_desc(self) -> str:
        return "Print a report about a crawl: pages, links, errors; without a name, list the reports"

    def long_desc(self) -> str:
        return (
            "Prints a report about a crawl in the store (DATABASE_URL), at any time, even while the crawl runs. "
            "Without a name it lists all reports. Filters show some of the rows: each report obeys those that it has "
            "columns for."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", help="name or number of the crawl (default: the latest)")
        parser.add_argument(
            "--format",
            metavar="FORMAT",
            choices=(TABLE, *FORMATS),
            default=TABLE,
            help="table (default), csv, jsonl, parquet",
        )
        parser.add_argument(
            "--limit", type=int, metavar="N", help="rows to print; 0 = all (default: 50 of a table, all of files)"
        )
        parser.add_argument("--site", help="only pages of this site, host[:port]")
        parser.add_argument("--host", help="only links to this host, to hosts below it, or to this site")
        parser.add_argument("--text", help="only rows with this text in their URL, title or link text")
        parser.add_argument("--words", help="only documents with these words, as in scrapy explain --search")
        parser.add_argument("--anchor", metavar="TEXT", help="only links with this in their text")
        parser.add_argument("--level", metavar="N", help="only pages of this level")
        parser.add_argument("--state", help="only URLs of this kind, such as error or not-requested")
        parser.add_argument("--status", metavar="N", help="only URLs with this HTTP status")
        parser.add_argument("--reason", help="only URLs with this text in the reason of their state")
        parser.add_argument("--kind", help="only feeds or alarms of this kind, such as sitemap")
        parser.add_argument("--language", metavar="CODE", help="only documents in this language, such as en")
        parser.add_argument("--sort", metavar="COLUMN", default="", help="by this column; -COLUMN: descending")
        parser.add_argument(
            "--since", metavar="TIME", help="only what was requested, found or raised from this time (UTC) on"
        )
        parser.add_argument("--until", metavar="TIME", help="only what was before this time")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if len(args) > 1:
            raise UsageError(f"expected at most 1 report, got {len(args)}")
        with reporting_errors(self):
            if not args:
                width = max(map(len, REPORTS))
                print("\n".join(f"{name:{width}}  {report.about}" for name, report in REPORTS.items()))
                return
            self.check_settings()
            if opts.format == PARQUET:
                check_parquet(f"--format {PARQUET}")
            report = report_named(args[0])
            filters = parsed_filters({name: vars(opts)[name] or "" for name in Filters._fields}, report.filters)
            limit = whole_number("--limit", 50 if opts.limit is None and opts.format == TABLE else opts.limit or 0, 0)
            with closing(Database(self.settings.get("DATABASE_URL"), create=False)) as database:
                crawl = read_crawl(database, opts.crawl, self.settings)
                with database.read() as connection:
                    if isinstance(report, ComputedReport):
                        result = report.result(connection, crawl.id, filters)
                        cells = sorted_by(result.rows, report.columns, opts.sort)
                        rows = iter([Row(one, (place,)) for place, one in enumerate(cells)])
                        if result.is_cut:
                            print(f"This report has at most {report.most:,} rows; there are more.", file=sys.stderr)
                    elif opts.sort:
                        raise ConfigError(
                            f"--sort: {report.name} is read in the order of the store; export and sort it"
                        )
                    else:
                        rows = rows_of(report.steps(connection, crawl.id, filters, None))
                    if opts.format == TABLE:
                        print("\n".join(text_report(report.columns, rows, limit)))
                    else:
                        shown = islice(rows, limit) if limit else rows
                        sys.stdout.buffer.writelines(FORMATS[opts.format](report.columns, shown))
