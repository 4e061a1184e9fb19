"""The values that all packages share: pages, links, sites, articles.

Nothing here computes, and all values are frozen. Many of them exist once per link, so the small ones are named tuples,
which are created in a third of the time of a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class State(IntEnum):
    """Where a URL is in its life; the store keeps the number, people see the name."""

    WAITING = 0  # found, not fetched yet (or fetched, and the process died before the commit)
    DONE = 1  # an HTML page with status 200: a node of the graph
    MOVED = 2  # a redirect: the final URL takes its place
    REFUSED = 3  # answered, but no page: status not 200, not HTML, too large
    FAILED = 4  # no answer after all attempts
    REJECTED = 5  # never asked for: robots, extension, too deep, trap


class Target(NamedTuple):
    """A link's target, resolved: what to ask for, and what it is known by."""

    url: str  # absolute, as found, without fragment: what is requested
    normalized: str  # the form that stands for all spellings of it
    key: int  # 60-bit hash of `normalized`
    site: str  # scheme://host[:port] in lower case, without a default port


class ExternalLink(NamedTuple):
    """A link that leaves the site, with what surrounds it."""

    url: str  # absolute, as found, without fragment
    key: int  # 60-bit hash of its normal form
    site: str  # scheme://host[:port]
    anchor: str
    context: str
    position: str  # nav, header, footer, main, aside or ""
    rel: str
    tag: str


class BadLink(NamedTuple):
    """Raw text of a link that can't be followed, and why."""

    raw: str
    reason: str


class Node(NamedTuple):
    """One page of a finished graph, duplicates folded into it."""

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
    """A site to crawl: one line of hosts.txt, or a seed. *None* means: the default of the settings."""

    site: str  # scheme://host[:port]
    parallel: int | None = None  # downloads at a time
    max_level: int | None = None  # deepest level fetched, inclusive
    delay_s: float | None = None  # seconds between the starts of two downloads
    start_url: str | None = None  # the page on level 0; None: the site's root


@dataclass(frozen=True, slots=True)
class Seed:
    """A site that people chose, with what they call it; None: not given, or for limits the default."""

    number: int
    site: str  # scheme://host[:port]
    start_url: str
    name: str | None = None  # in full
    short_name: str | None = None
    enabled: bool = True
    parallel: int | None = None
    max_level: int | None = None
    delay_s: float | None = None
    is_found: bool = False  # nobody named it: a crawl met it


class SeedChange(TypedDict, total=False):
    """What is to hold for the seed of a site, known or new; what is left out stays as it is."""

    site: Required[str]
    number: int | None
    start_url: str
    name: str | None
    short_name: str | None
    enabled: bool
    parallel: int | None
    max_level: int | None
    delay_s: float | None


def _in_feeds(write: Callable[[Any], object]) -> dict[str, Any]:
    """Metadata by which Scrapy's feed exports write a field that JSON has no form for."""
    return {"serializer": write}


class QueueSlot(NamedTuple):
    """The place of a waiting URL, under an order with several queues per site (see algorithms.ranking.news_scores)."""

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
    """The essential part of a news page. Texts are bounded, and empty where the page says nothing."""

    title: str
    text: str  # paragraphs, one a line
    published_at: float | None  # seconds since 1970; None: no date was found
    published: str  # ISO 8601: a day, or a time with its zone if the page gives one
    authors: tuple[str, ...]
    section: str
    language: str  # ISO 639-1
    canonical_url: str  # absolute
    image: str  # absolute
    extractor: str  # what found the text: rule, json-ld, trafilatura


class Simhash(NamedTuple):
    """A similarity-preserving fingerprint of a text; see `algorithms.dedup.simhash`."""

    value: int  # signed, 64 bits
    least_certain: tuple[int, ...]  # the numbers of all bits, the least certain first


Key128 = tuple[int, int]  # the high and the low half, both signed, as databases store them
_HALF = (1 << 64) - 1


class DocumentFingerprint(NamedTuple):
    """The keys by which documents are compared; see `algorithms.dedup.document_fingerprints`."""

    domain: str
    url: Key128
    canonical: Key128 | None  # of the canonical URL of the page, if it is credible
    text: Key128
    simhash: Simhash

    @property
    def text_hash(self) -> str:
        """The key of the text, in 32 hexadecimal digits."""
        return "".join(f"{half & _HALF:016x}" for half in self.text)


class KnownCopy(NamedTuple):
    """Why an article is a copy of a stored document."""

    reason: str
    is_detour: bool  # the page is another URL of the site for the same document


class Announced(NamedTuple):
    """An article that a feed announces."""

    target: Target
    published_at: float | None  # seconds since 1970
    title: str


LEASE = "lease"  # the key in a request's meta under which its lease stands
REDIRECT = "redirect"  # likewise: where the response redirects to, see algorithms.urls.redirect_targets

# The kinds of pages that come back, in items and in the store:
FEED = "feed"
SITEMAP = "sitemap"
PAGE = "page"  # that shows new articles
HOME = "home"  # a start page, which is never given up
ARTICLE = "article"  # that comes back once, to see whether it changed

NEW, CHANGED, DUPLICATE = "new", "changed", "duplicate"  # what a document is


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
    is_detour: bool = False  # its article is that of another URL of the site; URLs like this one bring nothing new
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
    reason: str = ""
    title: str = ""
    canonical: str = ""
    content_type: str = ""
    size_bytes: int = 0
    etag: str = ""  # the server's name for this version
    last_modified: str = ""  # the time of the last change, as the server writes it
    is_unchanged: bool = False  # the server says that nothing changed since the last visit; only the headers are known
    is_transient: bool = False  # the fetch failed, but may succeed the next time
    retry_after_s: float | None = None  # None: the host did not ask for a pause
    content_hash: bytes = field(default=b"", metadata=_in_feeds(bytes.hex))  # 16 bytes; equal for equal bodies
    content_signature: int = 0  # hash of the text without its numbers, see algorithms.traps
    moved_to: Target | None = field(default=None, metadata=_in_feeds(lambda target: target and target.url))
    links: Sequence[tuple[Target, int]] = field(  # internal, with their number
        default=(),
        metadata=_in_feeds(lambda links: [{"url": target.url, "count": count} for target, count in links]),
    )
    cross_site_links: Sequence[tuple[Target, int]] = field(  # to other sites in the scope of the crawl, likewise
        default=(),
        metadata=_in_feeds(lambda links: [{"url": target.url, "count": count} for target, count in links]),
    )
    link_groups: Mapping[int, str] | None = field(  # names of the groups of its links, by key; None: not requested
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )
    news: News | None = field(default=None, metadata=_in_feeds(lambda _: None))
    analysis: PageAnalysis | None = field(  # None: not requested
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )
    similarity: float | None = None  # to the topic of the crawl, in [0, 1], by the pages read until now
    external: Sequence[tuple[ExternalLink, int]] = field(
        default=(),
        metadata=_in_feeds(lambda links: [{**link._asdict(), "count": count} for link, count in links]),
    )
    bad: Sequence[BadLink] = field(default=(), metadata=_in_feeds(lambda links: [link._asdict() for link in links]))
