"""The tables of news crawls: feeds, rules, polls, documents, iterations and alarms."""

from __future__ import annotations

from typing import Annotated, NamedTuple

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

from crawlers.store.schema.rows import (
    ABOUT,
    INSERT_NEW,
    NAMED,
    OF_SEED,
    UPSERT,
    BigInt,
    Hash,
    Name,
    RowId,
    SmallInt,
    table,
    writes,
)
from crawlers.store.schema.tables import metadata, score_table

feed = Table(
    "feed",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seed_id", Integer, nullable=False),
    Column("url", Text, nullable=False, unique=True, doc="address"),
    Column("kind", String, nullable=False, doc="`feed` or `sitemap`"),
    Column("is_given", Boolean, nullable=False, doc="named by a person, not found by a crawl"),
    Column("enabled", Boolean, nullable=False, server_default=true(), doc="whether it is polled"),
    Index("feed_of_seed", "seed_id"),
    info={ABOUT: "Where a source announces articles. Feeds belong to no crawl.", OF_SEED: True, NAMED: True},
)


@writes(
    feed,
    INSERT_NEW,
    columns=("seed_id", "url", "kind", "is_given"),
    select="SELECT seed.id, f.url, f.kind, false FROM ({rows}) AS f JOIN seed ON seed.site = f.site",
)
class DiscoveredFeed(NamedTuple):
    """A feed that the crawl discovered; *site* is that of its source."""

    site: str
    url: str
    kind: str


class PollRow(NamedTuple):
    """A page that is fetched at scheduled times: a feed, a sitemap, a page with new articles, or an article."""

    page_id: RowId
    site_id: int
    kind: Annotated[Name, "`home`, `feed`, `sitemap`, `page`, `article`"]
    due_at: Annotated[float, "when it is due again"]
    polled_at: Annotated[float, "when it was polled last"]
    polls: Annotated[int, "number of polls"]
    failures: Annotated[int, "number of failures since the last success"]
    new_items: Annotated[int, "number of items that were ever new"]
    newest_at: Annotated[float | None, "when it last had something new"]
    rate: Annotated[str, "JSON: estimate of its rate of change"]
    problem: Annotated[str | None, "what was wrong at the last poll, a [reason](states.md#reasons)"]


poll = table("poll", metadata, PollRow, UPSERT, Index("poll_of_site", "site_id", "kind", "page_id"), key=1)


class FeedItemRow(NamedTuple):
    """An article that a feed announced."""

    feed_id: Annotated[BigInt, "→ `page.id` of the feed"]
    key: Annotated[BigInt, "→ `page.key` of the article"]
    published_at: Annotated[float | None, "date that the feed gives"]
    found_at: Annotated[float, "when the feed first showed it"]
    title: Annotated[str | None, "title that the feed gives"]


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
    Column("id", Integer, primary_key=True),
    Column("domain", String, nullable=False, doc="registered domain, with its subdomains"),
    Column("regex", Text, nullable=False, doc="RE2 for path and query, matched in full; exceptions follow ` except `"),
    Column("weight", Float, nullable=False, doc="from 0 to 1; 0: such URLs are never articles"),
    Column("origin", String, nullable=False, doc="`hand` or `learnt`"),
    Column(
        "is_pinned", Boolean, nullable=False, server_default=false(), doc="whether it stays when rules are learnt again"
    ),
    Column("support", Integer, nullable=False, server_default="0", doc="number of labels that it was learnt from"),
    Column("precision_low", Float, nullable=False, server_default="0", doc="lower bound of its precision"),
    Column("learnt_at", Float, doc="when it was learnt"),
    Index("url_rule_of_domain", "domain", "regex", unique=True),
    info={ABOUT: "One rule that says which URLs of a domain are articles. Rules belong to no crawl."},
)

content_rule = Table(
    "content_rule",
    metadata,
    Column("domain", String, primary_key=True, doc="registered domain"),
    Column("part", String, primary_key=True, doc="`title`, `text`, `published`, `authors`, `section`, `image`"),
    Column("selector", Text, nullable=False, doc="CSS selector, or XPath if it begins with `/`"),
    info={ABOUT: "Where one part of an article stands on the pages of a domain."},
)


class PageLabelRow(NamedTuple):
    """What a page that was read for the first time says about its URL; rules are learnt from it."""

    page_id: RowId
    site_id: int
    odds: Annotated[float, "log-odds; above 0: an article"]
    labelled_at: Annotated[float | None, "when it was read"]


page_label = table("page_label", metadata, PageLabelRow, UPSERT, Index("page_label_of_site", "site_id"), key=1)


class DocumentRow(NamedTuple):
    """The content of an article, without the rest of the page. Its number is that of its page."""

    page_id: Annotated[RowId, "→ `page.id`; the number of the document"]
    site_id: int
    url: Annotated[str, "URL of its page"]
    canonical: Annotated[str | None, "canonical URL"]
    title: str
    text: Annotated[str, "paragraphs, one per line"]
    published_at: Annotated[float | None, "date of publication"]
    published: Annotated[str | None, "the same in ISO 8601, with the page's time zone"]
    authors: Annotated[str, "JSON: list of names"]
    section: Annotated[str | None, "section"]
    language: Annotated[Name | None, "ISO 639 code"]
    image: Annotated[str | None, "URL of an image"]
    extractor: Annotated[Name, "what found the text: `rule`, `json-ld`, `blocks`"]
    text_hash: Annotated[Hash, "128-bit hash of the words, hexadecimal"]
    version: Annotated[int, "number of the latest version, from 1"]
    stored_at: Annotated[float, "when the first version was stored"]
    changed_at: Annotated[float | None, "when the latest version was stored, if there are several"]
    description: Annotated[str | None, "that the page gives for search engines"] = None
    keywords: Annotated[str | None, "JSON list; NULL: there are none"] = None
    modified_at: Annotated[float | None, "date of the latest change, according to the page"] = None
    modified: Annotated[str | None, "the same in ISO 8601, with the page's time zone"] = None
    is_free: Annotated[bool | None, "false: behind a paywall; NULL: not known"] = None


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
    version: Annotated[int, "from 1"]
    title: str
    text: Annotated[str, "text"]
    published_at: Annotated[float | None, "date of publication"]
    stored_at: Annotated[float, "when this version was stored"]


document_version = table("document_version", metadata, DocumentVersionRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class DocumentKeyRow(NamedTuple):
    """128-bit hashes of the URLs and the text of a document, which identify its copies within the domain."""

    high: Annotated[BigInt, "upper 64 bits"]
    low: Annotated[BigInt, "lower 64 bits"]
    page_id: BigInt


document_key = table("document_key", metadata, DocumentKeyRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class DocumentBandRow(NamedTuple):
    """Hashes of a few shingles of a document, one for each band: near-duplicates share some."""

    band: Annotated[BigInt, "hash of the domain and five consecutive words"]
    page_id: BigInt


document_band = table("document_band", metadata, DocumentBandRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class IterationRow(NamedTuple):
    """The results of one iteration, a number of pages, of a news crawl."""

    crawl_id: int
    number: Annotated[int, "from 1"]
    began_at: Annotated[float, "when it began"]
    ended_at: Annotated[float, "when its latest download ended"]
    fit: Annotated[int, "downloads of URLs that fit a rule or were announced"] = 0
    not_fit: Annotated[int, "other downloads"] = 0
    polls: Annotated[int, "feeds, sitemaps, and pages that were fetched again"] = 0
    errors: Annotated[int, "refused and failed downloads"] = 0
    documents: Annotated[int, "new documents"] = 0
    duplicates: Annotated[int, "articles that are documents already"] = 0
    total_documents: Annotated[int, "documents of the crawl at its end"] = 0


iteration = table("iteration", metadata, IterationRow, UPSERT, key=2)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    # dead feed, source unreachable, silent source, failing extraction, no discovery
    Column("kind", String, nullable=False, doc="`dead feed`, `silent source` …"),
    Column("subject", Text, nullable=False, doc="the feed or the site"),
    Column("message", Text, nullable=False, doc="what is wrong, and what to do"),
    Column("raised_at", Float, nullable=False, doc="when it was raised"),
    Column("ended_at", Float, doc="when it was over; NULL: it is open"),
    Index("alarm_of_crawl", "crawl_id", "kind"),
    info={ABOUT: "One problem that needs attention."},
)


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


class NewsScoreRow(NamedTuple):
    """The values of a news crawl."""

    page_id: RowId
    site_id: int
    queue: Annotated[SmallInt, "as elsewhere, and 2: archives; 3: probably an article; 4: announced"]
    score: float
    value: Annotated[float, "queue 4: publication or discovery; 3: how probably it is an article"]


news_score = score_table("news_score", NewsScoreRow, visits="poll")
