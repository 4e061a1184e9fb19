"""How many new articles a page showed, and when its label was found. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the columns; they are null for pages that were read before."""
    op.add_column("page_label", sa.Column("labelled_at", sa.Float()))
    op.add_column("page_label", sa.Column("articles", sa.Integer()))
