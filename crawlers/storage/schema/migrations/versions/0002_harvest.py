"""Seeds with names and limits, start pages, pulls and rewards, groups of links. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("seed", sa.Column("short_name", sa.Text()))
    op.add_column("seed", sa.Column("enabled", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("seed", sa.Column("parallel", sa.Integer()))
    op.add_column("seed", sa.Column("max_level", sa.Integer()))
    op.add_column("seed", sa.Column("delay_s", sa.Float()))
    # Until now every seed came with a list of hosts, none was chosen for a harvest.
    op.execute(sa.text("UPDATE seed SET enabled = false"))
    op.add_column("site", sa.Column("start_url", sa.Text()))
    # Of a URL that was stored before, the spelling itself stands for its normal form, which is not known here.
    op.add_column("external_url", sa.Column("key", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(sa.text("UPDATE external_url SET key = id"))
    op.add_column("page", sa.Column("link_group", sa.SmallInteger(), nullable=False, server_default="0"))
    op.drop_index("page_waiting", "page")
    waits = sa.text("state = 0")
    columns = ["site_id", "link_group", "priority", "id"]
    op.create_index("page_waiting", "page", columns, sqlite_where=waits, postgresql_where=waits)
    op.create_table(
        "link_group",
        sa.Column("site_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.SmallInteger(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "counted_key",
        sa.Column("site_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.BigInteger(), primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pull",
        sa.Column("id", ID, primary_key=True),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("reward", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=False),
    )
    op.create_index("pull_of_site", "pull", ["site_id", "id"])
