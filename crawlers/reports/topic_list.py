"""Writes the pages of a topic crawl as a readable table, the most similar first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers.algorithms.topic.vectors import distance_relevance
from crawlers.storage.files.csv_tables import write_table
from crawlers.storage.schema.score_tables import relevance, topic_page
from crawlers.storage.schema.tables import page
from crawlers.storage.topic.topics import most_similar_first

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

DECIMALS = 6  # for readers; the store and the graph have more
COLUMNS = (
    "rank",
    "similarity",
    "url",
    "title",
    "level",
    "score",  # as of the download; the scores are empty in other orders
    "anchor",  # R_a
    "distance",  # R_d
    "timely_rank",  # the logarithm of TR
    "read_at",
)


def write_topic_list(database: Database, crawl_id: int, path: Path) -> int:
    """Write the pages that a topic crawl read to *path*; return their number. Raises the errors of `write_graph`."""
    columns = (
        topic_page.c.similarity,
        page.c.url,
        page.c.title,
        page.c.level,
        relevance.c.score,
        relevance.c.anchor,
        relevance.c.level,
        relevance.c.rank,
        page.c.fetched_at,
    )
    with database.read() as connection:
        ranked = most_similar_first(connection, crawl_id, *columns)
        found = connection.execute(ranked.outerjoin(relevance, relevance.c.page_id == page.c.id))
        return write_table(path, COLUMNS, ([rank, *_cells(*row)] for rank, row in enumerate(found, 1)))


def _cells(
    similarity: float,
    url: str,
    title: str | None,
    level: int,
    score: float | None,
    anchor: float | None,
    scored_level: int | None,
    rank: float | None,
    fetched_at: float,
) -> list[Value]:
    distance = None if scored_level is None else distance_relevance(scored_level)
    parts = (None if part is None else round(part, DECIMALS) for part in (score, anchor, distance, rank))
    read_at = datetime.fromtimestamp(fetched_at, UTC).isoformat(timespec="milliseconds")
    return [round(similarity, DECIMALS), url, title or "", level, *parts, read_at]
