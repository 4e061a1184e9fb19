"""The tables of news crawls: feeds, rules, polls, documents, iterations and alarms."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import (
    DDL,
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

from crawlers.storage.schema.rows import INSERT, INSERT_NEW, UPDATE, UPSERT, BigInt, Hash, Name, RowId, table, writes
from crawlers.storage.schema.tables import metadata

feed = Table(
    "feed",
    metadata,
    # The feeds of sources, shared by all crawls.
    Column("id", Integer, primary_key=True),
    Column("seed_id", Integer, nullable=False),
    Column("url", Text, nullable=False, unique=True),
    Column("kind", String, nullable=False),  # feed, sitemap
    Column("is_given", Boolean, nullable=False),  # by a person; otherwise discovered by a crawl
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Index("feed_of_seed", "seed_id"),
)


@writes(
    feed,
    INSERT_NEW,
    columns=("seed_id", "url", "kind", "is_given"),
    select="SELECT seed.id, f.url, f.kind, false FROM ({rows}) AS f JOIN seed ON seed.site = f.site",
)
class FoundFeed(NamedTuple):
    """A feed that the crawl discovered; *site* is that of its source."""

    site: str
    url: str
    kind: str


class PollRow(NamedTuple):
    """A page that is fetched at scheduled times: a feed, a sitemap, a page with new articles, or an article."""

    page_id: RowId
    site_id: int
    kind: Name  # home, feed, sitemap, page, article
    due_at: float  # seconds since 1970, as every time here
    polled_at: float
    polls: int
    failures: int  # consecutive
    new_items: int  # so far
    newest_at: float | None  # when it last had new items
    rate: str  # JSON: the estimate of its rate of change
    problem: str | None  # of the last poll


poll = table("poll", metadata, PollRow, UPSERT, Index("poll_of_site", "site_id", "kind", "page_id"), key=1)


class FeedItemRow(NamedTuple):
    """An article that a feed announced."""

    feed_id: BigInt  # the feed's page
    key: BigInt  # of its URL, as in page
    published_at: float | None  # according to the feed
    found_at: float
    title: str | None


feed_item = table(
    "feed_item",
    metadata,
    FeedItemRow,
    INSERT_NEW,
    Index("feed_item_of_key", "key"),  # whether any feed announced a page
    key=2,
    sqlite_with_rowid=False,
)

url_rule = Table(
    "url_rule",
    metadata,
    # The rules by which URLs of a domain are articles, shared by all crawls.
    Column("id", Integer, primary_key=True),
    Column("domain", String, nullable=False),  # a host and its subdomains
    Column("regex", Text, nullable=False),  # matched against everything after the host
    Column("weight", Float, nullable=False),  # in [0, 1]; 0 = such URLs are never articles
    Column("origin", String, nullable=False),  # hand, learnt
    Column("is_pinned", Boolean, nullable=False, server_default=false()),  # not replaced when rules are learnt again
    Column("support", Integer, nullable=False, server_default="0"),  # number of labels that it was learnt from
    Column("precision_low", Float, nullable=False, server_default="0"),  # lower bound of its precision
    Column("learnt_at", Float),
    Index("url_rule_of_domain", "domain", "regex", unique=True),
)

content_rule = Table(
    "content_rule",
    metadata,
    # The selectors of the parts of articles of a domain.
    Column("domain", String, primary_key=True),
    Column("part", String, primary_key=True),  # title, text, published, authors, section, image
    Column("selector", Text, nullable=False),  # CSS; XPath if it begins with /
)


class PageLabelRow(NamedTuple):
    """What a page that was read for the first time says about its URL; rules are learnt from it."""

    page_id: RowId
    site_id: int
    odds: float  # log odds that it is an article: above 0 for, below 0 against
    labelled_at: float | None
    articles: int | None  # new ones that it shows; null if its URL is that of an article


page_label = table("page_label", metadata, PageLabelRow, UPSERT, Index("page_label_of_site", "site_id"), key=1)


class DocumentRow(NamedTuple):
    """The content of an article, without the rest of the page. Its number is that of its page."""

    page_id: RowId
    site_id: int
    url: str
    canonical: str | None
    title: str
    text: str
    published_at: float | None
    published: str | None  # ISO 8601, with the page's time zone
    authors: str  # JSON
    section: str | None
    language: Name | None
    image: str | None
    extractor: Name  # what found the text: rule, json-ld, blocks
    text_hash: Hash
    version: int  # from 1
    stored_at: float  # of its first version
    changed_at: float | None  # of the latest version, if there are several
    description: str | None = None
    keywords: str | None = None  # JSON; null if there are none
    modified_at: float | None = None  # of the latest change, according to the page
    modified: str | None = None  # ISO 8601, like `published`
    is_free: bool | None = None  # false: behind a paywall


document = table(
    "document",
    metadata,
    DocumentRow,
    UPSERT,
    Index("document_of_site", "site_id", "stored_at"),
    Index("document_stored", "stored_at"),
    key=1,
)


class DocumentVersionRow(NamedTuple):
    """An earlier version of a document that changed."""

    page_id: BigInt
    version: int
    title: str
    text: str
    published_at: float | None
    stored_at: float


document_version = table("document_version", metadata, DocumentVersionRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class DocumentKeyRow(NamedTuple):
    """128-bit hashes of the URLs and the text of a document, which identify its copies within the domain."""

    high: BigInt
    low: BigInt
    page_id: BigInt


document_key = table("document_key", metadata, DocumentKeyRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class DocumentBandRow(NamedTuple):
    """Hashes of a few shingles of a document, one for each band: near-duplicates share some."""

    band: BigInt  # hash of domain and shingle
    page_id: BigInt


document_band = table("document_band", metadata, DocumentBandRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class IterationRow(NamedTuple):
    """The results of one iteration, a number of pages or minutes, of a news crawl."""

    crawl_id: int
    number: int
    began_at: float
    ended_at: float
    fit: int  # fetched pages whose URL matches a rule, or that a feed announced
    not_fit: int
    polls: int  # of feeds and pages
    errors: int
    documents: int  # new
    duplicates: int
    total_documents: int


iteration = table("iteration", metadata, IterationRow, UPSERT, key=2)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    # dead feed, source unreachable, silent source, failing extraction, no discovery
    Column("kind", String, nullable=False),
    Column("subject", Text, nullable=False),  # the feed or the site
    Column("message", Text, nullable=False),
    Column("raised_at", Float, nullable=False),
    Column("ended_at", Float),  # null while it is open
    Index("alarm_of_crawl", "crawl_id", "kind"),
)


@writes(alarm, INSERT)
class RaisedAlarm(NamedTuple):
    """An alarm that began."""

    crawl_id: int
    kind: str
    subject: str
    message: str
    raised_at: float


@writes(alarm, UPDATE)
class EndedAlarm(NamedTuple):
    """An alarm that is over."""

    id: int
    ended_at: float


# The index of the full-text search, which SQLite updates by triggers, and PostgreSQL automatically.
SEARCHED = "to_tsvector('simple', left(title || ' ' || text, 100000))"  # a tsvector is limited to a megabyte
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
