"""`scrapy report NAME`: prints a report about a crawl from the store, at any time, even while the crawl runs."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlers.cli.store_command import StoreCommand, opened_store, read_crawl, whole_number
from crawlers.files.atomic import check_parquet
from crawlers.plurals import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings
    from sqlalchemy import Connection

    from crawlers.reports.catalogue.conditions import Filters
    from crawlers.reports.catalogue.report import Cells, Report

TABLE = "table"


class Command(StoreCommand):
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
        from crawlers.reports.catalogue.conditions import FILTERS
        from crawlers.reports.catalogue.renderers import FORMATS

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
        for name, one in FILTERS.items():
            parser.add_argument(f"--{name}", metavar=one.metavar, default="", help=one.about)
        parser.add_argument("--sort", metavar="COLUMN", default="", help="by this column; -COLUMN: descending")
        parser.add_argument("--total", action="store_true", help="the number of rows, and the sums of their columns")

    def run_checked(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> None:
        from crawlers.reports.catalogue.conditions import FILTERS, parsed_filters
        from crawlers.reports.catalogue.registry import REPORTS, report_named
        from crawlers.reports.catalogue.renderers import PARQUET

        if len(args) > 1:
            raise UsageError(f"expected at most 1 report, got {len(args)}")
        if not args:
            width = max(map(len, REPORTS))
            print("\n".join(f"{name:{width}}  {report.about}" for name, report in REPORTS.items()))
            return
        if opts.format == PARQUET:
            check_parquet(f"--format {PARQUET}")
        report = report_named(args[0])
        filters = parsed_filters({name: vars(opts)[name] for name in FILTERS}, report.filters)
        limit = whole_number("--limit", 50 if opts.limit is None and opts.format == TABLE else opts.limit or 0, 0)
        with opened_store(settings) as database:
            crawl = read_crawl(database, opts.crawl, settings)
            with database.read() as connection:
                _print(report, _cells(report, connection, crawl.id, filters, opts.sort), opts, limit)


def _cells(report: Report, connection: Connection, crawl_id: int, filters: Filters, order: str) -> Iterator[Cells]:
    """Return the cells of the rows that the filters let through, in their order or by a column."""
    from crawlers.reports.catalogue.report import in_order, is_whole, rows_of

    if not is_whole(report, order):
        return (row.cells for row in rows_of(report.steps(connection, crawl_id, filters, None)))
    result = report.result(connection, crawl_id, filters)
    rows = in_order(report, result, order)
    if result.is_cut:
        print(f"This report has at most {report.most:,} rows; there are more.", file=sys.stderr)
    return iter(rows)


def _print(report: Report, cells: Iterator[Cells], opts: argparse.Namespace, limit: int) -> None:
    from crawlers.reports.catalogue.renderers import CELL_CHARS, FORMATS, text_table
    from crawlers.reports.catalogue.report import Column, Kind, total

    columns = report.columns
    if opts.total:
        found = total(report.columns, cells)
        sums = zip(report.columns, found.sums, strict=True)
        columns = (Column("of", "Total of"), Column("number", "Number", Kind.COUNT))
        cells = iter([("rows", found.rows), *((column.name, value) for column, value in sums if value is not None)])
    shown = islice(cells, limit or None)
    if opts.format != TABLE:
        sys.stdout.buffer.writelines(FORMATS[opts.format](columns, shown))
        return
    text = text_table(columns, shown, CELL_CHARS)
    print(text if "\n" in text else "no rows")
    if next(cells, None) is not None:
        print(f"\nThe first {counted(limit, 'row')}; there are more: add --limit 0, or filters.")
