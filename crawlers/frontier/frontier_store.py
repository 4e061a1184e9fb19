"""The storage of a frontier: the interface between queues in memory and a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.page_orders import GroupRule
    from crawlers.frontier.url_cache import KnownUrls
    from crawlers.items import State
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.order_parts import StoredPart


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
    group: int = 0  # number of the site's group of links that it belongs to


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
    """The first waiting URLs of a group, in order; there may be more if they are *limit*."""

    entries: list[QueueEntry]
    limit: int


@dataclass(frozen=True, slots=True)
class SiteStart:
    """Everything that the store knows of a site when it is opened; *rule* belongs to the site from then on.

    *known* is None if there are too many URLs for the memory, *heads* has the groups in which a URL waits.
    """

    counts: dict[State, int] = field(default_factory=dict)
    known: KnownUrls | None = None
    is_available: bool = False  # one of its pages on level 0 was read
    names: Sequence[str] = ()  # of its groups, number 1 first
    heads: Mapping[int, QueueHead] = field(default_factory=dict)
    retries: Sequence[Retry] = ()
    rule: GroupRule | None = None  # which has learnt from the earlier pulls of the site
    # If the order has scores, and the pages of the crawl are divided among workers; then *heads* are those of queues:
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


class FrontierStore(Protocol):
    """The storage of a frontier. Reading methods see submitted changes after `flush`.

    Those that need sites, and no page numbers, may be called in any thread. Sites without rows are missing from dicts.
    """

    def new_id(self) -> int:
        """Return a page number that was never used before."""

    def known(self, site_id: int, keys: Iterable[int]) -> KnownRows:
        """Return the URLs of these keys that were found before."""

    def known_from(self, site_id: int, key: int, limit: int) -> KnownRows:
        """Return the first *limit* URLs of the site from *key* on, in ascending order of keys."""

    def numbers_known(self, site_ids: Collection[int]) -> dict[int, int]:
        """Return how many URLs of each of these sites were found before."""

    def known_of(self, site_ids: Collection[int]) -> dict[int, KnownRows]:
        """Return all URLs of each of these sites, in ascending order of keys."""

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the waiting URLs of a group of the site behind (priority, id) *after*, in order."""

    def groups(self, site_id: int) -> list[str]:
        """Return the names of the site's groups of links, number 1 first."""

    def waiting_groups(self, site_id: int) -> list[int]:
        """Return the groups of the site in which a URL waits."""

    def retries(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that wait for another attempt."""

    def pulls(self, site_id: int) -> Iterable[tuple[int, float]]:
        """Return group and reward of each download of the site, in order; without records of them, rewards are 0."""

    def link_features(self, page_ids: Collection[int]) -> dict[int, Features]:
        """Return the features of the links by which these pages were found, as far as they have any."""

    def submit(self, changes: ChangeSet) -> None:
        """Queue *changes* to be written atomically, after all earlier ones."""

    def flush(self) -> None:
        """Return when everything submitted is committed. Raises `StoreError` if that fails."""

    def together(self, complete: Callable[[], object]) -> AbstractContextManager[None]:
        """Write everything that is submitted within this context atomically; see `Writer.together`.

        *complete* leaves the context; a method that has to wait for what was submitted calls it.
        """

    @property
    def is_open(self) -> bool:
        """Whether `together` is entered."""

    def reserve(self, count: int) -> Future[Any] | None:
        """Get *count* page numbers ready; return what `new_id` would wait for without that, if anything."""


class ScoredFrontierStore(FrontierStore, Protocol):
    """The storage of an order with scores, whose table is called *table*."""

    @property
    def crawl_id(self) -> int:
        """The crawl of these pages."""

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        """Return the best URLs of a site's queue, by their written scores; the priority is minus the score."""

    def best_of(self, table: str, site_ids: Collection[int], limit: int) -> dict[int, dict[int, list[QueueEntry]]]:
        """Return what `best` does, for all queues of each of these sites, by site and queue."""

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        """Return the entries of these pages, with priority 0; all must have been submitted."""

    def previous(self, page_id: int) -> PreviousVisit:
        """Return the previous visit to a page; it must have been submitted."""

    def numbers(self, targets: Iterable[tuple[str, int]]) -> dict[int, int]:
        """Return the numbers by key of those *targets* (name of the site, key) that the store has committed."""

    def waiting_elsewhere(self, table: str, page_ids: Collection[int]) -> list[tuple[int, str, int, str]]:
        """Return number, name of the site, key and URL of those of the pages that wait, or will be revisited."""

    def scored(
        self, table: str, columns: Sequence[str], site_ids: Collection[int] | None = None
    ) -> Iterable[ScoredPage]:
        """Return all pages of the crawl, or of these sites, that have a row."""

    def unscored(self, table: str, site_ids: Collection[int] | None = None) -> list[Unscored]:
        """Return the pages of the crawl, or of these sites, whose state changed without the order.

        They wait although their row says otherwise or is missing, or they are rejected although their row waits.
        """

    def due(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that have a scheduled revisit."""

    def parts(self) -> dict[int, StoredPart]:
        """Return the totals of the order by worker; none if nothing was written yet."""

    def bases(self, site_ids: Collection[int] | None = None) -> dict[int, list[float]]:
        """Return the numbers to which the records of sites are relative that their workers gave up, by site."""
