"""The tables of topic crawls: the scores of pages, and the terms of those that were read."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sqlalchemy import Index

from crawlers.store.schema.rows import UPSERT, RowId, SmallInt, table
from crawlers.store.schema.tables import metadata, score_table


class RelevanceRow(NamedTuple):
    """The values of a topic crawl."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    anchor: Annotated[float, "R_a: the best of the links to it"]
    level: Annotated[int, "clicks from the roots; R_d = 1 / (level + 1)"]
    rank: Annotated[float, "logarithm of its TimelyRank"]


relevance = score_table("relevance", RelevanceRow, revisits=False)


class TopicPageRow(NamedTuple):
    """The terms of a page of a topic crawl."""

    page_id: RowId
    similarity: Annotated[float, "cosine to the topic, by the pages read so far; at the end, by all"]
    terms: Annotated[str, "JSON: occurrences of each term"]


topic_page = table(
    "topic_page", metadata, TopicPageRow, UPSERT, Index("topic_page_similarity", "similarity", "page_id"), key=1
)
