"""The features of links, from which ORDER=learnt learns. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Create the table; crawls that began before have no features."""
    op.create_table(
        "link_features",
        sa.Column(
            "page_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, primary_key=True
        ),
        sa.Column("features", sa.Text(), nullable=False),
    )
