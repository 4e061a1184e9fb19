"""Where a frontier writes down what it knows: the seam between queues in memory and a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.frontier.protocols import Counts
    from crawlers.storage.change_set import ChangeSet


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
    group: int = 0  # which of the site's groups of links it belongs to


class KnownUrl(NamedTuple):
    """What is remembered of a URL that was found before."""

    key: int
    id: int
    level: int
    hops: int
    variant: int
    waits: bool
    is_too_deep: bool  # rejected for its level alone: a shorter way revives it
    url: str | None  # only where a better spelling may still come, and this one is no rule's
    group: int = 0


class PreviousVisit(NamedTuple):
    """What the last visit to a page left."""

    links: dict[int, int]  # number of links by page id
    state: int
    status: int | None
    content_hash: str | None  # hexadecimal
    fetched_at: float | None
    etag: str | None
    last_modified: str | None


class ScoredPage(NamedTuple):
    """A page as an order with scores remembers it."""

    id: int
    site_id: int
    queue: int
    record: tuple[float, ...]


class Unscored(NamedTuple):
    """A page whose state and score don't agree."""

    id: int
    site_id: int
    level: int
    waits: bool


class FrontierStore(Protocol):
    """A frontier's memory. What was submitted is seen by the reading methods after `flush`."""

    def new_id(self) -> int:
        """A page number that nobody else has or had."""

    def known(self, site_id: int, keys: Iterable[int] | None) -> Iterable[KnownUrl]:
        """Of these keys (None: all of the site's), those found before."""

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """The waiting URLs of a group of the site behind (priority, id) *after*, in order."""

    def groups(self, site_id: int) -> list[str]:
        """The names of the site's groups of links, number 1 first."""

    def waiting_groups(self, site_id: int) -> list[int]:
        """The groups of the site in which a URL waits."""

    def counts(self, site_id: int) -> Counts:
        """How many pages of the site are in each state."""

    def submit(self, changes: ChangeSet) -> None:
        """Write *changes*, whole and after all before it; soon, not at once."""

    def flush(self) -> None:
        """Return when everything submitted is safe. Raises `StoreError` when it can't be."""


class ScoredFrontierStore(FrontierStore, Protocol):
    """The memory of an order with scores, whose table is called *table*."""

    @property
    def crawl_id(self) -> int:
        """The crawl whose pages these are."""

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        """The first URLs of a site's queue, by their scores as they were written; the priority is minus the score."""

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        """The URLs of these pages, with priority 0; all must have been submitted."""

    def previous(self, page_id: int) -> PreviousVisit:
        """What the last visit to a page left; it must have been submitted."""

    def scored(self, table: str, columns: Sequence[str]) -> Iterable[ScoredPage]:
        """All pages of the crawl that have a row."""

    def unscored(self, table: str) -> list[Unscored]:
        """The pages of the crawl of which was decided without the order: that they wait although their row says
        otherwise, or there is none; or that they are rejected although their row waits."""

    def due(self) -> Iterable[tuple[int, QueueEntry, float]]:
        """Site, URL and time of each page of the crawl that comes back at a certain time."""

    def totals(self) -> list[float] | None:
        """What the order knew of all pages together; None if nothing was written yet."""
