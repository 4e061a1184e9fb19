"""Indexes by which the feeds of a site and the most similar pages are listed. Frozen, like every migration."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the indexes."""
    op.drop_index("poll_of_site", "poll")
    op.create_index("poll_of_site", "poll", ["site_id", "kind", "page_id"])
    op.create_index("topic_page_similarity", "topic_page", ["similarity", "page_id"])
