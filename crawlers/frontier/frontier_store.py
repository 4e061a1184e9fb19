"""What a frontier reads from its store: waiting URLs, known URLs, earlier visits, and the start of a site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.queue_shares import QueueShares
    from crawlers.frontier.url_cache import KnownUrls
    from crawlers.items import State


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


class KnownRows(NamedTuple):
    """URLs of a site that were found before, in lists of the same length, and what else there is to know of them."""

    keys: list[int]
    values: list[int]  # as packed by `url_cache`; a page that waits is neither TAKEN nor REVIVABLE
    states: list[int]
    urls: list[str | None]  # only where a better variant may still be found, and no rule prefers this one
    have_root: bool  # one of them is a page on level 0 that was read
    have_retries: bool  # one of them waits for another attempt


class Retry(NamedTuple):
    """A page that waits for another attempt, or for a scheduled revisit."""

    entry: QueueEntry
    due_at: float
    wait_s: float  # from the attempt or visit before until then


class QueueHead(NamedTuple):
    """The first waiting URLs of a queue, in order; there may be more if they are *limit*."""

    entries: list[QueueEntry]
    limit: int


@dataclass(frozen=True, slots=True)
class SiteStart:
    """Everything that the store knows of a site when it is opened; *shares* belong to the site from then on.

    *known* is None if there are too many URLs for the memory, *heads* has the queues in which a URL waits.
    """

    counts: dict[State, int] = field(default_factory=dict)
    known: KnownUrls | None = None
    is_available: bool = False  # one of its pages on level 0 was read
    heads: Mapping[int, QueueHead] = field(default_factory=dict)
    retries: Sequence[Retry] = ()
    shares: QueueShares | None = None  # which count the earlier pulls of the site
    # If the order has scores, and the pages of the crawl are divided among workers:
    scored: Sequence[ScoredPage] = ()
    unscored: Sequence[Unscored] = ()
    revived: Sequence[QueueEntry] = ()  # those of them that wait, if *heads* are known
    due: Sequence[Retry] = ()  # scheduled revisits, of orders with slots
    # Of the links to the pages in *heads* and *retries*, by number, if the order learns from links:
    features: Mapping[int, Features] = field(default_factory=dict)
    base: Sequence[float] | None = None  # to which the records are relative; None: nothing is scored yet


class ScoredPage(NamedTuple):
    """A page with its record in an order with scores."""

    id: int
    site_id: int
    queue: int
    record: tuple[float, ...]


class Unscored(NamedTuple):
    """A page whose state and score disagree."""

    id: int
    site_id: int
    level: int
    waits: bool
