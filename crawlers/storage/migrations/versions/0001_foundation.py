"""The first tables."""

from __future__ import annotations

from alembic import op

from crawlers.storage.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind())
