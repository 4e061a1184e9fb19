"""An index by which the crawls of a site are found. Frozen, like every migration."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the index."""
    op.create_index("site_of_name", "site", ["site", "id"])
