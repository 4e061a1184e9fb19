"""The tables of the store.

A page belongs to a *site*, and a site is a seed within one crawl: two crawls of the same seed share no
pages, so each is a snapshot. Link rows consist of integers. Page numbers are reserved in blocks (`id_block`),
so that links can refer to a page before its row is committed.

Tables whose rows are written completely are derived from their row types; see `schema.rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DefaultClause,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    event,
    false,
    insert,
    text,
    true,
    update,
)

from crawlers.storage.schema.rows import (
    DELETE,
    INSERT,
    INSERT_NEW,
    ROW_ID,
    UPDATE,
    UPSERT,
    BigInt,
    Name,
    RowId,
    SmallInt,
    table,
    writes,
    written_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

metadata = MetaData()

SCHEMA_VERSION = 3  # of the tables, and of the meaning of what they hold: a store of another number is not opened

schema_version = Table("schema_version", metadata, Column("number", Integer, primary_key=True, autoincrement=False))

id_block = Table(
    "id_block",
    metadata,
    Column("name", String, primary_key=True),
    Column("next", ROW_ID, nullable=False),
)


@event.listens_for(metadata, "after_create")
def _insert_first_rows(_metadata: MetaData, connection: Connection, **_options: object) -> None:
    connection.execute(insert(schema_version).values(number=SCHEMA_VERSION))
    # The row is there from the start: two processes that both make it would get in each other's way.
    connection.execute(insert(id_block).values(name="page", next=1))


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
    Column("control", String),  # what its workers are asked for: pause, stop; null = to crawl
    Column("run_started_at", Float),  # when a worker began or resumed it while no other was active
    Column("finisher_id", Integer),  # the worker that records its end
    Column("earlier_pulls", BigInteger, nullable=False, server_default="0"),  # those that no worker has counted
    Column("given", Text),  # JSON: cash that the virtual page of all workers gave to each active one
    Column("given_at", Float),
    Index("crawl_name", "name"),
)

worker = Table(
    "worker",
    metadata,
    Column("id", Integer, primary_key=True),  # never used again, so that the number of a lost worker stays its own
    Column("crawl_id", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("version", String, nullable=False),
    Column("state", String, nullable=False),  # active, left, lost
    Column("joined_at", Float, nullable=False),  # by the clock of the server, as every time of this table
    Column("beat_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("granted", BigInteger, nullable=False, server_default="0"),  # pulls of the page budget; 0 if there is none
    Column("used", BigInteger, nullable=False, server_default="0"),
    Column("pages", BigInteger, nullable=False, server_default="0"),
    Column("leases", Integer, nullable=False, server_default="0"),
    Column("best_index", Float),  # null = it has nothing to fetch
    Column("is_hungry", Boolean, nullable=False, server_default=false()),
    Column("status", Text),  # JSON
    Index("worker_of_crawl", "crawl_id", "state"),
    sqlite_autoincrement=True,
)

crawler_setting = Table(
    "crawler_setting",
    metadata,
    Column("crawl_id", Integer, primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", Text),
)


@writes(crawler_setting, UPSERT)
class SettingRow(NamedTuple):
    """A setting of a crawl, or a value that is stored like one."""

    crawl_id: int
    name: str
    value: str


@writes(crawler_setting, DELETE)
class LostSetting(NamedTuple):
    """A deleted setting of a crawl."""

    crawl_id: int
    name: str


seed = Table(
    "seed",
    metadata,
    Column("id", Integer, primary_key=True),  # the number by which commands refer to it
    Column("site", String, nullable=False, unique=True),  # scheme://host[:port]
    Column("name", Text),  # full name
    Column("start_url", Text, nullable=False),  # the page on level 0
    Column("short_name", Text),
    Column("enabled", Boolean, nullable=False, server_default=true()),  # whether harvests include it by default
    Column("parallel", Integer),  # limits; null = as in the settings
    Column("max_level", Integer),
    Column("delay_s", Float),
    Column("language", String),  # of its articles, ISO 639
    Column("region", Text),
    Column("hosts", Text),  # further hosts with pages of it, separated by spaces
    Column("is_found", Boolean, nullable=False, server_default=false()),  # discovered by a crawl, not named by a person
)


@writes(
    seed,
    INSERT_NEW,
    columns=("site", "start_url", "enabled", "is_found"),
    select="SELECT site, start_url, false, true FROM ({rows}) AS r",
)
class FoundSeed(NamedTuple):
    """A site that a crawl discovered, unless it is a seed already."""

    site: str
    start_url: str


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
    Column("robots_status", Integer),  # HTTP status of robots.txt; 0 = unreachable; null = not requested yet
    Column("robots_text", Text),
    Column("robots_at", Float),
    Column("availability", Text),  # null = available; otherwise why its home page can't be loaded
    Column("certificate", Text),  # what is wrong with the one by which it answers over TLS; null = nothing is known
    Column("start_url", Text),  # null = the site's root
    Column("rules", Text),  # fingerprint of the URL rules by which its waiting pages are queued
    Column("is_open", Boolean, nullable=False, server_default=true()),  # included in the latest run
    Column("rest_until", Float),  # nothing is requested until then: the host wishes that, or could not be reached
    Column("folder", Text),  # /path/ below which the crawl stays; null = the whole site
    Column("aliases", Text),  # further addresses of its pages in the latest host list, separated by spaces
    Column("home_addresses", Text),  # addresses to which its home page redirects, in order; the last one is crawled
    Column("selection", Text),  # fingerprint of folder, addresses and patterns by which its waiting pages were selected
    Column("worker_id", Integer),  # the worker that holds it; null = nobody
    Column("source_id", Integer),  # the site that leads its source, which one worker holds as a whole; null = itself
    Column("asked_at", Float),  # requests may have been sent to it until then; set when a worker gives it up
    # JSON: the numbers to which the values of its pages in an order with scores are relative, if they are those of a
    # worker that holds it no longer
    Column("base", Text),
    Index("site_of_crawl", "crawl_id", "site", unique=True),
    Index("site_of_name", "site", "id"),  # the latest crawl of a site
    Index("site_of_worker", "crawl_id", "worker_id", "id"),
    Index(
        "site_of_source",
        "source_id",
        sqlite_where=text("source_id IS NOT NULL"),
        postgresql_where=text("source_id IS NOT NULL"),
    ),
)


@writes(
    site,
    INSERT_NEW,
    columns=(
        *("id", "crawl_id", "seed_id", "site", "parallel", "max_level", "delay_s", "start_url", "worker_id"),
        "source_id",
    ),
    select="""
        SELECT * FROM (
            SELECT r.id, r.crawl_id, seed.id, r.site, r.parallel, r.max_level, r.delay_s, r.start_url, r.worker_id,
                first.id
            FROM ({rows}) AS r JOIN seed ON seed.site = r.site
            LEFT JOIN site AS first
                ON first.crawl_id = r.crawl_id AND first.site = r.leader AND first.is_open AND first.id <> r.id
            ORDER BY r.site
        ) AS found""",
)
class FoundSite(NamedTuple):
    """A site that a worker discovered and, if it is alone, holds; it must be a seed. Ignored if it is known.

    *leader* is the name of the site that leads its source, if it is one of the crawl.
    """

    id: int
    crawl_id: int
    site: str
    parallel: int
    max_level: int | None
    delay_s: float
    start_url: str | None
    worker_id: int | None
    leader: str | None = None


@writes(site, UPDATE)
class SiteRobots(NamedTuple):
    """The robots.txt of a site."""

    id: int
    robots_status: int
    robots_text: str | None
    robots_at: float


@writes(site, UPDATE)
class SiteAvailability(NamedTuple):
    """Whether a site's home page can be loaded."""

    id: int
    availability: str | None


@writes(site, UPDATE)
class SiteCertificate(NamedTuple):
    """What is wrong with the certificate of a site."""

    id: int
    certificate: str | None


@writes(site, UPDATE)
class SiteRest(NamedTuple):
    """A pause that a host has requested, or the wait before the next attempt to reach it."""

    id: int
    rest_until: float | None


@writes(site, UPDATE)
class ClaimedSite(NamedTuple):
    """A site that a worker holds."""

    id: int
    worker_id: int


@writes(site, UPDATE)
class GivenUpSite(NamedTuple):
    """A site that its worker holds no longer; the times are those of its politeness gate."""

    id: int
    asked_at: float | None  # when the last request was sent
    rest_until: float | None
    worker_id: int | None = None


def free_sources(connection: Connection, rows: Sequence[GivenUpSource]) -> None:
    """Let nobody hold the sites of the sources of *rows*."""
    leaders = [row.id for row in rows]
    connection.execute(update(site).where(site.c.source_id.in_(leaders)).values(worker_id=None))


@written_by(site, UPDATE, free_sources)
class GivenUpSource(NamedTuple):
    """A source whose leading site was given up; its worker may have claimed sites of it that it has not opened."""

    id: int  # of the leading site


@writes(site, UPDATE)
class SiteBase(NamedTuple):
    """The numbers to which the values of a site's pages are relative; null: those of the worker that holds it."""

    id: int
    base: str | None


@writes(site, UPDATE)
class SiteHome(NamedTuple):
    """The addresses (scheme://host[:port]) to which a site's home page redirects, in order, separated by spaces."""

    id: int
    home_addresses: str


@writes(site, UPDATE)
class SiteRules(NamedTuple):
    """The URL rules by which a site's waiting pages are queued; None = they are not queued by rules yet."""

    id: int
    rules: str | None


class SeedHostRow(NamedTuple):
    """A host that a person named, in a crawl."""

    crawl_id: int
    host: Name
    networks: str  # where it was first found, separated by commas; empty: it was public once, and stays so


seed_host = table(
    *("seed_host", metadata, SeedHostRow, UPSERT, Index("seed_host_of_name", "host")), key=2, sqlite_with_rowid=False
)


@writes(seed_host, INSERT_NEW)
class PrivateSeedHost(NamedTuple):
    """A host in private networks, unless another worker was the first to find it."""

    crawl_id: int
    host: str
    networks: str


page = Table(
    "page",
    metadata,
    Column("id", ROW_ID, primary_key=True, autoincrement=False),
    Column("site_id", Integer, nullable=False),
    Column("key", BigInteger, nullable=False),
    Column("url", Text, nullable=False),
    Column("variant", SmallInteger, nullable=False),  # rank of `url` among the URL variants of its key
    Column("level", Integer, nullable=False),
    Column("hops", SmallInteger, nullable=False),  # redirects followed within the level
    Column("priority", Float, nullable=False),  # by the page order; the lowest is fetched first
    Column("state", SmallInteger, nullable=False),  # items.State
    Column("reason", Text),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("request", Text),  # JSON of a Scrapy request that consists of more than a URL
    Column("found_on", BigInteger),  # the page that linked to it first; not part of any result
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
    Column("duplicates", Integer, nullable=False, server_default="0"),  # number of deleted rows of equal pages
    Column("link_group", SmallInteger, nullable=False, server_default="0"),  # its queue; 0 = URLs without a group
    Column("etag", Text),  # for conditional requests of the next visit
    Column("last_modified", Text),  # for conditional requests, too
    Column("retry_at", Float),  # of a page that waits for another attempt
    Column("latency_s", Float),  # from the request to the head of the response
    Column("is_indexable", Boolean),  # of a page that was read, as far as it says; null = not known
    Index("page_key", "site_id", "key", unique=True),
    Index("page_of_site", "site_id", "state", "level", "id"),  # what reports count and list
    Index(  # the copies of a page
        "page_of_content",
        "site_id",
        "content_hash",
        sqlite_where=text("state = 1"),
        postgresql_where=text("state = 1"),
    ),
    # Pages of a news crawl that look like articles but are not documents.
    Index(
        "page_without_document",
        "fetched_at",
        sqlite_where=text("state = 1 AND reason IS NOT NULL"),
        postgresql_where=text("state = 1 AND reason IS NOT NULL"),
    ),
    Index(
        "page_retry",
        "site_id",
        sqlite_where=text("state = 0 AND retry_at IS NOT NULL"),
        postgresql_where=text("state = 0 AND retry_at IS NOT NULL"),
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


@writes(page, INSERT)
class NewPage(NamedTuple):
    """A page that was just discovered."""

    id: int
    site_id: int
    key: int
    url: str
    variant: int
    level: int
    hops: int
    priority: float
    state: int
    reason: str | None
    request: str | None
    found_on: int | None
    found_at: float
    state_at: float
    link_group: int


@writes(page, UPDATE)
class WaitingPage(NamedTuple):
    """A page that waits again; or a waiting page that was found at a lower level or by a better URL variant."""

    id: int
    url: str
    variant: int
    level: int
    hops: int
    priority: float
    state: int
    reason: str | None
    attempts: int
    request: str | None
    state_at: float
    retry_at: float | None = None


@writes(page, UPDATE)
class EndedPage(NamedTuple):
    """A page that was fetched, or will not be fetched."""

    id: int
    state: int
    reason: str | None
    attempts: int
    fetched_at: float | None
    state_at: float
    status: int | None
    moved_to: int | None
    content_hash: str | None
    content_signature: int | None
    title: str | None
    canonical: str | None
    content_type: str | None
    size_bytes: int
    etag: str | None
    last_modified: str | None
    retry_at: float | None = None
    latency_s: float | None = None
    is_indexable: bool | None = None


@writes(page, UPDATE)
class UnchangedPage(NamedTuple):
    """A page that a revisit found unchanged."""

    id: int
    reason: str | None
    fetched_at: float | None
    etag: str | None
    last_modified: str | None


PageUpdate = WaitingPage | EndedPage | UnchangedPage


class LinkRow(NamedTuple):
    """The number of links from one page to another."""

    source_id: BigInt
    target_id: BigInt
    count: int  # type: ignore[assignment]  # hides the method of tuples


link = table("link", metadata, LinkRow, INSERT, key=2, sqlite_with_rowid=False)


@writes(
    link,
    INSERT,
    columns=LinkRow._fields,
    # The LIMIT keeps SQLite from parsing the row again for each of its targets. The few targets with several links
    # come last because this fills the B-tree's pages better: 12.8 bytes per link instead of 13.8.
    select={
        "sqlite": """
            SELECT source_id, CAST(t.key AS INTEGER), t.value
            FROM ({rows} LIMIT -1) AS r, json_each(r.targets) AS t ORDER BY t.value > 1, 1, 2""",
        "postgresql": """
            SELECT source_id, t.key::bigint, t.value::integer FROM ({rows}) AS r, jsonb_each_text(r.targets) AS t""",
    },
)
class PageLinks(NamedTuple):
    """The numbers of links from a page to each other page; takes a third of the time of one row per link."""

    source_id: int
    targets: dict[int, int]


class LinkAnchorRow(NamedTuple):
    """The text of the first link from one page to another that may turn out to be broken."""

    source_id: BigInt
    target_id: BigInt
    anchor: str


link_anchor = table("link_anchor", metadata, LinkAnchorRow, UPSERT, key=2, sqlite_with_rowid=False)


class LinkGroupRow(NamedTuple):
    """A queue of a site's links."""

    site_id: int
    number: SmallInt  # from 1, in order of appearance
    name: str  # the position of its links on pages, and the pattern of their URLs


link_group = table("link_group", metadata, LinkGroupRow, INSERT, key=2, sqlite_with_rowid=False)


class LinkFeaturesRow(NamedTuple):
    """The features of the link by which a page was found, from which its value is learnt."""

    page_id: RowId
    features: str  # their numbers, of 24 bits each, little-endian, in base64


link_features = table("link_features", metadata, LinkFeaturesRow, UPSERT, key=1)


class ExternalUrlRow(NamedTuple):
    """A URL of a site that is not part of the crawl."""

    id: RowId  # 64-bit hash of the URL, so that no look-up is needed
    site: Name  # scheme://host[:port]
    url: str
    # Of its normal form, which all URL variants share.
    key: Annotated[int, BigInteger(), DefaultClause("0")]


external_url = table("external_url", metadata, ExternalUrlRow, INSERT_NEW, key=1)


class LinkContextRow(NamedTuple):
    """The texts of a link and its position on the page."""

    id: RowId  # 64-bit hash of the row's texts
    anchor: str
    context: str
    position: str
    rel: str
    tag: str


link_context = table("link_context", metadata, LinkContextRow, INSERT_NEW, key=1)


class ExternalLinkRow(NamedTuple):
    """The number of links in one context from a page to an external URL."""

    page_id: BigInt
    url_id: BigInt
    context_id: BigInt
    count: int  # type: ignore[assignment]  # hides the method of tuples


external_link = table("external_link", metadata, ExternalLinkRow, INSERT_NEW, key=3, sqlite_with_rowid=False)


class CountedKeyRow(NamedTuple):
    """The keys that a site was already rewarded for: of external URLs, or of hosts if these are the reward."""

    site_id: int
    key: BigInt


counted_key = table("counted_key", metadata, CountedKeyRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class PullRow(NamedTuple):
    """One download of a crawl that counts rewards; rules resume from these rows."""

    site_id: int
    page_id: BigInt
    reward: float
    ended_at: float
    worker_id: int | None = None


pull = table(
    "pull",
    metadata,
    PullRow,
    INSERT,
    Index("pull_of_site", "site_id", "id"),
    Index("pull_of_worker", "worker_id", "id"),
    number=Column("id", ROW_ID, primary_key=True),  # in the order of completion
)


class BadLinkRow(NamedTuple):
    """The links of a page with one text that is not a valid URL."""

    page_id: BigInt
    raw: str
    reason: str
    count: Annotated[int, Integer(), DefaultClause("1")]  # type: ignore[assignment]  # hides the method of tuples
    anchor: str | None  # of the first one; null if it is in no table of broken links


bad_link = table("bad_link", metadata, BadLinkRow, INSERT, Index("bad_link_page", "page_id"))


@writes(bad_link, DELETE)
class OutdatedBadLinks(NamedTuple):
    """The bad links of a page that an earlier visit found."""

    page_id: int
