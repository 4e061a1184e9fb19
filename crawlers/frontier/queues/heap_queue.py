"""The URLs of one queue of a site by priority: the next ones in a heap, the rest in the frontier store.

So the memory of a queue is bounded, however many URLs wait. Priorities may change while URLs wait: they are then minus
the scores of the order. The heap holds them as of their last decrease. A priority that decreases again gets a second
item in the heap; one that grew is detected when its item reaches the top. So a change costs at most one push, and the
queue still returns the best URL.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import QueueEntry
    from crawlers.ranking.page_scores import PageScores

ALL = (float("inf"), 0)
NONE = (float("-inf"), 0)
LOADED = 50  # entries read from the store at a time when that of the best page is not in memory


class HeapQueue:
    """The next URLs of the queue with a *number* of a site. *held* contains the pages that are leased or rest.

    Without *scores* a page has the priority of its entry. Everything up to the *spill_limit*, a (priority, page), is in
    the heap; everything behind it is in the *store* only, by the score that *write* wrote last. For a page whose score
    rose over the spill limit, the heap contains only the number; its entry is read when the page is popped.
    """

    __slots__ = ("_entries", "_heap", "_held", "_number", "_scores", "_site_id", "_spill_limit", "_store", "_write")

    def __init__(
        self,
        site_id: int,
        number: int,
        store: SqlFrontierStore,
        held: Collection[int],
        spill_limit: tuple[float, int] = ALL,
        scores: PageScores | None = None,
        write: Callable[[Iterable[int]], None] = lambda pages: None,
    ) -> None:
        self._site_id = site_id
        self._number = number
        self._store = store
        self._held = held
        self._spill_limit = spill_limit
        self._scores = scores
        self._write = write
        self._heap: list[tuple[float, int]] = []
        self._entries: dict[int, QueueEntry] = {}

    def __len__(self) -> int:
        """Return the number of items in memory."""
        return len(self._heap)

    @property
    def has_more(self) -> bool:
        """Whether the store may hold waiting URLs that are not in the heap."""
        return self._spill_limit is not ALL

    @property
    def is_empty(self) -> bool:
        """Whether the best page must be read from the store, or nothing waits."""
        return self.first is None

    @property
    def needs_refill(self) -> bool:
        """Whether nothing is in memory while the store may hold more."""
        return self.has_more and self.is_empty

    @property
    def first(self) -> tuple[float, int] | None:
        """The priority and id of the best page; None if it must be read from the store."""
        heap = self._heap
        if self._scores is None:  # an entry that was replaced has another item
            entries = self._entries
            while heap and ((entry := entries.get(heap[0][1])) is None or entry.priority != heap[0][0]):
                heapq.heappop(heap)
            return heap[0] if heap else None
        while heap:
            priority, page = heap[0]
            if not self._waits(page) or (now := self._priority(page)) < priority:
                heapq.heappop(heap)  # it no longer waits, or it has another item
            elif now > priority:
                heapq.heapreplace(heap, (now, page))
            else:
                return heap[0] if heap[0] <= self._spill_limit else None  # it fell: the store may have a better one
        return None

    def _priority(self, page: int) -> float:
        return self._entries[page].priority if self._scores is None else -self._scores.score(page)

    def _waits(self, page: int) -> bool:
        if self._scores is None:
            return page in self._entries
        return page not in self._held and self._scores.queue(page) == self._number

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; when half as many more than *most* are in memory, keep only the best *most*."""
        self._entries[entry.id] = entry
        if not self.raise_page(entry.id, most):
            self._entries.pop(entry.id, None)

    def raise_page(self, page_id: int, most: int) -> bool:
        """Queue the number of a page whose score grew; return whether it is among the best, which are in memory."""
        item = (self._priority(page_id), page_id)
        if self.has_more and item > self._spill_limit:
            return False
        heapq.heappush(self._heap, item)
        if len(self._heap) > most + most // 2:
            self._trim(most)
        return item <= self._spill_limit

    def _trim(self, most: int) -> None:
        """Drop outdated items, and all but the best *most*."""
        pages = {page for _, page in self._heap}
        heap = sorted((self._priority(page), page) for page in pages if self._waits(page))
        if len(heap) > most:
            del heap[most:]
            self._spill_limit = min(self._spill_limit, heap[-1])
        self._heap = heap
        self._entries = {page: self._entries[page] for _, page in heap if page in self._entries}

    def discard(self, page_id: int) -> None:
        """Forget the entry of a URL: it is pushed again as another variant, or with another level."""
        self._entries.pop(page_id, None)

    def write_fallen(self) -> None:
        """Write the rows of the pages in memory that have fallen over the spill limit, before a `refill`."""
        if fallen := self._fallen():
            self._write(fallen)

    def _fallen(self) -> set[int]:
        return {page for _, page in self._heap if self._waits(page)}

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store; everything pushed must have been committed to it."""
        fallen = self._fallen()
        after = self._spill_limit if self._scores is None else NONE  # scores may have fallen behind the limit
        while len(entries := self._read(after, limit)) == limit and all(entry.id in self._held for entry in entries):
            after = entries[-1].priority, entries[-1].id  # rare: few pages of a queue are held at a time
        self.fill(entries, limit)
        if self._heap and fallen.issuperset(self._entries):
            # All were written just now. A store that rounds must not make them appear to have fallen again, endlessly.
            self._spill_limit = max(self._spill_limit, max(self._heap))

    def _read(self, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        if self._scores is None:
            return self._store.waiting(self._site_id, after, limit)
        return self._store.best(self._scores.table, self._site_id, self._number, after, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the next URLs of the store, in order and at most *limit*, without those that are held."""
        self._entries = {entry.id: entry for entry in entries if entry.id not in self._held}
        self._heap = [(self._priority(page), page) for page in self._entries]
        heapq.heapify(self._heap)
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL

    def pop(self) -> QueueEntry:
        """Remove and return the `first`, which must not be None."""
        if self._scores is None:
            _ = self.first  # drops outdated items
        _, page = heapq.heappop(self._heap)
        entry = self._entries.pop(page, None)
        if entry is None:
            next_ones = [p for _, p in self._heap[:LOADED] if p not in self._entries and self._waits(p)]
            self._entries.update((found.id, found) for found in self._store.entries([page], next_ones))
            entry = self._entries.pop(page)
        return entry
