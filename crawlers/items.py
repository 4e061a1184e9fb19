"""The values that all packages share: pages, links, sites, articles.

Nothing here computes, and all values are frozen. Many of them exist once per link, so the small ones are named tuples,
which are created in a third of the time of a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

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


class Part(NamedTuple):
    """A worker's part of the pages of a crawl."""

    totals: Sequence[float]
    is_active: bool
    given: float = 0.0  # cash that it was given by the virtual page of all workers, see `PageScores.hand_out`


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


def _in_feeds(write: Callable[[Any], object]) -> dict[str, Any]:
    """Return the metadata by which Scrapy's feed exports serialise a field that JSON can't represent."""
    return {"serializer": write}


def _with_counts(links: Sequence[tuple[Target, int]]) -> list[dict[str, Any]]:
    return [{"url": target.url, "count": count} for target, count in links]


def _readable(link: ExternalLink, count: int) -> dict[str, Any]:
    fields = link._asdict()
    del fields["key"]
    return {**fields, "count": count}


#: What a mission says of a URL to its order, and nobody else looks into; JSON can represent it.
Hint: TypeAlias = tuple[Any, ...]


class LinkText(NamedTuple):
    """The texts of a link."""

    key: int  # of its target
    anchor: str
    context: str  # the anchor with the text around it
    position: str
    rel: str
    tag: str


# The queues of pages in an order that scores them: those never fetched of which nothing else is known, those that wait
# for a revisit, and those that will not be fetched (again). Other numbers are queues of the order.
OTHER, REVISIT, GONE = 0, 1, -1

LEASE = "lease"  # the key of the lease in the meta of a request
RENDER = "render"  # likewise, of whether a browser renders the page
RECORDED = "recorded"  # likewise, of whether the page is recorded already, and nothing is left to do
# Likewise, of the target of a redirect, see urls.redirect_targets; and the tag of links that are redirects:
REDIRECT = "redirect"

# The signal of our handler of libcurl for a *request* whose connection stands, and which is sent now. Scrapy's own
# signal, `request_reached_downloader`, comes before names are looked up and TLS is negotiated.
REQUEST_SENT = object()


class Facts(Protocol):
    """What a mission read from a page; the core carries it to the decision, and looks into nothing else."""

    @property
    def in_feeds(self) -> object:
        """What feeds contain of it, in the field `facts`."""


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
    content_signature: int = 0  # hash of the text without its numbers, see urls.trap_watch; 0: it can't be in a trap
    moved_to: Target | None = field(default=None, metadata=_in_feeds(lambda target: target and target.url))
    links: Sequence[tuple[Target, int]] = field(  # internal, with their number
        default=(), metadata=_in_feeds(_with_counts)
    )
    cross_site_links: Sequence[tuple[Target, int]] = field(  # to other sites in the scope of the crawl, likewise
        default=(), metadata=_in_feeds(_with_counts)
    )
    anchors: Mapping[int, str] = field(  # the texts of links that may turn out to be broken, by the key of the target
        default_factory=dict, repr=False, metadata=_in_feeds(lambda _: None)
    )
    facts: Facts | None = field(  # what the mission read besides
        default=None, repr=False, metadata=_in_feeds(lambda facts: None if facts is None else facts.in_feeds)
    )
    external: Sequence[tuple[ExternalLink, int]] = field(
        default=(),
        metadata=_in_feeds(lambda links: [_readable(link, count) for link, count in links]),
    )
    bad: Sequence[BadLink] = field(
        default=(),
        metadata=_in_feeds(lambda links: [link._asdict() | {"reason": sentence(link.reason)} for link in links]),
    )
