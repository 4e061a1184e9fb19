"""The time that a page took to respond. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the column; it is null for pages that were read before."""
    op.add_column("page", sa.Column("latency_s", sa.Float()))
