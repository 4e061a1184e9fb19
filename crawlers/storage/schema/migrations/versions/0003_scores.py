"""Orders with scores, and pages that are visited again. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("page", sa.Column("etag", sa.Text()))
    op.add_column("page", sa.Column("last_modified", sa.Text()))
    op.create_table(
        "page_change",
        sa.Column("page_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("changed_at", sa.Float(), primary_key=True),
        sa.Column("last_seen", sa.Float()),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("content_hash", sa.String(32)),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "link_change",
        sa.Column("source_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("target_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("changed_at", sa.Float(), primary_key=True),
        sa.Column("last_seen", sa.Float()),
        sa.Column("count", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    _scores(
        "importance",
        sa.Column("cash", sa.Float(), nullable=False),
        sa.Column("history", sa.Float(), nullable=False),
        sa.Column("visited", sa.Float(), nullable=False),
        sa.Column("alias", sa.BigInteger(), nullable=False),
    )
    _scores(
        "relevance",
        sa.Column("anchor", sa.Float(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Float(), nullable=False),
    )
    op.create_table(
        "topic_page",
        sa.Column("page_id", ID, primary_key=True, autoincrement=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
    )
    op.create_table(
        "link_text",
        sa.Column("source_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("target_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("context_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "order_totals",
        sa.Column("crawl_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("totals", sa.Text(), nullable=False),
    )


def _scores(name: str, *columns: sa.Column[float]) -> None:
    op.create_table(
        name,
        sa.Column("page_id", ID, primary_key=True, autoincrement=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        *columns,
    )
    ordered: list[str | sa.TextClause] = ["site_id", "queue", sa.text("score DESC"), "page_id"]
    op.create_index(f"{name}_waiting", name, ordered)
