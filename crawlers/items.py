"""The values that all packages share: pages, links, sites, articles.

Nothing here computes, and all values are frozen. Many of them exist once per link, so the small ones are named tuples,
which are created in a third of the time of a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict

from crawlers.reasons import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class State(IntEnum):
    """The state of a URL; the store has its number, people see its name."""

    about: str

    def __new__(cls, number: int, about: str = "") -> State:
        member = int.__new__(cls, number)
        member._value_ = number
        member.about = about
        return member

    WAITING = 0, "found, not fetched yet"  # or the process died before the commit
    DONE = 1, "an HTML page with status 200: a node of the graph, or a duplicate of one"
    MOVED = 2, "a redirect within the site; the final URL takes its place"
    REFUSED = 3, "answered, but not with a page: another status, another content type, too large, another site"
    FAILED = 4, "no response after all attempts, or endless redirects"
    REJECTED = 5, "never requested: robots.txt, file extension, too deep, not selected, part of a trap"


class LinkPlace(NamedTuple):
    """What a page shows of a link."""

    position: str  # the tags of its grandparent and its parent; "": a URL that no page links to
    path: str  # its nearest ancestors, up to 6, with ids and first classes
    anchor: str  # its text


class Target(NamedTuple):
    """The resolved target of a link: the URL to request, and its identity."""

    url: str  # absolute, as found, without fragment: what is requested
    normalized: str  # the normal form, equal for all variants
    key: int  # 60-bit hash of `normalized`
    site: str  # scheme://host[:port] in lower case, without a default port


class ExternalLink(NamedTuple):
    """A link that leaves the site, with its context."""

    url: str  # absolute, as found, without fragment
    key: int  # 60-bit hash of its normal form
    site: str  # scheme://host[:port]
    anchor: str
    context: str
    position: str  # nav, header, footer, main, aside or ""
    rel: str
    tag: str


class BadLink(NamedTuple):
    """The raw text of the links of a page that can't be followed, and the reason."""

    raw: str
    reason: str
    count: int = 1  # type: ignore[assignment]  # hides the method of tuples
    anchor: str | None = None  # text of the first one; None: not requested


class Node(NamedTuple):
    """A page of a finished graph, merged with its duplicates."""

    id: int  # 1, 2, 3 … by (level, url): a function of the web alone
    url: str
    level: int
    status: int
    title: str
    in_degree: int  # number of distinct pages that link here
    out_degree: int  # number of distinct pages linked to
    external_links: int  # number of distinct external URLs linked to
    duplicates: int  # number of further URLs with the same content


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """A site to crawl: one line of hosts.txt, or a seed. *None*: the default of the settings."""

    site: str  # scheme://host[:port]
    parallel: int | None = None  # downloads at a time
    max_level: int | None = None  # deepest level fetched, inclusive
    delay_s: float | None = None  # seconds between the starts of two downloads
    start_url: str | None = None  # the page on level 0; None: the site's root
    folder: str = ""  # /path/ below which the crawl stays; "": the whole site
    aliases: tuple[str, ...] = ()  # further addresses of its pages, scheme://host[:port]
    options: Mapping[str, str] = field(default_factory=dict, hash=False)  # fields `name=value` of hosts.txt


@dataclass(frozen=True, slots=True)
class Seed:
    """A site that people chose, with its names; None: not given, or for limits the default."""

    number: int
    site: str  # scheme://host[:port]
    start_url: str
    name: str | None = None  # in full
    short_name: str | None = None
    enabled: bool = True
    parallel: int | None = None
    max_level: int | None = None
    delay_s: float | None = None
    is_found: bool = False  # discovered by a crawl


class SeedChange(TypedDict, total=False):
    """Changes of a new or known seed; missing fields keep their values."""

    site: Required[str]
    number: int | None
    start_url: str
    name: str | None
    short_name: str | None
    enabled: bool
    parallel: int | None
    max_level: int | None
    delay_s: float | None
    language: str | None
    region: str | None
    hosts: str | None


def _in_feeds(write: Callable[[Any], object]) -> dict[str, Any]:
    """Return the metadata by which Scrapy's feed exports serialise a field that JSON can't represent."""
    return {"serializer": write}


def _with_counts(links: Sequence[tuple[Target, int]]) -> list[dict[str, Any]]:
    return [{"url": target.url, "count": count} for target, count in links]


def _readable(link: ExternalLink, count: int) -> dict[str, Any]:
    fields = link._asdict()
    del fields["key"]
    return {**fields, "count": count}


class QueueSlot(NamedTuple):
    """The place of a waiting URL, under an order with several queues per site (see missions.news.plan.news_scores)."""

    queue: int
    value: float  # orders the URLs of the queue


class LinkText(NamedTuple):
    """The texts of a link."""

    key: int  # of its target
    anchor: str
    context: str  # the anchor with the text around it
    position: str
    rel: str
    tag: str


class PageAnalysis(NamedTuple):
    """The results of a page's analysis for a topic."""

    terms: Mapping[str, int]  # number of occurrences of each term
    link_values: Mapping[int, float]  # expected relevance of each link, in [0, 1], by the key of its target
    link_texts: Sequence[LinkText]


@dataclass(frozen=True, slots=True)
class Article:
    """The essential content of a news page. Texts are bounded, and empty if the page does not state them."""

    title: str
    text: str  # paragraphs, one per line
    published_at: float | None  # seconds since 1970; None: no date was found
    published: str  # ISO 8601: a day, or a time with its zone if the page gives one
    authors: tuple[str, ...]
    section: str
    language: str  # ISO 639-1
    canonical_url: str  # absolute
    image: str  # absolute
    extractor: str  # rule, json-ld or blocks
    description: str = ""  # in a sentence or two
    keywords: tuple[str, ...] = ()
    modified_at: float | None = None  # of its latest change, like the date of publication
    modified: str = ""
    is_free: bool | None = None  # False: behind a paywall; None: the page does not say


Key128 = tuple[int, int]  # the high and the low half, both signed, as databases store them
_HALF = (1 << 64) - 1


class DocumentFingerprint(NamedTuple):
    """The keys by which documents are compared; see `missions.news.dedup.document_fingerprints`."""

    domain: str
    url: Key128
    canonical: Key128 | None  # of the canonical URL of the page, if it is credible
    text: Key128
    bands: tuple[int, ...]  # of the text; near-duplicates share some, see `missions.news.dedup.min_hash`

    @property
    def text_hash(self) -> str:
        """The key of the text, in 32 hexadecimal digits."""
        return "".join(f"{half & _HALF:016x}" for half in self.text)


class CopyReason(NamedTuple):
    """Why an article is a copy of a stored document."""

    reason: str
    is_alternate_url: bool  # the page is another URL of the site for the same document


class Announced(NamedTuple):
    """An article that a feed announces."""

    target: Target
    published_at: float | None  # seconds since 1970
    title: str


LEASE = "lease"  # the key of the lease in the meta of a request
RENDER = "render"  # likewise, of whether a browser renders the page
# Likewise, of the target of a redirect, see urls.redirect_targets; and the tag of links that are redirects:
REDIRECT = "redirect"

# The signal of our handler of libcurl for a *request* whose connection stands, and which is sent now. Scrapy's own
# signal, `request_reached_downloader`, comes before names are looked up and TLS is negotiated.
REQUEST_SENT = object()

# The kinds of polled pages, in items and in the store:
FEED = "feed"
SITEMAP = "sitemap"
PAGE = "page"  # a page that shows new articles
HOME = "home"  # a start URL, which is always polled
ARTICLE = "article"  # fetched once more, to find changes
ANNOUNCERS = (FEED, SITEMAP)  # those that name articles
POLLED_LISTS = (HOME, *ANNOUNCERS)  # those that are no articles for certain

NEW, CHANGED, DUPLICATE = "new", "changed", "duplicate"  # outcomes of documents


@dataclass(frozen=True, slots=True)
class News:
    """The news in a response: a feed, a sitemap, or an article. The policy of the crawl adds the outcome."""

    kind: str = ""  # as above, if the page is (to be) polled
    fits: bool = False  # a rule classifies its URL as an article, or a feed announced it
    odds: float = 0.0  # log-odds, by its content, that it is an article
    has_date: bool = False  # its markup contains the time of publication
    announces: bool = False  # its items are articles; a plain sitemap lists all pages of a site
    items: Sequence[Announced] = ()
    feeds: Sequence[Target] = ()  # feeds and sitemaps that it names
    span_s: float | None = None  # age of the oldest item
    problem: str = ""  # what is wrong with the feed
    article: Article | None = None
    fingerprint: DocumentFingerprint | None = None  # of the article
    reason: str = ""  # why it is not a document
    is_alternate_url: bool = False  # its article is that of another URL of the site
    is_variant: bool = False  # likewise, nearly the same content, as a print version may have
    outcome: str = ""  # `NEW`, `CHANGED`, `DUPLICATE`; "": no document
    version: int = 0  # of the document, from 1
    stored_at: float = 0.0  # seconds since 1970, of this version


@dataclass(frozen=True, slots=True)
class Page:
    """The result of one fetch; an item that pipelines and feeds may read."""

    id: int  # its number in the store
    url: str
    level: int
    state: State = field(metadata=_in_feeds(lambda state: state.name.lower()))
    status: int = 0
    reason: str = field(default="", metadata=_in_feeds(sentence))
    title: str = ""
    canonical: str = ""
    content_type: str = ""
    size_bytes: int = 0
    etag: str = ""  # the server's name for this version
    last_modified: str = ""  # the time of the last change, as the server writes it
    latency_s: float | None = None  # from the request to the head of the response; None: not measured
    is_indexable: bool = True  # it does not ask search engines to leave it out, or names another canonical URL
    is_unchanged: bool = False  # the server says that nothing changed since the last visit; only the headers are known
    is_transient: bool = False  # the fetch failed, but may succeed the next time
    retry_after_s: float | None = None  # None: the host did not ask for a pause
    content_hash: bytes = field(default=b"", metadata=_in_feeds(bytes.hex))  # 16 bytes; equal for equal bodies
    content_signature: int = 0  # hash of the text without its numbers, see urls.trap_watch
    moved_to: Target | None = field(default=None, metadata=_in_feeds(lambda target: target and target.url))
    links: Sequence[tuple[Target, int]] = field(  # internal, with their number
        default=(), metadata=_in_feeds(_with_counts)
    )
    cross_site_links: Sequence[tuple[Target, int]] = field(  # to other sites in the scope of the crawl, likewise
        default=(), metadata=_in_feeds(_with_counts)
    )
    link_places: Mapping[int, LinkPlace] = field(  # places of its links, by key, if they were requested
        default_factory=dict, repr=False, metadata=_in_feeds(lambda _: None)
    )
    anchors: Mapping[int, str] | None = field(  # texts of the first link to each target, by key; None: not requested
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )
    news: News | None = field(default=None, metadata=_in_feeds(lambda _: None))
    analysis: PageAnalysis | None = field(  # None: not requested
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )
    similarity: float | None = None  # to the topic of the crawl, in [0, 1], by the pages read until now
    external: Sequence[tuple[ExternalLink, int]] = field(
        default=(),
        metadata=_in_feeds(lambda links: [_readable(link, count) for link, count in links]),
    )
    bad: Sequence[BadLink] = field(
        default=(),
        metadata=_in_feeds(lambda links: [link._asdict() | {"reason": sentence(link.reason)} for link in links]),
    )
