"""Sites with a folder, with several addresses, and with a selection of URLs. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the columns; sites of earlier versions have one address, and all their pages are selected."""
    for name in ("folder", "aliases", "home_addresses", "selection"):
        op.add_column("site", sa.Column(name, sa.Text()))
