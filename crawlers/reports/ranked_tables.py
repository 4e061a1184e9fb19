"""Writes the best pages of a crawl as readable CSV tables, each with its rank."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.renderers import csv_lines
from crawlers.reports.catalogue.report import rows_of
from crawlers.reports.catalogue.score_reports import TopicPages
from crawlers.reports.catalogue.table import Column, Kind
from crawlers.storage.files.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlers.reports.catalogue.table import Cells
    from crawlers.storage.database import Database

RANK = Column("rank", "Rank", Kind.NUMBER)
PAGERANK = Column("pagerank", "PageRank", Kind.DECIMAL)
TOP = (  # the fields of `TopPage`
    Column("importance", "Importance", Kind.DECIMAL),
    Column("url", "URL", Kind.URL),
    Column("site", "Site"),
    Column("title", "Title"),
    Column("level", "Level", Kind.NUMBER),
    Column("status", "HTTP status", Kind.NUMBER),
    Column("first_seen", "First seen", Kind.TIME),
    Column("last_seen", "Last seen", Kind.TIME),
    Column("changes", "Changes", Kind.NUMBER),
    Column("in_degree", "Linking pages", Kind.NUMBER),
)


def write_ranked(path: Path, columns: Sequence[Column], rows: Iterable[Cells]) -> int:
    """Write *rows*, the best one first, to *path*; return their number. Raises the errors of `replacing`."""
    number = 0

    def ranked() -> Iterator[Cells]:
        nonlocal number
        for number, row in enumerate(rows, 1):
            yield (number, *row)

    with replacing(path) as stream:
        stream.writelines(csv_lines((RANK, *columns), ranked()))
    return number


def write_topic_list(database: Database, crawl_id: int, path: Path) -> int:
    """Write the report `topic-pages` of a crawl to *path*, equally similar pages by URL; see `write_ranked`."""
    report = TopicPages()
    by_url = itemgetter([column.name for column in report.columns].index("url"))
    with database.read() as connection:
        rows = (row.cells for row in rows_of(report.steps(connection, crawl_id, Filters(), None)))
        ties = groupby(rows, key=itemgetter(0))
        return write_ranked(path, report.columns, (row for _, some in ties for row in sorted(some, key=by_url)))
