"""The storage of a frontier: the interface between queues in memory and a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.frontier.protocols import Counts, PreviousVisit
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
    group: int = 0  # number of the site's group of links that it belongs to


class KnownUrl(NamedTuple):
    """The remembered facts of a URL that was found before."""

    key: int
    id: int
    level: int
    hops: int
    variant: int
    waits: bool
    is_revivable: bool  # rejected, but a shorter path or another run may revive it
    url: str | None  # only where a better variant may still be found, and no rule prefers this one
    group: int = 0


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
    """The storage of a frontier. Reading methods see submitted changes after `flush`."""

    def new_id(self) -> int:
        """Return a page number that was never used before."""

    def known(self, site_id: int, keys: Iterable[int] | None) -> Iterable[KnownUrl]:
        """Return the URLs of these keys (None: all of the site) that were found before."""

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the waiting URLs of a group of the site behind (priority, id) *after*, in order."""

    def groups(self, site_id: int) -> list[str]:
        """Return the names of the site's groups of links, number 1 first."""

    def waiting_groups(self, site_id: int) -> list[int]:
        """Return the groups of the site in which a URL waits."""

    def counts(self, site_id: int) -> Counts:
        """Return the number of the site's pages in each state."""

    def submit(self, changes: ChangeSet) -> None:
        """Queue *changes* to be written atomically, after all earlier ones."""

    def flush(self) -> None:
        """Return when everything submitted is committed. Raises `StoreError` if that fails."""


class ScoredFrontierStore(FrontierStore, Protocol):
    """The storage of an order with scores, whose table is called *table*."""

    @property
    def crawl_id(self) -> int:
        """The crawl of these pages."""

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        """Return the best URLs of a site's queue, by their written scores; the priority is minus the score."""

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        """Return the entries of these pages, with priority 0; all must have been submitted."""

    def previous(self, page_id: int) -> PreviousVisit:
        """Return the previous visit to a page; it must have been submitted."""

    def scored(self, table: str, columns: Sequence[str]) -> Iterable[ScoredPage]:
        """Return all pages of the crawl that have a row."""

    def unscored(self, table: str) -> list[Unscored]:
        """Return the pages of the crawl whose state changed without the order: they wait although their row says
        otherwise or is missing, or they are rejected although their row waits."""

    def due(self) -> Iterable[tuple[int, QueueEntry, float, float]]:
        """Return site, entry, time and wait in seconds of each page of the crawl that has a scheduled revisit."""

    def totals(self) -> list[float] | None:
        """Return the order's totals over all pages; None if nothing was written yet."""
