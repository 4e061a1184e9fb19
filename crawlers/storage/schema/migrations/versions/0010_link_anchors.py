"""Texts of links that may turn out to be broken. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the table; crawls of earlier versions have no texts."""
    op.create_table(
        "link_anchor",
        sa.Column("source_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("target_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("anchor", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
