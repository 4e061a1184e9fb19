"""What pages say about their articles: description, keywords, latest change, paywall. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the columns; they are null for documents that were stored before."""
    op.add_column("document", sa.Column("description", sa.Text()))
    op.add_column("document", sa.Column("keywords", sa.Text()))
    op.add_column("document", sa.Column("modified_at", sa.Float()))
    op.add_column("document", sa.Column("modified", sa.Text()))
    op.add_column("document", sa.Column("is_free", sa.Boolean()))
