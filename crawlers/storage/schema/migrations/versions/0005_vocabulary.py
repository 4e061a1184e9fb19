"""Columns by the terms of the field: the variant of a URL, the signature of a content, the extractor of a text.
Frozen, like every migration."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Rename the columns; their values stay."""
    op.execute("ALTER TABLE page RENAME COLUMN spelling TO variant")
    op.execute("ALTER TABLE page RENAME COLUMN skeleton TO content_signature")
    op.execute("ALTER TABLE document RENAME COLUMN taken_by TO extractor")
