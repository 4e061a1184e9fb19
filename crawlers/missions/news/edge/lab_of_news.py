"""`scrapy lab news`: shows the iterations and days of a news crawl, or compares several crawls."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.inputs.setting_readers import named_by
from crawlers.lab.options import check, draw_curves, label_of
from crawlers.missions.news.stored.iterations import Iteration, merged, stored_days, stored_iterations
from crawlers.plurals import counted, plural
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings

    from crawlers.files.csv_tables import Value
    from crawlers.missions.news.stored.iterations import Day
    from crawlers.store.reading.queries import NamedCrawl

HELP = "shows the results of the iterations of news crawls: scrapy lab news [CRAWL or URL of a store …]."
TAKES = frozenset({"names", "crawl", "out", "picture"})
MAX_LINES = 30  # of a table; the file has all iterations
MAX_POINTS = 120  # of a curve
ITERATIONS = (
    Column("number", "iteration", Kind.NUMBER),
    Column("began_at", "began (UTC)", Kind.TIME),
    *(
        Column(name, name.replace("_", " "), Kind.COUNT)
        for name in ("fit", "not_fit", "errors", "polls", "documents", "duplicates")
    ),
    Column("useful_share", "useful"),
)
DAYS = (
    Column("day", "day (UTC)"),
    Column("documents", "documents", Kind.COUNT),
    Column("total_documents", "total", Kind.COUNT),
    Column("ratio", "ratio"),
)


class NewsCurves(NamedTuple):
    """The iterations of a crawl, and its days."""

    crawl: NamedCrawl
    label: str  # its name, and its number if another crawl of the same name is shown
    iterations: list[Iteration]
    days: list[Day]


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
            [one.label, *found[1:], round(found.useful_share, 4)] for one in curves for found in one.iterations
        ]
        number = write_table(Path(opts.out), ("crawl", *Iteration._fields[1:], "useful_share"), rows)
        print(f"{opts.out}: {number} {plural(number, 'iteration')}")
    if opts.picture:
        panels = {
            "new documents per download, without polls": {one.label: _shares(one.iterations) for one in curves},
            "documents": {one.label: _totals(one.iterations) for one in curves},
        }
        draw_curves(Path(opts.picture), "Iterations of news crawls", panels)
        print(f"{opts.picture}: {len(curves)} {plural(len(curves), 'crawl')}")


def curves_of(database: Database, names: Sequence[str | None]) -> list[NewsCurves]:
    """Return the curves of the crawls *names* (None: the latest). Raises `ConfigError` for one without iterations."""
    found = []
    crawls = list(dict.fromkeys(crawl_named(database, name) for name in names))
    for crawl in crawls:
        with database.read() as connection:
            iterations, days = stored_iterations(connection, crawl.id), stored_days(connection, crawl.id)
        if not iterations:
            raise ConfigError(
                f"CRAWL={crawl.name} has no iterations: it is not a news crawl, or has just begun; name another crawl"
            )
        found.append(NewsCurves(crawl, label_of(crawl, crawls), iterations, days))
    return found


def _latest(store: str) -> NewsCurves:
    """Return the latest crawl of the store at a URL, labelled with the name of the store."""
    with closing(Database(store, create=False)) as database:
        name = database.name.partition("://")[2].removeprefix("/")
        (found,) = curves_of(database, [None])
    return found._replace(crawl=found.crawl._replace(name=name), label=name)


def _tables(found: NewsCurves) -> str:
    crawl, iterations = found.crawl, found.iterations
    documents = counted(iterations[-1].total_documents, "document")
    rows = (
        (*(getattr(one, column.name) for column in ITERATIONS[:-1]), f"{one.useful_share:.1%}")
        for one in merged(iterations, MAX_LINES)
    )
    lines = [f"crawl {crawl.name} (number {crawl.id}, {crawl.state}): {documents}", text_table(ITERATIONS, rows)]
    if len(iterations) > MAX_LINES:
        lines.append(f"a line is {-(-len(iterations) // MAX_LINES)} iterations; --out FILE.csv has each")
    days = (
        (
            f"{datetime.fromtimestamp(day.began_at, UTC):%Y-%m-%d}",
            day.documents,
            day.total_documents,
            f"{day.ratio:.1%}",
        )
        for day in found.days[-MAX_LINES:]
    )
    return "\n".join([*lines, "", text_table(DAYS, days)])


def _shares(iterations: Sequence[Iteration]) -> list[tuple[float, float]]:
    """Return the useful share in the middle of each iteration, against downloads."""
    some = merged(iterations, MAX_POINTS)
    ends = accumulate(one.pages for one in some)
    return [(end - one.pages / 2, min(1.0, one.useful_share)) for end, one in zip(ends, some, strict=True)]


def _totals(iterations: Sequence[Iteration]) -> list[tuple[float, float]]:
    some = merged(iterations, MAX_POINTS)
    ends = accumulate((one.pages for one in some), initial=0)
    return list(zip(ends, (0, *(one.total_documents for one in some)), strict=True))
