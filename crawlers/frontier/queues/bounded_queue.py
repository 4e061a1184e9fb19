"""The URLs of one group of a site's links, by priority: the next ones in memory, the rest in the frontier store.

So the memory of a queue is bounded, however many URLs wait. The heap contains each URL at most once.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlers.frontier.frontier_store import FrontierStore, QueueEntry

ALL = (float("inf"), 0)
NONE = (float("-inf"), 0)


class PageQueue(Protocol):
    """The queue of one group of a site: `BoundedQueue`, `ScoredQueue`, `LearntQueue` or `RelevanceQueue`.

    `is_empty` says whether there is no `first`, which may take longer to compute.
    """

    def __len__(self) -> int: ...

    @property
    def has_more(self) -> bool: ...

    @property
    def is_empty(self) -> bool: ...

    @property
    def first(self) -> tuple[float, int] | None: ...

    def push(self, entry: QueueEntry, most: int) -> None: ...

    def discard(self, page_id: int) -> None: ...

    def refill(self, limit: int) -> None: ...

    def fill(self, entries: list[QueueEntry], limit: int) -> None: ...

    def pop(self) -> QueueEntry: ...


class RisingQueue(PageQueue, Protocol):
    """The queue of an order with scores."""

    def rise(self, page_id: int, most: int) -> bool:
        """Note that the score of a waiting page grew; return whether it is now known to be in memory, by that score."""


class BoundedQueue:
    """The next URLs of one *group* of a site. *held* contains the pages that are leased or rest.

    Everything up to the *spill_limit* is in the heap; everything behind it is in the *store* only.
    """

    __slots__ = ("_group", "_heap", "_held", "_site_id", "_spill_limit", "_store")

    def __init__(
        self,
        site_id: int,
        group: int,
        store: FrontierStore,
        held: Collection[int],
        spill_limit: tuple[float, int] = ALL,
    ) -> None:
        self._site_id = site_id
        self._group = group
        self._store = store
        self._held = held
        self._spill_limit = spill_limit
        self._heap: list[QueueEntry] = []

    def __len__(self) -> int:
        """Return the number of items in memory."""
        return len(self._heap)

    @property
    def has_more(self) -> bool:
        """Whether the store may hold waiting URLs that are not in the heap."""
        return self._spill_limit is not ALL

    @property
    def is_empty(self) -> bool:
        """Whether the heap is empty."""
        return not self._heap

    @property
    def first(self) -> tuple[float, int] | None:
        """The priority and id of the next page; None if the heap is empty."""
        return self._heap[0][:2] if self._heap else None

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; when more than twice *most* entries are in memory, keep only the first *most*."""
        if self.has_more and (entry.priority, entry.id) > self._spill_limit:
            return
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 2 * most:
            self._heap.sort()
            del self._heap[most:]
            last = self._heap[-1]
            self._spill_limit = (last.priority, last.id)

    def discard(self, page_id: int) -> None:
        """Remove a URL from the heap, if it is there; linear in the heap size, but rare."""
        self._heap = [entry for entry in self._heap if entry.id != page_id]
        heapq.heapify(self._heap)

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store, without those that are held; the heap must be empty."""
        self._store.flush()  # URLs that are not written yet must not be skipped
        self.fill(self._store.waiting(self._site_id, self._group, self._spill_limit, limit), limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Take the next URLs of the store, in order and at most *limit*, without those that are held."""
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL
        self._heap = [entry for entry in entries if entry.id not in self._held]

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        return heapq.heappop(self._heap)
