"""Writes the best pages of a crawl as readable CSV tables, each with its rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.files.csv_tables import write_table
from crawlers.reports.catalogue.file_formats import file_cells
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.catalogue.score_reports import ImportantPages, by_score
from crawlers.store.reading.importance import weight_of_page
from crawlers.store.schema.score_tables import page_change
from crawlers.store.schema.tables import link, page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Subquery

    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.reading.importance import Totals

RANK = Column("rank", "Rank", Kind.NUMBER)
PAGERANK = Column("pagerank", "PageRank", Kind.DECIMAL)
TOP = (
    *ImportantPages.columns,
    Column("changes", "Changes", Kind.NUMBER),
    Column("in_degree", "Linking pages", Kind.NUMBER),
)


def best_pages(connection: Connection, totals: Totals | None, scores: Subquery, number: int) -> Iterator[Cells]:
    """Yield the score of each of the *number* pages with the highest *scores*, best first, with the cells of `TOP`.

    *totals* are those of the crawl. No rows are kept in memory. To count inlinks it reads all links of the store once.
    """
    best = select(scores.c.score).order_by(scores.c.score.desc()).offset(number - 1).limit(1).scalar_subquery()
    chosen = select(scores).where(scores.c.score >= func.coalesce(best, 0.0)).cte("chosen")
    of_chosen = (link.c.target_id.in_(select(chosen.c.page_id)), link.c.source_id != link.c.target_id)
    inward = select(link.c.target_id, func.count().label("pages")).where(*of_chosen).group_by(link.c.target_id).cte()
    changes = select(func.count()).where(page_change.c.page_id == page.c.id).scalar_subquery()
    about = (*ImportantPages().values[1:], changes, func.coalesce(inward.c.pages, 0))
    pages = by_score(chosen, weight_of_page(connection, totals), *about)
    statement = pages.outerjoin(inward, inward.c.target_id == page.c.id).limit(number)
    for score, weight, *cells in connection.execution_options(stream_results=True).execute(statement):
        yield (score, None if totals is None or weight is None else totals.share(weight), *cells)


def write_ranked(path: Path, columns: Sequence[Column], rows: Iterable[Cells]) -> int:
    """Write *rows*, the best one first, to *path*; return their number. Raises the errors of `replacing`."""
    names = [column.name for column in (RANK, *columns)]
    return write_table(path, names, ((rank, *file_cells(columns, row)) for rank, row in enumerate(rows, 1)))
