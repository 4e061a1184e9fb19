"""The tables of news: where articles are looked for, what was found, and by which rules."""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    event,
    false,
    true,
)

from crawlers.storage.schema.score_tables import score_table
from crawlers.storage.schema.tables import Id, metadata

feed = Table(
    "feed",
    metadata,
    # Where a source announces articles; known to all crawls.
    Column("id", Integer, primary_key=True),
    Column("seed_id", Integer, nullable=False),
    Column("url", Text, nullable=False, unique=True),
    Column("kind", String, nullable=False),  # feed, sitemap
    Column("is_given", Boolean, nullable=False),  # by a person; else found by itself
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Index("feed_of_seed", "seed_id"),
)

poll = Table(
    "poll",
    metadata,
    # A page of a crawl that comes back: a feed, a sitemap, or a page that shows new articles.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("site_id", Integer, nullable=False),
    Column("kind", String, nullable=False),  # feed, sitemap, page
    Column("due_at", Float, nullable=False),  # seconds since 1970, as every time here
    Column("polled_at", Float, nullable=False),
    Column("polls", Integer, nullable=False),
    Column("failures", Integer, nullable=False),  # in a row
    Column("new_items", Integer, nullable=False),  # ever
    Column("newest_at", Float),  # when it brought something new last
    Column("rate", Text, nullable=False),  # JSON: what was learnt of its rate of change
    Column("problem", Text),  # what was wrong with it at the last poll
    Index("poll_of_site", "site_id"),
)

feed_item = Table(
    "feed_item",
    metadata,
    # An article that a feed announced.
    Column("feed_id", BigInteger, primary_key=True, autoincrement=False),  # the feed's page
    Column("key", BigInteger, primary_key=True, autoincrement=False),  # of its URL, as in page
    Column("published_at", Float),  # as the feed says
    Column("found_at", Float, nullable=False),
    Column("title", Text),
    sqlite_with_rowid=False,
)

url_rule = Table(
    "url_rule",
    metadata,
    # Which URLs of a domain are articles; known to all crawls.
    Column("id", Integer, primary_key=True),
    Column("domain", String, nullable=False),  # of a host and its subdomains
    Column("regex", Text, nullable=False),  # of all that stands behind the host
    Column("weight", Float, nullable=False),  # in [0, 1]; 0 = such URLs never are articles
    Column("origin", String, nullable=False),  # hand, learnt
    Column("is_pinned", Boolean, nullable=False, server_default=false()),  # not replaced when rules are learnt again
    Column("support", Integer, nullable=False, server_default="0"),  # labels that it was learnt from
    Column("precision_low", Float, nullable=False, server_default="0"),  # lower bound of its precision
    Column("learnt_at", Float),
    Index("url_rule_of_domain", "domain", "regex", unique=True),
)

content_rule = Table(
    "content_rule",
    metadata,
    # Where on the pages of a domain the parts of an article stand.
    Column("domain", String, primary_key=True),
    Column("part", String, primary_key=True),  # title, text, published, authors, section, image
    Column("selector", Text, nullable=False),  # CSS; XPath where it begins with /
)

page_label = Table(
    "page_label",
    metadata,
    # What speaks for a page's being an article; food for the rules.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("site_id", Integer, nullable=False),
    Column("odds", Float, nullable=False),  # logarithm: above 0 for, below 0 against
    Index("page_label_of_site", "site_id"),
)

document = Table(
    "document",
    metadata,
    # The essential part of an article. Its number is that of its page.
    Column("page_id", Id, primary_key=True, autoincrement=False),
    Column("site_id", Integer, nullable=False),
    Column("url", Text, nullable=False),
    Column("canonical", Text),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("published_at", Float),
    Column("published", Text),  # ISO 8601, with the time zone that the page gives
    Column("authors", Text, nullable=False),  # JSON
    Column("section", Text),
    Column("language", String),
    Column("image", Text),
    Column("extractor", String, nullable=False),  # what found the text: rule, json-ld, trafilatura
    Column("text_hash", String(32), nullable=False),
    Column("simhash", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),  # from 1
    Column("stored_at", Float, nullable=False),  # its first version
    Column("changed_at", Float),  # the latest version, if there are several
    Index("document_of_site", "site_id", "stored_at"),
    Index("document_stored", "stored_at"),
)

document_version = Table(
    "document_version",
    metadata,
    # What a document was before it changed.
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("published_at", Float),
    Column("stored_at", Float, nullable=False),
    sqlite_with_rowid=False,
)

document_key = Table(
    "document_key",
    metadata,
    # 128-bit hashes of what makes a document the same as another one within its domain: URLs, and the text.
    Column("high", BigInteger, primary_key=True, autoincrement=False),
    Column("low", BigInteger, primary_key=True, autoincrement=False),
    Column("page_id", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

document_band = Table(
    "document_band",
    metadata,
    # Parts of simhashes: documents that are nearly the same share one.
    Column("band", BigInteger, primary_key=True, autoincrement=False),  # hash of domain, place and part
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("simhash", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

news_score = score_table(
    "news_score",
    Column("value", Float, nullable=False),  # of what is fresh, when it was published or found; else s_fit or s_n
    Column("opic", Float, nullable=False),  # what pages that link to it passed on
)

iteration = Table(
    "iteration",
    metadata,
    # What so many pages, or minutes, of a news crawl brought.
    Column("crawl_id", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("began_at", Float, nullable=False),
    Column("ended_at", Float, nullable=False),
    Column("fit", Integer, nullable=False),  # pages fetched whose URL fits a rule, or that a feed announced
    Column("not_fit", Integer, nullable=False),
    Column("polls", Integer, nullable=False),  # feeds and pages that came back
    Column("errors", Integer, nullable=False),
    Column("documents", Integer, nullable=False),  # new ones
    Column("duplicates", Integer, nullable=False),
    Column("total_documents", Integer, nullable=False),
)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    Column("kind", String, nullable=False),  # dead feed, silent source, failing extraction, no discovery
    Column("subject", Text, nullable=False),  # the feed, or the site
    Column("message", Text, nullable=False),
    Column("raised_at", Float, nullable=False),
    Column("ended_at", Float),  # when it was over
    Index("alarm_of_crawl", "crawl_id", "kind"),
)


# Full-text search: an index beside the table, which SQLite keeps by triggers, and PostgreSQL by itself.
SEARCHED = "to_tsvector('simple', left(title || ' ' || text, 100000))"  # a tsvector holds a megabyte
_GIN = f"CREATE INDEX document_text ON document USING gin ({SEARCHED})"
_FTS5 = (
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
for _statement in _FTS5:
    event.listen(document, "after_create", DDL(_statement).execute_if(dialect="sqlite"))  # type: ignore[no-untyped-call]
event.listen(document, "after_create", DDL(_GIN).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]
