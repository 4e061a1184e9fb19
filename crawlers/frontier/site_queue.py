"""The waiting URLs of one site, in numbered queues: the next ones in a heap, the rest in the frontier store.

So the memory of a queue is bounded, however many URLs wait. An order without scores has all URLs of a site in queue 0;
one with scores has a `ScoredQueue` for each queue of its `PageScores`, among them `REVISIT` for pages that wait for a
revisit. Orders that learn from links have a `ValueQueue` instead of a heap.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.url_cache import UrlCache
from crawlers.frontier.values import ALL, NONE, queue_limit
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import QueueEntry
    from crawlers.ranking.page_orders import Shares
    from crawlers.store.sites.site_opening import SiteRow

    MakeQueue = Callable[[int, int, tuple[float, int]], "PageQueue"]


class PageQueue:
    """The next URLs of a queue of a site, in a heap unless a subclass finds the first one otherwise.

    *held* contains the pages that are leased or rest. Everything up to the *spill_limit*, a (priority, page), is in the
    heap; everything behind it is in the *store* only.
    """

    __slots__ = ("_entries", "_heap", "_held", "_site_id", "_spill_limit", "_store")

    def __init__(
        self, site_id: int, store: SqlFrontierStore, held: Collection[int], spill_limit: tuple[float, int] = ALL
    ) -> None:
        self._site_id = site_id
        self._store = store
        self._held = held
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
    def needs_refill(self) -> bool:
        """Whether nothing is in memory while the store may hold more."""
        return self._spill_limit is not ALL and self.first is None

    @property
    def first(self) -> tuple[float, int] | None:
        """The priority and id of the best page; None if it must be read from the store."""
        heap, entries = self._heap, self._entries
        while heap and ((entry := entries.get(heap[0][1])) is None or entry.priority != heap[0][0]):
            heapq.heappop(heap)  # an entry that was replaced has another item
        return heap[0] if heap else None

    def _priority(self, page: int) -> float:
        return self._entries[page].priority

    def _waits(self, page: int) -> bool:
        return page in self._entries

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; when half as many more than *most* are in memory, keep only the best *most*."""
        self._entries[entry.id] = entry
        if not self.raise_page(entry.id, most):
            self._entries.pop(entry.id, None)

    def raise_page(self, page_id: int, most: int) -> bool:
        """Queue the number of a page; return whether it is among the best, which are in memory."""
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
        """Write what a `refill` must find in the store: nothing, where priorities do not change."""

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store; everything pushed must have been committed to it."""
        after = self._spill_limit
        while len(entries := self._read(after, limit)) == limit and all(entry.id in self._held for entry in entries):
            after = entries[-1].priority, entries[-1].id  # rare: few pages of a queue are held at a time
        self.fill(entries, limit)

    def _read(self, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        return self._store.waiting(self._site_id, after, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the next URLs of the store, in order and at most *limit*, without those that are held."""
        self._entries = {entry.id: entry for entry in entries if entry.id not in self._held}
        self._heap = [(self._priority(page), page) for page in self._entries]
        heapq.heapify(self._heap)
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL

    def pop(self) -> QueueEntry:
        """Remove and return the `first`, which must not be None."""
        _ = self.first  # drops outdated items
        return self._entries.pop(heapq.heappop(self._heap)[1])


class SiteQueue:
    """A site's queues, gate and cache of known URLs.

    *make_queue* creates the queue with a number; *waiting* are the numbers of those in which a URL waits. *shares*
    divide the downloads among the queues, if the order has any; *revisiting* is the number of pages that wait for a
    revisit. Orders with scores have a `ScoredSite`.
    """

    def __init__(
        self,
        row: SiteRow,
        counts: dict[State, int],
        make_queue: MakeQueue,
        shares: Shares | None = None,
        waiting: Iterable[int] = (),
        revisiting: int = 0,
    ) -> None:
        self.id = row.id
        self.name = row.site
        self.max_level = row.max_level
        self.gate = HostGate(row.parallel, row.delay_s)
        self.seen = UrlCache()
        self.counts = counts  # leased ones count as waiting
        self.revisiting = revisiting  # pages that will be revisited, including leased ones
        self.make_queue = make_queue
        self.shares = shares
        self.queues = {number: make_queue(self.id, number, NONE) for number in waiting}
        self.is_unwritten = True  # the next refill has to wait for what was submitted until then
        self.commits_awaited = 0  # by the next refill
        self.written = 0  # the number of the change set with the last of what was pushed before that
        # Priorities of leased pages, with their number.
        self.outstanding: Counter[float] = Counter()
        self.resting: set[int] = set()  # numbers of the pages that are kept out of the queues until a known time
        self.due_at: float | None = None
        self.awaited_until = float("-inf")  # while it sleeps, a patient crawl waits for it until then
        self.is_paused = False
        self.is_available = False  # whether one of its pages on level 0 was read in this run

    @property
    def is_waiting(self) -> bool:
        """Whether any URL waits, is leased, or will be revisited."""
        return self.revisiting > 0 or self.counts.get(State.WAITING, 0) > 0

    @property
    def pending(self) -> int:
        """The number of URLs that wait, or will be revisited, and are not leased."""
        return self.counts.get(State.WAITING, 0) + self.revisiting - self.gate.in_flight

    @property
    def has_unread(self) -> bool:
        """Whether any URL waits for its first download."""
        return self.pending > self.revisiting

    @property
    def has_prospects(self) -> bool:
        """Whether any URL waits or is in flight, except for revisits that are not due."""
        return self.is_ready or self.has_unread or self.gate.in_flight > 0

    @property
    def is_ready(self) -> bool:
        """Whether any queue has something in memory."""
        return any(not queue.is_empty for queue in self.queues.values())

    @property
    def needs_refill(self) -> bool:
        """Whether any queue has too little in memory while the store may hold more."""
        return any(queue.needs_refill for queue in self.queues.values())

    def push(self, entry: QueueEntry, head_urls: int) -> None:
        """Queue *entry*; the queues share *head_urls*."""
        self._grown(self._number_of(entry.id)).push(entry, self.queue_limit(head_urls))

    def _grown(self, number: int) -> PageQueue:
        """Return the queue with that *number*, to which something is added."""
        self.is_unwritten = True
        if number not in self.queues:
            self.queues[number] = self.make_queue(self.id, number, ALL)
        return self.queues[number]

    def queue_limit(self, head_urls: int) -> int:
        """Return the number of URLs of each queue to keep in memory, of *head_urls* of the site."""
        return queue_limit(head_urls, len(self.queues))

    def discard(self, page_id: int) -> None:
        """Remove a URL from its queue, if it is there."""
        if (queue := self.queues.get(self._number_of(page_id))) is not None:
            queue.discard(page_id)

    def _number_of(self, page_id: int) -> int:
        return 0

    def refresh(self) -> None:
        """Look for the best page again; without scores, `value` always does."""

    def pop(self) -> QueueEntry:
        """Remove and return the next URL; the site must be ready."""
        return self.queues[0].pop()

    @property
    def value(self) -> float:
        """The score of the best page, comparable between sites; the site must be ready."""
        assert self.nearest is not None
        return -self.nearest

    @property
    def base(self) -> float:
        """What `value` leaves out, as all pages share it."""
        return 0.0

    @property
    def nearest(self) -> float | None:
        """The priority of the next URL of a site without scores; None if none is in memory."""
        queue = self.queues.get(0)
        first = None if queue is None else queue.first
        return None if first is None else first[0]

    def remove_outstanding(self, priority: float) -> None:
        self.outstanding[priority] -= 1
        if not self.outstanding[priority]:
            del self.outstanding[priority]

    def must_wait(self, priority: float) -> bool:
        """Whether a nearer page is still in flight."""
        return bool(self.outstanding) and min(self.outstanding) < priority
