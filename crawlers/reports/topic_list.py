"""Writes the pages of a topic crawl as a readable table, the most similar first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawlers.reports.catalogue.score_reports import TopicPages
from crawlers.storage.files.csv_tables import write_table
from crawlers.storage.schema.score_tables import relevance
from crawlers.storage.schema.tables import page
from crawlers.storage.topic.topics import most_similar_first

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value


def write_topic_list(database: Database, crawl_id: int, path: Path) -> int:
    """Write the pages that a topic crawl read to *path*; return their number. Raises the errors of `write_graph`."""
    columns = ("rank", *(column.name for column in TopicPages.columns))
    with database.read() as connection:
        ranked = most_similar_first(connection, crawl_id, *TopicPages().values)
        found = connection.execute(ranked.outerjoin(relevance, relevance.c.page_id == page.c.id))
        return write_table(path, columns, ([rank, *_cells(row)] for rank, row in enumerate(found, 1)))


def _cells(row: Any) -> list[Value]:
    *cells, read_at = TopicPages.cells(row)
    assert isinstance(read_at, float)  # it was read
    return [*cells, datetime.fromtimestamp(read_at, UTC).isoformat(timespec="milliseconds")]
