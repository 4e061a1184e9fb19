"""Workers of one crawl send each other links, and divide the pages of an order with scores. Frozen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add messages; the totals of earlier crawls are those of no worker, and their values relative to these totals."""
    row_id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "message",
        sa.Column("id", row_id, primary_key=True),
        sa.Column("crawl_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("hops", sa.SmallInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("carried", sa.Float(), nullable=False),
        sa.Column("sent_at", sa.Float(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
    )
    op.create_index("message_of_site", "message", ["crawl_id", "site_id", "id"])
    op.create_index("message_of_page", "message", ["source_id"])
    op.add_column("site", sa.Column("base", sa.Text(), nullable=True))
    op.add_column("crawl", sa.Column("given", sa.Text(), nullable=True))
    op.add_column("crawl", sa.Column("given_at", sa.Float(), nullable=True))
    rows = op.get_bind().execute(sa.text("SELECT crawl_id, totals FROM order_totals")).all()
    op.drop_table("order_totals")
    made = op.create_table(
        "order_totals",
        sa.Column("crawl_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("worker_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("totals", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
    )
    before = [{"crawl_id": row.crawl_id, "worker_id": 0, "totals": row.totals, "base": "[]"} for row in rows]
    if before:
        op.bulk_insert(made, before)
