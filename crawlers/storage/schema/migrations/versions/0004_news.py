"""News: sources, rules, documents, their keys, and crawl results. Frozen, like every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FTS5 = (
    "CREATE VIRTUAL TABLE document_text USING fts5(title, text, content='document', content_rowid='page_id', "
    "tokenize='unicode61 remove_diacritics 2')",
    "CREATE TRIGGER document_text_insert AFTER INSERT ON document BEGIN "
    "INSERT INTO document_text(rowid, title, text) VALUES (new.page_id, new.title, new.text); END",
    "CREATE TRIGGER document_text_delete AFTER DELETE ON document BEGIN "
    "INSERT INTO document_text(document_text, rowid, title, text) VALUES ('delete', old.page_id, old.title, old.text); "
    "END",
    "CREATE TRIGGER document_text_update AFTER UPDATE OF title, text ON document BEGIN "
    "INSERT INTO document_text(document_text, rowid, title, text) VALUES ('delete', old.page_id, old.title, old.text); "
    "INSERT INTO document_text(rowid, title, text) VALUES (new.page_id, new.title, new.text); END",
)
GIN = "CREATE INDEX document_text ON document USING gin (to_tsvector('simple', left(title || ' ' || text, 100000)))"


def upgrade() -> None:
    op.create_table(
        "alarm",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("crawl_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("raised_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("alarm_of_crawl", "alarm", ["crawl_id", "kind"], unique=False)
    op.create_table(
        "content_rule",
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("selector", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("domain", "part"),
    )
    op.create_table(
        "document",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("canonical", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("published_at", sa.Float(), nullable=True),
        sa.Column("published", sa.Text(), nullable=True),
        sa.Column("authors", sa.Text(), nullable=False),
        sa.Column("section", sa.Text(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("taken_by", sa.String(), nullable=False),
        sa.Column("text_hash", sa.String(length=32), nullable=False),
        sa.Column("simhash", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("stored_at", sa.Float(), nullable=False),
        sa.Column("changed_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("page_id"),
    )
    op.create_index("document_of_site", "document", ["site_id", "stored_at"], unique=False)
    op.create_index("document_stored", "document", ["stored_at"], unique=False)
    op.create_table(
        "document_band",
        sa.Column("band", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("simhash", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("band", "page_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "document_key",
        sa.Column("high", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("low", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("high", "low"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "document_version",
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("published_at", sa.Float(), nullable=True),
        sa.Column("stored_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "version"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "feed",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seed_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("is_given", sa.Boolean(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("url"),
    )
    op.create_index("feed_of_seed", "feed", ["seed_id"], unique=False)
    op.create_table(
        "feed_item",
        sa.Column("feed_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("published_at", sa.Float(), nullable=True),
        sa.Column("found_at", sa.Float(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("feed_id", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "iteration",
        sa.Column("crawl_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("began_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=False),
        sa.Column("fit", sa.Integer(), nullable=False),
        sa.Column("not_fit", sa.Integer(), nullable=False),
        sa.Column("polls", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("duplicates", sa.Integer(), nullable=False),
        sa.Column("total_documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("crawl_id", "number"),
    )
    op.create_table(
        "news_score",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("opic", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("page_id"),
    )
    op.create_index(
        "news_score_waiting",
        "news_score",
        ["site_id", "queue", sa.text("score DESC"), "page_id"],
        unique=False,
    )
    op.create_table(
        "page_label",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("odds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("page_id"),
    )
    op.create_index("page_label_of_site", "page_label", ["site_id"], unique=False)
    op.create_table(
        "poll",
        sa.Column("page_id", ID, autoincrement=False, nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=False),
        sa.Column("polled_at", sa.Float(), nullable=False),
        sa.Column("polls", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("new_items", sa.Integer(), nullable=False),
        sa.Column("newest_at", sa.Float(), nullable=True),
        sa.Column("rate", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("page_id"),
    )
    op.create_index("poll_of_site", "poll", ["site_id"], unique=False)
    op.create_table(
        "url_rule",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("regex", sa.Text(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("support", sa.Integer(), server_default="0", nullable=False),
        sa.Column("precision_low", sa.Float(), server_default="0", nullable=False),
        sa.Column("learnt_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("url_rule_of_domain", "url_rule", ["domain", "regex"], unique=True)
    op.add_column("seed", sa.Column("language", sa.String(), nullable=True))
    op.add_column("seed", sa.Column("region", sa.Text(), nullable=True))
    op.add_column("seed", sa.Column("hosts", sa.Text(), nullable=True))
    op.add_column("seed", sa.Column("is_found", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("site", sa.Column("rules", sa.Text(), nullable=True))
    op.add_column("site", sa.Column("is_open", sa.Boolean(), server_default=sa.true(), nullable=False))
    done = sa.text("state = 1 AND reason IS NOT NULL")
    op.create_index("page_without_document", "page", ["fetched_at"], sqlite_where=done, postgresql_where=done)

    for statement in FTS5 if op.get_bind().dialect.name == "sqlite" else (GIN,):
        op.execute(statement)
