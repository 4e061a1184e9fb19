"""A queue of a site's URLs whose scores change while they wait, with the best ones in memory.

The heap holds scores as of their last increase. A score that increases again gets a second item in the heap; a score
that fell is detected when its item reaches the top. So a change costs at most one push, and the queue still
returns the best URL.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crawlers.frontier.queues.bounded_queue import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.algorithms.ranking.page_scores import PageScores
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore

LOADED = 50  # entries read from the store at a time when that of the best page is not in memory


class ScoredQueue:
    """The best URLs of one *queue* of a site, by *scores*. *held* contains the pages that are leased or rest.

    Everything up to the *spill_limit*, a (negative score, page), is in the heap; everything behind it is in the
    *store* only, by the score that *write* wrote last. For a page that rose over the spill limit, the heap contains
    only the number; its entry is read when the page is popped.
    """

    __slots__ = ("_entries", "_heap", "_held", "_queue", "_scores", "_site_id", "_spill_limit", "_store", "_write")

    def __init__(
        self,
        site_id: int,
        queue: int,
        scores: PageScores,
        store: ScoredFrontierStore,
        held: Collection[int],
        write: Callable[[Iterable[int]], None],
        spill_limit: tuple[float, int] = ALL,
    ) -> None:
        self._site_id = site_id
        self._queue = queue
        self._scores = scores
        self._store = store
        self._held = held
        self._write = write
        self._spill_limit = spill_limit
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
    def first(self) -> tuple[float, int] | None:
        """The negative score and id of the best page; None if it must be read from the store."""
        heap, scores = self._heap, self._scores
        while heap:
            priority, page = heap[0]
            now = -scores.score(page)
            if now < priority or not self._waits(page):
                heapq.heappop(heap)  # it rose and has another item, or it no longer waits
            elif now > priority:
                heapq.heapreplace(heap, (now, page))
            else:
                return heap[0] if heap[0] <= self._spill_limit else None  # it fell: the store may have a better one
        return None

    def _waits(self, page: int) -> bool:
        return page not in self._held and self._scores.queue(page) == self._queue

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry* by its score; when more than twice *most* pages are in memory, keep only the best *most*."""
        if self.rise(entry.id, most):
            self._entries[entry.id] = entry

    def rise(self, page_id: int, most: int) -> bool:
        """Queue the number of a page whose score grew; return whether it is among the best, which are in memory."""
        item = (-self._scores.score(page_id), page_id)
        if self.has_more and item > self._spill_limit:
            return False
        heapq.heappush(self._heap, item)
        if len(self._heap) > 2 * most:
            self._trim(most)
        return item <= self._spill_limit

    def _trim(self, most: int) -> None:
        """Drop outdated items, and all but the best *most*."""
        pages = {page for _, page in self._heap}
        heap = sorted((-self._scores.score(page), page) for page in pages if self._waits(page))
        if len(heap) > most:
            del heap[most:]
            self._spill_limit = min(self._spill_limit, heap[-1])
        self._heap = heap
        self._entries = {page: self._entries[page] for _, page in heap if page in self._entries}

    def discard(self, page_id: int) -> None:
        """Forget the entry of a URL: it is pushed again as another variant, or with another level."""
        self._entries.pop(page_id, None)

    def refill(self, limit: int) -> None:
        """Read the best *limit* URLs from the store; everything pushed must have been submitted to it."""
        fallen = {page for _, page in self._heap if self._waits(page)}
        if fallen:
            self._write(fallen)
        self._store.flush()
        entries = self._store.best(self._scores.table, self._site_id, self._queue, limit)
        while len(entries) == limit and all(entry.id in self._held for entry in entries):
            limit *= 2  # rare: few pages of a queue are held at a time
            entries = self._store.best(self._scores.table, self._site_id, self._queue, limit)
        self.fill(entries, limit)
        if self._heap and fallen.issuperset(self._entries):
            # All were written just now. A store that rounds must not make them appear to have fallen again, endlessly.
            self._spill_limit = max(self._spill_limit, max(self._heap))

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the best *limit* URLs in the store."""
        self._entries = {entry.id: entry for entry in entries if entry.id not in self._held}
        self._heap = [(-self._scores.score(page), page) for page in self._entries]
        heapq.heapify(self._heap)
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        _, page = heapq.heappop(self._heap)
        entry = self._entries.pop(page, None)
        if entry is None:
            nearest = [page, *(p for _, p in self._heap[:LOADED] if p not in self._entries and self._waits(p))]
            self._entries.update((found.id, found) for found in self._store.entries(nearest))
            entry = self._entries.pop(page)
        return entry
