"""The tables of orders with scores, and of changes that revisits found."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Index, Table

from crawlers.storage.schema.rows import (
    DELETE,
    INSERT,
    INSERT_NEW,
    UPSERT,
    BigInt,
    Hash,
    Row,
    RowId,
    SmallInt,
    WholeFloat,
    table,
    writes,
)
from crawlers.storage.schema.tables import metadata


class PageChangeRow(NamedTuple):
    """An earlier version of a page that a revisit found changed; it was last seen at `last_seen`."""

    page_id: BigInt
    changed_at: float
    last_seen: float | None
    state: SmallInt
    status: SmallInt | None
    content_hash: Hash | None


page_change = table("page_change", metadata, PageChangeRow, INSERT, key=2, sqlite_with_rowid=False)


class LinkChangeRow(NamedTuple):
    """An earlier count of a link; 0 = the link did not exist, and was first seen at `changed_at`."""

    source_id: BigInt
    target_id: BigInt
    changed_at: float
    last_seen: float | None
    count: int  # type: ignore[assignment]  # hides the method of tuples


link_change = table("link_change", metadata, LinkChangeRow, INSERT, key=3, sqlite_with_rowid=False)

SCORE_ROWS: dict[str, type[Any]] = {}  # the row types of the orders, by table name


def score_table(name: str, kind: type[Row]) -> Table:
    """Return the table of an order's pages: the queue and score of each page, and the values behind it.

    The first fields of *kind* are the same for all orders: `page_id`; `site_id`; `queue`, where 0 = never fetched,
    1 = waits for a revisit, -1 = neither; `score`, as of its last increase: the page with the highest score of a queue
    is next.
    """
    made = table(name, metadata, kind, UPSERT, key=1)
    Index(f"{name}_waiting", made.c.site_id, made.c.queue, made.c.score.desc(), made.c.page_id)
    SCORE_ROWS[name] = kind
    return made


class ImportanceRow(NamedTuple):
    """The values of AOPIC."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    cash: float  # without the share of the virtual page, see docs/explanation/importance.md
    history: float
    visited: float  # tick of the last visit
    alias: WholeFloat  # the page that receives its cash; 0 = itself


importance = score_table("importance", ImportanceRow)


class RelevanceRow(NamedTuple):
    """The values of a topic crawl."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    anchor: float  # R_a: the maximum over its inlinks
    level: int  # clicks from the roots: R_d = 1 / (level + 1)
    rank: float  # logarithm of its TimelyRank


relevance = score_table("relevance", RelevanceRow)


class NewsScoreRow(NamedTuple):
    """The values of a news crawl."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    value: float  # in the fresh queue, the time of publication or discovery; otherwise s_fit or s_n
    opic: float  # cash received through inlinks


news_score = score_table("news_score", NewsScoreRow)


class TopicPageRow(NamedTuple):
    """The terms of a page of a topic crawl."""

    page_id: RowId
    similarity: float  # to the topic, from the pages read so far; at the end, from all of them
    terms: str  # JSON: term frequencies


topic_page = table(
    "topic_page", metadata, TopicPageRow, UPSERT, Index("topic_page_similarity", "similarity", "page_id"), key=1
)


class LinkTextRow(NamedTuple):
    """The texts of internal links."""

    source_id: BigInt
    target_id: BigInt
    context_id: BigInt


link_text = table("link_text", metadata, LinkTextRow, INSERT_NEW, key=3, sqlite_with_rowid=False)


class OrderTotalsRow(NamedTuple):
    """The totals of an order over all pages, or over those of a worker."""

    crawl_id: int
    worker_id: int
    totals: str  # JSON
    base: str  # JSON: the numbers to which the values of its pages are relative


order_totals = table("order_totals", metadata, OrderTotalsRow, UPSERT, key=2)


@writes(order_totals, DELETE)
class EndedTotals(NamedTuple):
    """The totals of a worker that ended, if a later one continues alone."""

    crawl_id: int
    worker_id: int
