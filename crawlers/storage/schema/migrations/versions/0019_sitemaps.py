"""Sitemaps and the URLs that they list; which pages can be indexed, and an index of their contents. Frozen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the tables, the column and the index; on a store of 10^7 pages it takes half a minute."""
    op.create_table(
        "sitemap",
        sa.Column("site_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("index_key", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("urls", sa.Integer(), nullable=False),
        sa.Column("outside", sa.Integer(), nullable=False),
        sa.Column("cut", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.Float(), nullable=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sitemap_url",
        sa.Column("site_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("sitemap_key", sa.BigInteger(), nullable=False),
        sa.Column("modified_at", sa.Float(), nullable=True),
        sqlite_with_rowid=False,
    )
    op.add_column("page", sa.Column("is_indexable", sa.Boolean()))
    is_read = sa.text("state = 1")
    op.create_index(
        "page_of_content", "page", ["site_id", "content_hash"], sqlite_where=is_read, postgresql_where=is_read
    )
