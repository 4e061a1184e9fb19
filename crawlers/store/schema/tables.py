"""The tables of the store.

A page belongs to a *site*, and a site is a seed within one crawl: two crawls of the same seed share no
pages, so each is a snapshot. Link rows consist of integers. Page numbers are reserved in blocks (`id_block`),
so that links can refer to a page before its row is committed.

Tables whose rows are written completely are derived from their row types; see `schema.rows`.

The URLs that sitemaps list (see `crawl.site_files`) are compared with the pages of their sites, and never become
pages: a graph is made of links.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    bindparam,
    delete,
    event,
    false,
    insert,
    select,
    true,
    update,
)

from crawlers.store.schema.rows import (
    ABOUT,
    DELETE,
    INSERT,
    INSERT_NEW,
    ROW_ID,
    UPDATE,
    UPSERT,
    VISITS,
    BigInt,
    Hash,
    Name,
    Row,
    RowId,
    SmallInt,
    WholeFloat,
    partial_index,
    table,
    writes,
    written_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


metadata = MetaData()

SCHEMA_VERSION = 10  # of the tables, and of the meaning of what they hold: a store of another number is not opened

schema_version = Table(
    "schema_version",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False, doc="of the tables, and of what they mean"),
    info={ABOUT: "One row: a program that needs other tables refuses the store, and leaves it as it is."},
)

id_block = Table(
    "id_block",
    metadata,
    Column("name", String, primary_key=True, doc="the table: `page`, `site`"),
    Column("next", ROW_ID, nullable=False, doc="next free number"),
    info={ABOUT: "Which numbers of pages and sites are taken: they are reserved in blocks."},
)


@event.listens_for(metadata, "after_create")
def _insert_first_rows(_metadata: MetaData, connection: Connection, tables: Sequence[Table], **_: object) -> None:
    if schema_version not in tables:
        return  # those of a mission were added
    connection.execute(insert(schema_version).values(number=SCHEMA_VERSION))
    # They are there from the start: two processes that both make one would get in each other's way.
    connection.execute(insert(id_block), [{"name": name, "next": 1} for name in ("page", "site")])


crawl = Table(
    "crawl",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, doc="setting `CRAWL`, or the name of the spider"),
    Column("mission", String, nullable=False, doc="name of the spider"),
    Column("state", String, nullable=False, doc="`running` (also one that was killed), `interrupted`, `finished`"),
    Column("started_at", Float, nullable=False, doc="when it began"),
    Column("ended_at", Float, doc="when its latest run ended"),
    Column("reason", Text, doc="why its latest run ended: `finished`, `timeout`, `stop_file` …"),
    Column("manifest", Text, nullable=False, doc="JSON: `versions`, `settings`, `seeds`, latest `command`"),
    Column("control", String, doc="`pause` or `stop`, as people asked; NULL: to crawl"),
    Column("run_started_at", Float, doc="when its first active worker began or resumed it"),
    Column("finisher_id", Integer, doc="→ `worker.id` of the one that records the end"),
    Column("earlier_pulls", BigInteger, nullable=False, server_default="0", doc="pulls that no worker has counted"),
    Column("given", Text, doc="JSON: cash of the virtual page for each active worker"),
    Column("given_at", Float, doc="when it was given last"),
    Index("crawl_name", "name"),
    info={ABOUT: "One crawl. A finished one is followed by a new one of the same name."},
)

worker = Table(
    "worker",
    metadata,
    Column("id", Integer, primary_key=True, doc="number, never used again"),
    Column("crawl_id", Integer, nullable=False),
    Column("machine", Text, nullable=False, doc="name of its machine"),
    Column("process", Integer, nullable=False, doc="number of its process there"),
    Column("version", String, nullable=False, doc="version of this program"),
    Column("state", String, nullable=False, doc="`active`, `left`, or `lost`: it did not respond"),
    Column("joined_at", Float, nullable=False, doc="when it joined the crawl"),
    Column("beat_at", Float, nullable=False, doc="when it last stored something or exchanged reports"),
    Column("ended_at", Float, doc="when it left or was declared lost"),
    Column("granted", BigInteger, nullable=False, server_default="0", doc="pulls of the page budget that it may make"),
    Column("used", BigInteger, nullable=False, server_default="0", doc="pulls that it has made and stored"),
    Column("pages", BigInteger, nullable=False, server_default="0", doc="URLs whose results it has stored"),
    Column("leases", Integer, nullable=False, server_default="0", doc="URLs in flight at its last report"),
    Column("best_index", Float, doc="of its sites under the rule; NULL: nothing to fetch"),
    Column("is_idle", Boolean, nullable=False, server_default=false(), doc="had nothing to do at its last report"),
    Column("status", Text, doc="JSON: what commands show of it"),
    Index("worker_of_crawl", "crawl_id", "state"),
    sqlite_autoincrement=True,
    info={ABOUT: "One process of a crawl. Times are those of the server, or of the machine with SQLite."},
)

crawler_setting = Table(
    "crawler_setting",
    metadata,
    Column("crawl_id", Integer, primary_key=True),
    Column("name", String, primary_key=True, doc="the setting, or a value stored like one: `DELETED_LINKS`"),
    Column("value", Text, doc="its value"),
    info={ABOUT: "One setting of a crawl."},
)


@writes(crawler_setting, UPSERT)
class SettingRow(NamedTuple):
    """A setting of a crawl, or a value that is stored like one."""

    crawl_id: int
    name: str
    value: str


seed = Table(
    "seed",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("site", String, nullable=False, unique=True),
    Column("name", Text, doc="full name"),
    Column("start_url", Text, nullable=False, doc="the page on level 0"),
    Column("short_name", Text, doc="short identifier, used in commands"),
    Column("enabled", Boolean, nullable=False, server_default=true(), doc="crawled by harvests without a list"),
    Column("parallel", Integer, doc="downloads at a time; NULL: by the settings"),
    Column("max_level", Integer, doc="deepest level that is fetched; NULL: by the settings"),
    Column("delay_s", Float, doc="seconds between the starts of two downloads; NULL: by the settings"),
    Column("language", String, doc="language of its articles, ISO 639"),
    Column("region", Text, doc="country or region, free text"),
    Column("hosts", Text, doc="other hosts whose pages belong to it, separated by spaces"),
    Column("is_found", Boolean, nullable=False, server_default=false(), doc="discovered by a crawl"),
    info={ABOUT: "One site that was ever listed. Seeds belong to no crawl; `scrapy sites` manages them."},
)


@writes(
    seed,
    INSERT_NEW,
    columns=("site", "start_url", "enabled", "is_found"),
    select="SELECT site, start_url, false, true FROM ({rows}) AS r",
)
class DiscoveredSeed(NamedTuple):
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
    Column("max_level", Integer, doc="deepest level that is fetched; NULL: no limit"),
    Column("delay_s", Float, nullable=False),
    Column("robots_status", Integer, doc="HTTP status of robots.txt; 0: unreachable; NULL: not fetched yet"),
    Column("robots_text", Text, doc="text of robots.txt"),
    Column("robots_at", Float, doc="when it was fetched"),
    Column("availability", Text, doc="why its home page can't be loaded, a [reason](states.md#reasons); NULL: it can"),
    Column("certificate", Text, doc="problem of its certificate, a [reason](states.md#reasons); NULL: nothing known"),
    Column("start_url", Text, doc="the page on level 0; NULL: the root of the site"),
    Column("rules", Text, doc="fingerprint of the URL rules that queued its waiting pages"),
    Column("is_open", Boolean, nullable=False, server_default=true(), doc="whether the latest run crawls it"),
    Column("rest_until", Float, doc="nothing is requested before: status 429 or 503, or not reachable"),
    Column("folder", Text, doc="path below which the crawl stays; NULL: the whole site"),
    Column("aliases", Text, doc="further addresses by the latest list, separated by spaces"),
    Column("home_addresses", Text, doc="addresses its home page redirects to, the crawled one last"),
    Column("selection", Text, doc="fingerprint of what selected its waiting pages; NULL: nothing"),
    Column("worker_id", Integer, doc="→ `worker.id` of the one that holds it; NULL: nobody"),
    Column("source_id", Integer, doc="→ `site.id` of the leader of its source; NULL: itself"),
    Column("asked_at", Float, doc="requests may have been sent until then, when a worker gave it up"),
    Column("base", Text, doc="JSON: base of the scores of its pages; NULL: that of its worker"),
    Index("site_of_crawl", "crawl_id", "site", unique=True),
    Index("site_of_name", "site", "id"),  # the latest crawl of a site
    Index("site_of_worker", "crawl_id", "worker_id", "id"),
    partial_index("site_of_source", "source_id", where="source_id IS NOT NULL"),
    info={ABOUT: "One site within one crawl. Two crawls of one seed share no page, so each is a picture of its time."},
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
class DiscoveredSite(NamedTuple):
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
class SiteRelease(NamedTuple):
    """A site that its worker holds no longer; the times are those of its politeness gate."""

    id: int
    asked_at: float | None  # when the last request was sent
    rest_until: float | None
    worker_id: int | None = None


def free_sources(connection: Connection, rows: Sequence[SourceRelease]) -> None:
    """Let nobody hold the sites of the sources of *rows*."""
    leaders = [row.id for row in rows]
    connection.execute(update(site).where(site.c.source_id.in_(leaders)).values(worker_id=None))


@written_by(site, UPDATE, free_sources)
class SourceRelease(NamedTuple):
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
    host: Annotated[Name, "its name"]
    networks: Annotated[str, "private ones where it was first found; empty: it was public"]


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
    Column("key", BigInteger, nullable=False, doc="60-bit hash of the normal form of the URL"),
    Column("url", Text, nullable=False, doc="the URL that is requested, without fragment"),
    Column("variant", SmallInteger, nullable=False, doc="rank of `url` among the variants of its key"),
    Column("level", Integer, nullable=False, doc="least number of clicks from the start URL"),
    Column("hops", SmallInteger, nullable=False, doc="redirects followed within the level"),
    Column("priority", Float, nullable=False, doc="by the page order; the least is fetched first"),
    Column("state", SmallInteger, nullable=False, doc="see below"),
    Column("reason", Text, doc="why it is in that state, or became no document: a [reason](states.md#reasons)"),
    Column("attempts", SmallInteger, nullable=False, server_default="0", doc="downloads, also failed ones"),
    Column("request", Text, doc="JSON of a request that is more than a URL"),
    Column("found_on", BigInteger, doc="→ `page.id` of the first page with a link to it; not a result"),
    Column("found_at", Float, nullable=False, doc="when it was found"),
    Column("fetched_at", Float, doc="when it was requested last"),
    Column("state_at", Float, nullable=False, doc="when it got its state"),
    Column("status", SmallInteger),
    Column("moved_to", BigInteger, doc="→ `page.id` of the target of a redirect"),
    Column("content_hash", String(32), doc="of the body, 128 bits, hexadecimal"),
    Column("content_signature", BigInteger, doc="hash of the text without numbers, for pages that may be in a trap"),
    Column("title", Text),
    Column("canonical", Text, doc="canonical URL that the page names"),
    Column("content_type", Text, doc="header Content-Type"),
    Column("size_bytes", BigInteger, doc="size of the body"),
    Column("duplicates", Integer, nullable=False, server_default="0", doc="deleted rows of equal pages"),
    Column("etag", Text, doc="header ETag, for the next visit"),
    Column("last_modified", Text, doc="header Last-Modified, for the next visit"),
    Column("retry_at", Float, doc="when it is requested again after a failure"),
    Column("latency_s", Float, doc="seconds from the request to the head of the response"),
    Column("is_indexable", Boolean, doc="whether search engines may have it; NULL: not known"),
    Index("page_key", "site_id", "key", unique=True),
    Index("page_of_site", "site_id", "state", "level", "id"),  # what reports count and list
    partial_index("page_of_content", "site_id", "content_hash", where="state = 1"),  # the copies of a page
    # Pages of a news crawl that look like articles but are not documents.
    partial_index("page_without_document", "fetched_at", where="state = 1 AND reason IS NOT NULL"),
    partial_index("page_retry", "site_id", where="state = 0 AND retry_at IS NOT NULL"),
    partial_index("page_waiting", "site_id", "priority", "id", where="state = 0"),
    info={ABOUT: "One URL of a site, in any state. Redirects and duplicates have rows of their own."},
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
    anchor: Annotated[str, "the text of the link"]


link_anchor = table("link_anchor", metadata, LinkAnchorRow, UPSERT, key=2, sqlite_with_rowid=False)


class LinkFeaturesRow(NamedTuple):
    """The features of the link by which a page was found, from which its value is learnt."""

    page_id: RowId
    features: Annotated[str, "their numbers, 24 bits each, little-endian, in base64"]


link_features = table("link_features", metadata, LinkFeaturesRow, UPSERT, key=1)


class ExternalUrlRow(NamedTuple):
    """A URL of a site that is not part of the crawl."""

    id: Annotated[RowId, "64-bit hash of the URL"]
    site: Name
    url: Annotated[str, "the URL as it was found"]
    key: Annotated[Annotated[int, BigInteger(), DefaultClause("0")], "hash of its normal form"]


external_url = table("external_url", metadata, ExternalUrlRow, INSERT_NEW, key=1)


class LinkContextRow(NamedTuple):
    """The texts of a link and its position on the page."""

    id: Annotated[RowId, "64-bit hash of the texts"]
    anchor: Annotated[str, "text of the link"]
    context: Annotated[str, "the anchor with the text around it"]
    position: Annotated[str, "`nav`, `header`, `footer`, `main`, `aside`, or empty"]
    rel: Annotated[str, "attribute `rel`"]
    tag: Annotated[str, "element: `a`, `area`, …"]


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
    key: Annotated[BigInt, "hash of an external URL, or of a host with `REWARD=new_hosts`"]


counted_key = table("counted_key", metadata, CountedKeyRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class PullRow(NamedTuple):
    """One download of a crawl that counts rewards; rules resume from these rows."""

    site_id: int
    page_id: BigInt
    reward: Annotated[float, "by `REWARD`, or as the mission counts it"]
    ended_at: Annotated[float, "when it ended"]
    worker_id: Annotated[int | None, "→ `worker.id`"] = None


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
    raw: Annotated[str, "the link as it is written"]
    reason: Annotated[str, "why it can't be followed, a [reason](states.md#reasons) such as `other_scheme mailto`"]
    count: Annotated[Annotated[int, Integer(), DefaultClause("1")], "number of these links"]  # type: ignore[assignment]  # hides the method of tuples
    anchor: Annotated[str | None, "text of the first one; NULL: it is in no table of broken links"]


bad_link = table("bad_link", metadata, BadLinkRow, INSERT, Index("bad_link_page", "page_id"))


@writes(bad_link, DELETE)
class OutdatedBadLinks(NamedTuple):
    """The bad links of a page that an earlier visit found."""

    page_id: int


class SitemapState(IntEnum):
    """What became of a sitemap."""

    WAITING = 0
    READ = 1
    UNREAD = 2  # for a reason


class SitemapRow(NamedTuple):
    """A sitemap, or an index of sitemaps, that a site has, or may have."""

    site_id: int
    key: Annotated[BigInt, "hash of `url`"]
    url: Annotated[str, "where it was requested"]
    address: Annotated[Name, "`scheme://host[:port]` at which the site was crawled then"]
    number: Annotated[int, "order in which those of an address are read"]
    index_key: Annotated[BigInt | None, "→ `sitemap.key` of the index that names it; NULL: none"]
    state: Annotated[SmallInt, "0: it waits; 1: read; 2: not read"]
    status: Annotated[SmallInt | None, "HTTP status; NULL: no response, or not requested"] = None
    kind: Annotated[Name | None, "`sitemap`, `news sitemap`, `sitemap index`, `rss`, `atom`, `json`"] = None
    reason: Annotated[str | None, "why it was not read, or not all of it, a [reason](states.md#reasons)"] = None
    urls: Annotated[int, "URLs of the site that it lists"] = 0
    outside: Annotated[int, "URLs of other sites, and those that the crawl leaves out"] = 0
    cut: Annotated[int, "URLs or sitemaps that a limit left out"] = 0
    read_at: Annotated[float | None, "when it was requested"] = None


sitemap = table("sitemap", metadata, SitemapRow, UPSERT, key=2, sqlite_with_rowid=False)


class SitemapUrlRow(NamedTuple):
    """A URL of a site that its sitemaps list."""

    site_id: int
    key: Annotated[BigInt, "→ `page.key` of the page with the same normal form"]
    url: Annotated[str, "the URL as it is listed"]
    sitemap_key: Annotated[BigInt, "→ `sitemap.key` of the first that lists it"]
    modified_at: Annotated[float | None, "last change, or publication, as listed"]


sitemap_url = table("sitemap_url", metadata, SitemapUrlRow, INSERT_NEW, key=2, sqlite_with_rowid=False)


class PageChangeRow(NamedTuple):
    """An earlier version of a page that a revisit found changed; it was last seen at `last_seen`."""

    page_id: BigInt
    changed_at: Annotated[float, "when the change was seen"]
    last_seen: Annotated[float | None, "when the page was last seen as this row says"]
    state: Annotated[SmallInt, "state until then"]
    status: Annotated[SmallInt | None, "HTTP status until then"]
    content_hash: Annotated[Hash | None, "hash of the body until then"]


page_change = table("page_change", metadata, PageChangeRow, INSERT, key=2, sqlite_with_rowid=False)


class LinkChangeRow(NamedTuple):
    """An earlier count of a link; 0 = the link did not exist, and was first seen at `changed_at`."""

    source_id: BigInt
    target_id: BigInt
    changed_at: Annotated[float, "when the change was seen"]
    last_seen: Annotated[float | None, "when the link was last seen as this row says"]
    count: Annotated[int, "links until then; 0: none"]  # type: ignore[assignment]  # hides the method of tuples


link_change = table("link_change", metadata, LinkChangeRow, INSERT, key=3, sqlite_with_rowid=False)

SCORE_ROWS: dict[str, type[Any]] = {}  # the row types of the orders, by table name
REVISITED: list[Table] = []  # the tables of orders by which pages are fetched again


def score_table(name: str, kind: type[Row], *, revisits: bool = True, visits: str | None = None) -> Table:
    """Return the table of an order's pages: the queue and score of each page, and the values behind it.

    The first fields of *kind* are the same for all orders: `page_id`; `site_id`; `queue`, where 0 = never fetched,
    1 = waits for a revisit, -1 = neither; `score`, as of its last increase: the page with the highest score of a queue
    is next.

    If pages are fetched again at times that the mission says, the table *visits* has these: `due_at`, and `polled_at`
    of the visit before.
    """
    made = table(name, metadata, kind, UPSERT, key=1)
    if visits is not None:
        made.info[VISITS] = visits
    if revisits:
        REVISITED.append(made)
    Index(f"{name}_waiting", made.c.site_id, made.c.queue, made.c.score.desc(), made.c.page_id)
    SCORE_ROWS[name] = kind
    return made


class ImportanceRow(NamedTuple):
    """The values of AOPIC."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    cash: Annotated[float, "what it holds, less the share of the virtual page"]
    history: Annotated[float, "cash that passed through it"]
    visited: Annotated[float, "tick of its latest visit"]
    alias: Annotated[WholeFloat, "→ `page.id` of the page that gets its cash; 0: itself"]


importance = score_table("importance", ImportanceRow)


class LinkTextRow(NamedTuple):
    """The texts of internal links."""

    source_id: BigInt
    target_id: BigInt
    context_id: BigInt


link_text = table("link_text", metadata, LinkTextRow, INSERT_NEW, key=3, sqlite_with_rowid=False)


class OrderTotalsRow(NamedTuple):
    """The totals of an order over all pages, or over those of a worker."""

    crawl_id: int
    worker_id: Annotated[int, "→ `worker.id`; 0: all pages"]
    totals: Annotated[str, "JSON"]
    base: Annotated[str, "JSON: base of the scores of these pages"]


order_totals = table("order_totals", metadata, OrderTotalsRow, UPSERT, key=2)


@writes(order_totals, DELETE)
class EndedTotals(NamedTuple):
    """The totals of a worker that ended, if a later one continues alone."""

    crawl_id: int
    worker_id: int


message = Table(
    "message",
    metadata,
    Column("id", ROW_ID, primary_key=True),
    Column("crawl_id", Integer, nullable=False),
    Column("site_id", Integer, nullable=False, doc="→ `site.id` of the target"),
    Column("source_id", BigInteger, nullable=False, doc="→ `page.id` of the page with the link; 0: robots.txt"),
    Column("target_id", BigInteger, doc="→ `page.id` of the target, if the sender knows it"),
    Column("key", BigInteger, nullable=False, doc="→ `page.key` of the target"),
    Column("url", Text, nullable=False, doc="URL of the target"),
    Column("level", Integer, nullable=False, doc="clicks from the root to the target"),
    Column("hops", SmallInteger, nullable=False, doc="redirects within this level"),
    Column("count", Integer, nullable=False, doc="links to be stored; 0: none"),
    Column("value", Float, nullable=False, doc="of the link"),
    Column("carried", Float, nullable=False, doc="cash, or the logarithm of a TimelyRank"),
    Column("sent_at", Float, nullable=False, doc="when the page was read"),
    Column("details", Text, doc="JSON: what few links have, such as texts"),
    Index("message_of_site", "crawl_id", "site_id", "id"),
    Index("message_of_page", "source_id"),
    info={ABOUT: "A link to a page of a site that another worker holds, or nobody, until its holder has stored it."},
)
message.add_is_dependent_on(site)  # a site and the first message to it may be found by one page
message.add_is_dependent_on(page)  # a page that is found and fetched within one batch may send itself a message


def _drop_old_links(connection: Connection, rows: Sequence[ChangedLinks]) -> None:
    kept = {row.source_id: set(row.kept) for row in rows}
    sources = list(kept)
    # Whoever is taking a message up ends first, and finds nothing to store afterwards. In the order of `ReceivedLink`.
    sent = (message.c.source_id.in_(sources), message.c.count > 0)
    connection.execute(select(message.c.id).where(*sent).order_by(message.c.id).with_for_update())
    connection.execute(update(message).where(*sent).values(count=0))
    stored = connection.execute(select(link.c.source_id, link.c.target_id).where(link.c.source_id.in_(sources))).all()
    gone = [{"source": source, "target": target} for source, target in stored if target not in kept[source]]
    if gone:
        of_link = (link.c.source_id == bindparam("source"), link.c.target_id == bindparam("target"))
        connection.execute(delete(link).where(*of_link), gone)


@written_by(link, DELETE, _drop_old_links)
class ChangedLinks(NamedTuple):
    """The targets to which a page that was found changed has as many links as before: its other links are no more.

    That includes links that are in messages, or were stored by another worker since the previous visit was read.
    """

    source_id: int
    kept: list[int]
