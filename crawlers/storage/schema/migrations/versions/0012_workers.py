"""Several workers share a crawl. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the workers; the sites of earlier crawls belong to nobody, and their pulls to no worker."""
    op.create_table(
        "worker",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("crawl_id", sa.Integer(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("joined_at", sa.Float(), nullable=False),
        sa.Column("beat_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("granted", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("used", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("pages", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("leases", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("best_index", sa.Float(), nullable=True),
        sa.Column("is_hungry", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("status", sa.Text(), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("worker_of_crawl", "worker", ["crawl_id", "state"])
    op.add_column("crawl", sa.Column("control", sa.String(), nullable=True))
    op.add_column("crawl", sa.Column("run_started_at", sa.Float(), nullable=True))
    op.add_column("crawl", sa.Column("finisher_id", sa.Integer(), nullable=True))
    op.add_column("crawl", sa.Column("earlier_pulls", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("site", sa.Column("worker_id", sa.Integer(), nullable=True))
    op.add_column("site", sa.Column("source_id", sa.Integer(), nullable=True))
    op.add_column("site", sa.Column("asked_at", sa.Float(), nullable=True))
    op.create_index("site_of_worker", "site", ["crawl_id", "worker_id", "id"])
    has_source = sa.text("source_id IS NOT NULL")
    op.create_index("site_of_source", "site", ["source_id"], sqlite_where=has_source, postgresql_where=has_source)
    op.add_column("page", sa.Column("retry_at", sa.Float(), nullable=True))
    is_retried = sa.text("state = 0 AND retry_at IS NOT NULL")
    op.create_index("page_retry", "page", ["site_id"], sqlite_where=is_retried, postgresql_where=is_retried)
    op.add_column("pull", sa.Column("worker_id", sa.Integer(), nullable=True))
    op.create_index("pull_of_worker", "pull", ["worker_id", "id"])
