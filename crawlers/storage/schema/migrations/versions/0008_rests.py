"""Pauses that hosts request hold over a restart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("site", sa.Column("rest_until", sa.Float(), nullable=True))
