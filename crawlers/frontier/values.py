"""The values of a frontier: what it reads from its store, and what it takes and gives.

The former are waiting URLs, known URLs, earlier visits, and the start of a site; the latter candidates, leases, sites,
rewards and decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crawlers.frontier.url_cache import UrlCache
    from crawlers.items import Hint, LinkPlace, LinkText, Page, State, Target
    from crawlers.ranking.link_values import Features
    from crawlers.ranking.page_orders import Shares
    from crawlers.store.schema.message_rows import Message


class QueueEntry(NamedTuple):
    """A waiting URL in a site's queue; compared by priority, then by the order of discovery."""

    priority: float
    id: int
    key: int
    url: str
    level: int
    hops: int
    attempts: int
    request: str | None
    queue: int = 0  # the number of the queue of its site in which it waits


class PreviousVisit(NamedTuple):
    """The stored result of the previous visit to a page."""

    links: dict[int, int]  # number of links by page id
    state: int
    status: int | None
    content_hash: str | None  # hexadecimal
    fetched_at: float | None
    etag: str | None
    last_modified: str | None


class UrlRows(NamedTuple):
    """URLs of a site that were found before, in lists of the same length, and what else there is to know of them."""

    keys: list[int]
    values: list[int]  # as packed by `discovery`; a page that waits is neither TAKEN nor REVIVABLE
    states: list[int]
    urls: list[str | None]  # only where a better variant may still be found, and no rule prefers this one
    have_root: bool  # one of them is a page on level 0 that was read


class Retry(NamedTuple):
    """A page that waits for another attempt, or for a scheduled revisit."""

    entry: QueueEntry
    due_at: float
    wait_s: float  # from the attempt or visit before until then


@dataclass(frozen=True, slots=True)
class SiteStart:
    """Everything that the store knows of a site when it is opened; *shares* belong to the site from then on.

    *known* is None if there are too many URLs for the memory. *heads* has the first *limit* waiting URLs of each queue,
    in order; queues that are missing are read later.
    """

    counts: dict[State, int] = field(default_factory=dict)
    known: UrlCache | None = None
    is_available: bool = False  # one of its pages on level 0 was read
    heads: Mapping[int, list[QueueEntry]] = field(default_factory=dict)
    limit: int = 0
    resting: Sequence[Retry] = ()
    shares: Shares | None = None  # which count the earlier pulls of the site
    # If the order has scores, and the pages of the crawl are divided among workers:
    scored: Sequence[ScoredPage] = ()
    unscored: Sequence[Mismatch] = ()
    # Of the links to the pages in *heads* and *resting*, by number, if the order learns from links:
    features: Mapping[int, Features] = field(default_factory=dict)
    base: Sequence[float] | None = None  # to which the records are relative; None: nothing is scored yet


class ScoredPage(NamedTuple):
    """A page with its record in an order with scores."""

    id: int
    site_id: int
    queue: int
    record: tuple[float, ...]


class Mismatch(NamedTuple):
    """A page whose state and score disagree."""

    id: int
    site_id: int
    level: int
    waits: bool


class Candidate(NamedTuple):
    """A URL to be fetched."""

    site_id: int
    target: Target
    level: int = 0  # clicks from the start URL
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    hint: Hint | None = None  # under an order that takes hints


class IncomingLink(NamedTuple):
    """A link to a page of an open site from a page of another worker."""

    message: Message  # as it was sent
    target: Target
    hint: Hint | None = None
    place: LinkPlace | None = None
    request: str | None = None


class OutgoingLinks(NamedTuple):
    """What a page says to other workers."""

    messages: Sequence[Message] = ()  # all of them carry the same
    known: Mapping[int, int] = MappingProxyType({})  # numbers of links by page, to pages that may be stored already


NOTHING_SENT = OutgoingLinks()


class Origin(NamedTuple):
    """Where URLs were found together, and what is known of the links to them."""

    level: int  # theirs: clicks from the start URL
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    hints: Mapping[int, Hint] = MappingProxyType({})  # by key, under an order that takes hints
    places: Mapping[int, LinkPlace] = MappingProxyType({})  # by key, what the page shows of them, if the order learns
    follows: int | None = None  # the page whose redirect leads to them


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL in flight, identified by its page id; *attempts* counts the earlier failures."""

    id: int
    site_id: int
    key: int
    url: str
    level: int
    hops: int
    attempts: int
    request: str | None
    leased_at: float
    queue: int = 0  # the number of the queue of its site in which it waited
    previous: PreviousVisit | None = None  # of a page that was fetched before

    @property
    def is_revisit(self) -> bool:
        """Whether the page was fetched before: it may have changed."""
        return self.previous is not None


class Reward(NamedTuple):
    """The reward of a page, >= 0, and the keys already counted on its site."""

    amount: float = 0.0
    keys: Collection[int] = ()


NO_REWARD = Reward()


class LinkFacts(NamedTuple):
    """What a mission knows of the links of a page, by key."""

    places: Mapping[int, LinkPlace] = MappingProxyType({})  # what the page shows of them, if the order learns
    values: Mapping[int, float] | None = None  # in [0, 1], for orders with scores; None: all are worth the same
    texts: Sequence[LinkText] = ()  # which are stored


NO_FACTS = LinkFacts()


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a mission about a fetched page."""

    page: Page  # as it is to be stored
    # By key, under an order that takes hints: of its new links; known ones that still wait are moved there.
    hints: Mapping[int, Hint] = field(default_factory=dict)
    links: LinkFacts = NO_FACTS
    reward: Reward = NO_REWARD
    is_reported: bool = False  # the mission says itself what is wrong with the page
    revisit_at: float | None = None  # None: no scheduled revisit
    records_changes: bool = True  # keep the differences to the previous visit; of polls only new links matter
    changes: ChangeSet = field(default_factory=ChangeSet)  # rows of the mission, to which those of the page are added


ALL, NONE = (float("inf"), 0), (float("-inf"), 0)  # what of a queue is in memory: everything up to a (priority, page)
PageVisit = tuple[int, str | None, float | None]  # number, reason and time of the last visit
MIN_QUEUE = 16  # even if several queues share a site's memory: smaller reads from the store would not pay off


def queue_limit(head_urls: int, queues: int) -> int:
    """Return the number of URLs of each of so many *queues* to keep in memory, of *head_urls* of their site."""
    if queues <= 1:  # of most sites; this is called for each new URL
        return head_urls
    return min(head_urls, max(MIN_QUEUE, head_urls // queues))
