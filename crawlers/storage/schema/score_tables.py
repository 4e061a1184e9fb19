"""The tables of crawls whose orders have scores, and of pages that are visited again."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Index, Table

from crawlers.storage.schema.rows import (
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
)
from crawlers.storage.schema.tables import metadata


class PageChangeRow(NamedTuple):
    """What a page was before another visit found it otherwise: so it was seen last at last_seen."""

    page_id: BigInt
    changed_at: float
    last_seen: float | None
    state: SmallInt
    status: SmallInt | None
    content_hash: Hash | None


page_change = table("page_change", metadata, PageChangeRow, INSERT, key=2, sqlite_with_rowid=False)


class LinkChangeRow(NamedTuple):
    """Likewise of its links: count 0 = it was not there, and is seen first at changed_at."""

    source_id: BigInt
    target_id: BigInt
    changed_at: float
    last_seen: float | None
    count: int  # type: ignore[assignment]  # hides the method of tuples


link_change = table("link_change", metadata, LinkChangeRow, INSERT, key=3, sqlite_with_rowid=False)

SCORE_ROWS: dict[str, type[Any]] = {}  # the row types of the orders, by their tables


def score_table(name: str, kind: type[Row]) -> Table:
    """What an order knows of each page: where it waits, by which score, and the numbers that make it.

    The first fields of *kind* are those of all orders: `page_id`; `site_id`; `queue`, where 0 = never fetched,
    1 = waits to be fetched again, -1 = neither; `score`, as it was when it last grew: the greatest of a queue comes
    first.
    """
    made = table(name, metadata, kind, UPSERT, key=1)
    Index(f"{name}_waiting", made.c.site_id, made.c.queue, made.c.score.desc(), made.c.page_id)
    SCORE_ROWS[name] = kind
    return made


class ImportanceRow(NamedTuple):
    """The numbers of AOPIC."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    cash: float  # less what the virtual page gave to every page, see docs/explanation/importance.md
    history: float
    visited: float  # tick of the last visit
    alias: WholeFloat  # the page that its cash goes to; 0 = itself


importance = score_table("importance", ImportanceRow)


class RelevanceRow(NamedTuple):
    """The numbers of a topic crawl."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    anchor: float  # R_a: the best of the links to it
    level: int  # clicks from the roots: R_d = 1 / (level + 1)
    rank: float  # logarithm of its TimelyRank


relevance = score_table("relevance", RelevanceRow)


class NewsScoreRow(NamedTuple):
    """The numbers of a news crawl."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    value: float  # of what is fresh, when it was published or found; else s_fit or s_n
    opic: float  # what pages that link to it passed on


news_score = score_table("news_score", NewsScoreRow)


class TopicPageRow(NamedTuple):
    """What a page of a topic crawl says."""

    page_id: RowId
    similarity: float  # to the topic, by the pages read until then; at last, by all of them
    terms: str  # JSON: how often it has each term


topic_page = table("topic_page", metadata, TopicPageRow, UPSERT, key=1)


class LinkTextRow(NamedTuple):
    """What links say that are no external ones."""

    source_id: BigInt
    target_id: BigInt
    context_id: BigInt


link_text = table("link_text", metadata, LinkTextRow, INSERT_NEW, key=3, sqlite_with_rowid=False)


class OrderTotalsRow(NamedTuple):
    """What an order knows of all pages together."""

    crawl_id: int
    totals: str  # JSON


order_totals = table("order_totals", metadata, OrderTotalsRow, UPSERT, key=1)
