"""Numbers and texts of links that are no URLs. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns; crawls of earlier versions have no texts, and counted equal links of a page once."""
    op.add_column("bad_link", sa.Column("count", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("bad_link", sa.Column("anchor", sa.Text(), nullable=True))
