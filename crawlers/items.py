"""The words that everybody uses: values handed from room to room.

Nothing here computes. Many of these exist once per link, so the small ones are named tuples,
which cost a third of a frozen dataclass to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Required, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable


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
    """Where a URL that was found waits, under an order that has queues of its own (see algorithms.news_scores)."""

    queue: int
    value: float  # by which it is ordered there


@dataclass(slots=True)
class QueueSlots:
    """Where the links of one page wait. *of_new* is asked once for each URL that was never seen before."""

    of_new: Callable[[Target], QueueSlot]
    announced: dict[int, QueueSlot] = field(default_factory=dict)  # by key: known ones that wait are moved there

    @classmethod
    def all_at(cls, place: QueueSlot) -> QueueSlots:
        """The same place for every URL."""
        return cls(lambda _: place)


class LinkText(NamedTuple):
    """What a link says."""

    key: int  # of its target
    anchor: str
    context: str  # the anchor with what surrounds it
    position: str
    rel: str
    tag: str


class PageAnalysis(NamedTuple):
    """A page as a topic crawl sees it."""

    terms: dict[str, int]  # how often the page has each term
    link_values: dict[int, float]  # what each link is worth by its texts, in [0, 1], by the key of its target
    link_texts: list[LinkText]


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


@dataclass(slots=True)
class News:
    """What a news crawl makes of an answer."""

    kind: str = ""  # as above, if it is (to be) polled
    fits: bool = False  # a rule says that its URL is an article, or a feed announced it
    odds: float = 0.0  # what its content says for its being an article (above 0), or against it
    has_date: bool = False  # its markup tells when it was published
    announces: bool = False  # what it lists are articles; a plain sitemap has all pages of a site
    items: list[Announced] = field(default_factory=list)
    feeds: list[Target] = field(default_factory=list)  # feeds and sitemaps that it names
    span_s: float | None = None  # age of the oldest item
    problem: str = ""  # what is wrong with the feed
    article: Article | None = None
    fingerprint: Any = None  # algorithms.document_prints.DocumentPrint of the article
    reason: str = ""  # why it is no document
    outcome: str = ""  # `NEW`, `CHANGED`, `DUPLICATE`; "" = no document
    is_detour: bool = False  # its article is that of another URL of the site: URLs like this one bring nothing new


@dataclass(slots=True)
class Page:
    """What one answer taught us; an item that pipelines and feeds may read."""

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
    etag: str = ""  # what the server names this version by
    last_modified: str = ""  # when it changed last, in the server's words
    is_unchanged: bool = False  # the server says that it is as it was at the last visit; nothing else is known
    is_transient: bool = False  # no answer came, but one may come the next time
    retry_after_s: float | None = None  # the host asked for rest; None: it did not
    content_hash: bytes = field(default=b"", metadata=_in_feeds(bytes.hex))  # 16; equal for equal bodies
    content_signature: int = 0  # hash of the text without its numbers, see algorithms.traps
    moved_to: Target | None = field(default=None, metadata=_in_feeds(lambda target: target and target.url))
    links: list[tuple[Target, int]] = field(  # internal, with their number
        default_factory=list,
        metadata=_in_feeds(lambda links: [{"url": target.url, "count": count} for target, count in links]),
    )
    cross_site_links: list[tuple[Target, int]] = field(  # to other sites of the crawl's scope, likewise
        default_factory=list,
        metadata=_in_feeds(lambda links: [{"url": target.url, "count": count} for target, count in links]),
    )
    places: QueueSlots | None = field(default=None, repr=False, metadata=_in_feeds(lambda _: None))
    news: News | None = field(default=None, metadata=_in_feeds(lambda _: None))
    again: Callable[[], float | None] | None = field(  # when it is to be fetched again, asked when its links are known
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )
    rows: Any = field(
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )  # a storage.changes.ChangeSet to go with it
    analysis: PageAnalysis | None = field(
        default=None, repr=False, metadata=_in_feeds(lambda _: None)
    )  # None: nobody asked
    similarity: float | None = None  # to the topic of the crawl, in [0, 1], by the pages read until now
    external: list[tuple[ExternalLink, int]] = field(
        default_factory=list,
        metadata=_in_feeds(lambda links: [{**link._asdict(), "count": count} for link, count in links]),
    )
    # The name of the group that a link to the target belongs to; None: nobody asked for groups.
    group_of: Callable[[Target], str] | None = field(default=None, repr=False, metadata=_in_feeds(lambda _: None))
    bad: list[BadLink] = field(
        default_factory=list, metadata=_in_feeds(lambda links: [link._asdict() for link in links])
    )
