"""The tables of crawls whose orders have scores, and of pages that are visited again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Float, Index, Integer, SmallInteger, String, Table, Text

from crawlers.storage.schema.tables import Id, metadata

page_change = Table(
    "page_change",
    metadata,
    # What a page was before another visit found it otherwise: so it was seen last at last_seen.
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("changed_at", Float, primary_key=True),
    Column("last_seen", Float),
    Column("state", SmallInteger, nullable=False),
    Column("status", SmallInteger),
    Column("content_hash", String(32)),
    sqlite_with_rowid=False,
)

link_change = Table(
    "link_change",
    metadata,
    # Likewise of its links: count 0 = it was not there, and is seen first at changed_at.
    Column("source_id", BigInteger, primary_key=True, autoincrement=False),
    Column("target_id", BigInteger, primary_key=True, autoincrement=False),
    Column("changed_at", Float, primary_key=True),
    Column("last_seen", Float),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)


def score_table(name: str, *columns: Column[Any]) -> Table:
    """What an order knows of each page: where it waits, by which score, and the numbers that make it."""
    table = Table(
        name,
        metadata,
        Column("page_id", Id, primary_key=True, autoincrement=False),
        Column("site_id", Integer, nullable=False),
        Column("queue", SmallInteger, nullable=False),  # 0 = never fetched, 1 = waits to be fetched again, -1 = neither
        Column("score", Float, nullable=False),  # as it was when it last grew; the greatest of a queue comes first
        *columns,
    )
    Index(f"{name}_waiting", table.c.site_id, table.c.queue, table.c.score.desc(), table.c.page_id)
    return table


importance = score_table(
    "importance",
    # less what the virtual page gave to every page, see docs/explanation/importance.md
    Column("cash", Float, nullable=False),
    Column("history", Float, nullable=False),
    Column("visited", Float, nullable=False),  # tick of the last visit
    Column("alias", BigInteger, nullable=False),  # the page that its cash goes to; 0 = itself
)

relevance = score_table(
    "relevance",
    Column("anchor", Float, nullable=False),  # R_a: the best of the links to it
    Column("level", Integer, nullable=False),  # clicks from the roots: R_d = 1 / (level + 1)
    Column("rank", Float, nullable=False),  # logarithm of its TimelyRank
)

topic_page = Table(
    "topic_page",
    metadata,
    # What a page of a topic crawl says.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("similarity", Float, nullable=False),  # to the topic, by the pages read until then; at last, by all of them
    Column("terms", Text, nullable=False),  # JSON: how often it has each term
)

link_text = Table(
    "link_text",
    metadata,
    # What links say that are no external ones.
    Column("source_id", BigInteger, primary_key=True, autoincrement=False),
    Column("target_id", BigInteger, primary_key=True, autoincrement=False),
    Column("context_id", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

order_totals = Table(
    "order_totals",
    metadata,
    Column("crawl_id", Integer, primary_key=True, autoincrement=False),
    Column("totals", Text, nullable=False),  # JSON: what the order knows of all pages together
)
