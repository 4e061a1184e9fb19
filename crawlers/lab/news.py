"""`scrapy lab news`: shows the iterations and days of a news crawl, or compares several crawls."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.algorithms.news.iteration_counts import Iteration, merged
from crawlers.algorithms.plurals import counted, plural
from crawlers.inputs.crawl_name import named_by
from crawlers.lab.options import check
from crawlers.reports.news_curves import NewsCurves, curves_of, draw_curves
from crawlers.storage.database import Database
from crawlers.storage.files.csv_tables import write_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

    from crawlers.algorithms.news.iteration_counts import Day
    from crawlers.storage.files.cells import Value

HELP = "shows the results of the iterations of news crawls: scrapy lab news [CRAWL or URL of a store …]."
MAX_LINES = 30  # of a table; the file has all iterations


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add nothing to *parser*: the names of crawls follow `news`."""


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Print the tables of the crawls `opts.names` and write the files that *opts* names; raises `ConfigError`."""
    names = opts.names or [named_by(opts.crawl, settings)]
    check(opts, settings)
    stores = list(dict.fromkeys(name for name in names if name and "://" in name))
    curves = []
    if len(stores) < len(names):
        with closing(Database(settings.get("DATABASE_URL"), create=False)) as database:
            curves += curves_of(database, [name for name in names if name not in stores])
    curves += map(_latest, stores)
    print("\n\n".join(_tables(one) for one in curves))
    if opts.out:
        rows: list[list[Value]] = [
            [one.label, *found, round(found.useful_share, 4)] for one in curves for found in one.iterations
        ]
        number = write_table(Path(opts.out), ("crawl", *Iteration._fields, "useful_share"), rows)
        print(f"{opts.out}: {number} {plural(number, 'iteration')}")
    if opts.picture:
        draw_curves(Path(opts.picture), curves)
        print(f"{opts.picture}: {len(curves)} {plural(len(curves), 'crawl')}")


def _latest(store: str) -> NewsCurves:
    """Return the latest crawl of the store at a URL, labelled with the name of the store."""
    with closing(Database(store, create=False)) as database:
        name = database.name.partition("://")[2].removeprefix("/")
        (found,) = curves_of(database, [None])
    return found._replace(crawl=found.crawl._replace(name=name), label=name)


def _tables(found: NewsCurves) -> str:
    crawl = found.crawl
    documents = counted(found.iterations[-1].total_documents, "document")
    head = f"crawl {crawl.name} (number {crawl.id}, {crawl.state}): {documents}"
    return "\n".join([head, *_iterations(found.iterations), "", *_days(found.days)])


def _iterations(iterations: Sequence[Iteration]) -> list[str]:
    names = ("iteration", "began (UTC)", "fit", "not fit", "errors", "polls", "documents", "duplicates", "useful")
    lines = ["{:>9}  {:16} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>7}".format(*names)]
    for one in merged(iterations, MAX_LINES):
        lines.append(
            f"{one.number:>9}  {_minute(one.began_at):16} {one.fit:>8,} {one.not_fit:>8,} {one.errors:>8,} "
            f"{one.polls:>8,} {one.documents:>10,} {one.duplicates:>10,} {one.useful_share:>7.1%}"
        )
    if len(iterations) > MAX_LINES:
        lines.append(f"a line is {-(-len(iterations) // MAX_LINES)} iterations; --out FILE.csv has each")
    return lines


def _days(days: Sequence[Day]) -> list[str]:
    lines = [f"{'day (UTC)':>10} {'documents':>10} {'total':>10} {'ratio':>7}"]
    for day in days[-MAX_LINES:]:
        name = f"{datetime.fromtimestamp(day.began_at, UTC):%Y-%m-%d}"
        lines.append(f"{name:>10} {day.documents:>10,} {day.total_documents:>10,} {day.ratio:>7.1%}")
    return lines


def _minute(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
