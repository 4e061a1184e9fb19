"""The first tables. Frozen: a change of the tables is a new script, which leaves this one as it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# SQLite's rowid must be declared as INTEGER to be the key itself instead of a second index.
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _create_crawl_tables()
    _create_page_tables()
    _create_link_tables()


def _create_crawl_tables() -> None:
    blocks = op.create_table(
        "id_block",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("next", ID, nullable=False),
    )
    # The row is there from the start: two processes that both make it would get in each other's way.
    op.bulk_insert(blocks, [{"name": "page", "next": 1}])
    op.create_table(
        "crawl",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mission", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float()),
        sa.Column("reason", sa.Text()),
        sa.Column("manifest", sa.Text(), nullable=False),
    )
    op.create_index("crawl_name", "crawl", ["name"])
    op.create_table(
        "crawler_setting",
        sa.Column("crawl_id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("value", sa.Text()),
    )
    op.create_table(
        "seed",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("site", sa.String(), nullable=False, unique=True),
        sa.Column("name", sa.Text()),
        sa.Column("start_url", sa.Text(), nullable=False),
    )
    op.create_table(
        "site",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("crawl_id", sa.Integer(), nullable=False),
        sa.Column("seed_id", sa.Integer(), nullable=False),
        sa.Column("site", sa.String(), nullable=False),
        sa.Column("parallel", sa.Integer(), nullable=False),
        sa.Column("max_level", sa.Integer()),
        sa.Column("delay_s", sa.Float(), nullable=False),
        sa.Column("robots_status", sa.Integer()),
        sa.Column("robots_text", sa.Text()),
        sa.Column("robots_at", sa.Float()),
        sa.Column("availability", sa.Text()),
    )
    op.create_index("site_of_crawl", "site", ["crawl_id", "site"], unique=True)


def _create_page_tables() -> None:
    op.create_table(
        "page",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("spelling", sa.SmallInteger(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("hops", sa.SmallInteger(), nullable=False),
        sa.Column("priority", sa.Float(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("attempts", sa.SmallInteger(), nullable=False, server_default="0"),
        sa.Column("request", sa.Text()),
        sa.Column("found_on", sa.BigInteger()),
        sa.Column("found_at", sa.Float(), nullable=False),
        sa.Column("fetched_at", sa.Float()),
        sa.Column("state_at", sa.Float(), nullable=False),
        sa.Column("status", sa.SmallInteger()),
        sa.Column("moved_to", sa.BigInteger()),
        sa.Column("content_hash", sa.String(32)),
        sa.Column("skeleton", sa.BigInteger()),
        sa.Column("title", sa.Text()),
        sa.Column("canonical", sa.Text()),
        sa.Column("content_type", sa.Text()),
        sa.Column("size_bytes", sa.BigInteger()),
        sa.Column("duplicates", sa.Integer(), nullable=False, server_default="0"),
    )
    op.create_index("page_key", "page", ["site_id", "key"], unique=True)
    waits = sa.text("state = 0")
    op.create_index("page_waiting", "page", ["site_id", "priority", "id"], sqlite_where=waits, postgresql_where=waits)


def _create_link_tables() -> None:
    op.create_table(
        "link",
        sa.Column("source_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("target_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "external_url",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("site", sa.String(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
    )
    op.create_table(
        "link_context",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("anchor", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("rel", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
    )
    op.create_table(
        "external_link",
        sa.Column("page_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("url_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("context_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "bad_link",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
    )
    op.create_index("bad_link_page", "bad_link", ["page_id"])
