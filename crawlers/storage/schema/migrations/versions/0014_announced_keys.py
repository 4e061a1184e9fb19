"""Whether any feed announced a page is looked up by the key of the page. Frozen."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Index the items of feeds by key."""
    op.create_index("feed_item_of_key", "feed_item", ["key"])
