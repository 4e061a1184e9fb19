"""The tables of the store.

A page belongs to a *site*, a site is a seed within one crawl: two crawls of the same seed share no
page, so that each is a picture of its time. Every link row is made of integers. Numbers of pages are
given out in blocks (`id_block`), so that links can name a page before its row is committed.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    false,
    text,
    true,
)

# SQLite's rowid must be declared as INTEGER to be the key itself instead of a second index.
Id = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()

id_block = Table(
    "id_block",
    metadata,
    Column("name", String, primary_key=True),
    Column("next", Id, nullable=False),
)

crawl = Table(
    "crawl",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("mission", String, nullable=False),
    Column("state", String, nullable=False),  # running, interrupted, finished
    Column("started_at", Float, nullable=False),  # seconds since 1970, as every time here
    Column("ended_at", Float),
    Column("reason", Text),
    Column("manifest", Text, nullable=False),  # JSON: versions, settings, seeds
    Index("crawl_name", "name"),
)

crawler_setting = Table(
    "crawler_setting",
    metadata,
    Column("crawl_id", Integer, primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", Text),
)

seed = Table(
    "seed",
    metadata,
    Column("id", Integer, primary_key=True),  # the number that people call it by
    Column("site", String, nullable=False, unique=True),  # scheme://host[:port]
    Column("name", Text),  # in full
    Column("start_url", Text, nullable=False),  # the page on level 0
    Column("short_name", Text),
    Column("enabled", Boolean, nullable=False, server_default=true()),  # whether a harvest takes it by itself
    Column("parallel", Integer),  # limits; null = those of the settings
    Column("max_level", Integer),
    Column("delay_s", Float),
    Column("language", String),  # of its articles, ISO 639
    Column("region", Text),
    Column("hosts", Text),  # other ones with pages of it, with blanks between them
    Column("is_found", Boolean, nullable=False, server_default=false()),  # nobody named it: a crawl met it
)

site = Table(
    "site",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    Column("seed_id", Integer, nullable=False),
    Column("site", String, nullable=False),
    Column("parallel", Integer, nullable=False),
    Column("max_level", Integer),
    Column("delay_s", Float, nullable=False),
    Column("robots_status", Integer),  # HTTP status of robots.txt; 0 = unreachable; null = not asked yet
    Column("robots_text", Text),
    Column("robots_at", Float),
    Column("availability", Text),  # null = available; else why its home page can't be loaded
    Column("start_url", Text),  # null = the site's root
    Column("rules", Text),  # fingerprint of the URL rules by which its waiting pages have their places
    Column("is_open", Boolean, nullable=False, server_default=true()),  # the latest run took it; else it was left out
    Index("site_of_crawl", "crawl_id", "site", unique=True),
)

page = Table(
    "page",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("site_id", Integer, nullable=False),
    Column("key", BigInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("variant", SmallInteger, nullable=False),  # rank of `url` among the spellings of its key
    Column("level", Integer, nullable=False),
    Column("hops", SmallInteger, nullable=False),  # redirects followed within the level
    Column("priority", Float, nullable=False),  # the page order's; the least is fetched first
    Column("state", SmallInteger, nullable=False),  # items.State
    Column("reason", Text),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("request", Text),  # JSON of a Scrapy request that is more than its URL
    Column("found_on", BigInteger),  # the page that showed it first; not part of any result
    Column("found_at", Float, nullable=False),
    Column("fetched_at", Float),
    Column("state_at", Float, nullable=False),
    Column("status", SmallInteger),
    Column("moved_to", BigInteger),
    Column("content_hash", String(32)),  # hexadecimal; equal for equal bodies
    Column("content_signature", BigInteger),
    Column("title", Text),
    Column("canonical", Text),
    Column("content_type", Text),
    Column("size_bytes", BigInteger),
    Column("duplicates", Integer, nullable=False, server_default="0"),  # rows of equal pages, given up
    Column("link_group", SmallInteger, nullable=False, server_default="0"),  # its queue; 0 = all that are in no group
    Column("etag", Text),  # what the server names the version by, for the next visit
    Column("last_modified", Text),  # likewise
    Index("page_key", "site_id", "key", unique=True),
    # Of a news crawl, pages that made no document although they look like an article.
    Index(
        "page_without_document",
        "fetched_at",
        sqlite_where=text("state = 1 AND reason IS NOT NULL"),
        postgresql_where=text("state = 1 AND reason IS NOT NULL"),
    ),
    Index(
        "page_waiting",
        "site_id",
        "link_group",
        "priority",
        "id",
        sqlite_where=text("state = 0"),
        postgresql_where=text("state = 0"),
    ),
)

link = Table(
    "link",
    metadata,
    Column("source_id", BigInteger, primary_key=True, autoincrement=False),
    Column("target_id", BigInteger, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

link_group = Table(
    "link_group",
    metadata,
    Column("site_id", Integer, primary_key=True, autoincrement=False),
    Column("number", SmallInteger, primary_key=True, autoincrement=False),  # from 1, as they were met
    Column("name", Text, nullable=False),  # where its links stand on pages, and how their URLs look
    sqlite_with_rowid=False,
)

external_url = Table(
    "external_url",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # 64-bit hash of the URL: no look-up needed
    Column("site", String, nullable=False),  # scheme://host[:port]
    Column("url", Text, nullable=False),
    # Of its normal form: spellings of one address share it.
    Column("key", BigInteger, nullable=False, server_default="0"),
)

link_context = Table(
    "link_context",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # 64-bit hash of the row's texts
    Column("anchor", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("position", Text, nullable=False),
    Column("rel", Text, nullable=False),
    Column("tag", Text, nullable=False),
)

external_link = Table(
    "external_link",
    metadata,
    Column("page_id", BigInteger, primary_key=True, autoincrement=False),
    Column("url_id", BigInteger, primary_key=True, autoincrement=False),
    Column("context_id", BigInteger, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

counted_key = Table(
    "counted_key",
    metadata,
    # What a site's rewards counted already: keys of external URLs, or of hosts where those are the reward.
    Column("site_id", Integer, primary_key=True, autoincrement=False),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

pull = Table(
    "pull",
    metadata,
    # One download of a crawl that counts rewards; the rule's memory. Their order is that in which they ended.
    Column("id", Id, primary_key=True),
    Column("site_id", Integer, nullable=False),
    Column("page_id", BigInteger, nullable=False),
    Column("reward", Float, nullable=False),
    Column("ended_at", Float, nullable=False),
    Index("pull_of_site", "site_id", "id"),
)

bad_link = Table(
    "bad_link",
    metadata,
    Column("page_id", BigInteger, nullable=False),
    Column("raw", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("bad_link_page", "page_id"),
)
