"""The waiting URLs of one site, in numbered queues.

An order without scores has all URLs of a site in queue 0; one with scores has the queues of its `PageScores`, among
them `REVISIT` for pages that wait for a revisit.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.queues.heap_queue import ALL, NONE
from crawlers.frontier.url_cache import UrlCache
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.frontier.queues.heap_queue import HeapQueue
    from crawlers.frontier.queues.value_queue import ValueQueue
    from crawlers.frontier.values import Counts, QueueEntry
    from crawlers.ranking.page_orders import Shares
    from crawlers.ranking.page_scores import PageScores
    from crawlers.store.sites.site_rows import SiteRow

    PageQueue: TypeAlias = HeapQueue | ValueQueue
    MakeQueue = Callable[[int, int, tuple[float, int]], PageQueue]

NOTHING_READY = (float("inf"), 0)
MIN_QUEUE = 16  # even if several queues share a site's memory: smaller reads from the store would not pay off


def queue_limit(head_urls: int, queues: int) -> int:
    """Return the number of URLs of each of so many *queues* to keep in memory, of *head_urls* of their site."""
    if queues <= 1:  # of most sites; this is called for each new URL
        return head_urls
    return min(head_urls, max(MIN_QUEUE, head_urls // queues))


class SiteQueue:
    """A site's queues, gate and cache of known URLs.

    *make_queue* creates the queue with a number. *shares* divide the downloads among the queues, if the order has any;
    *waiting* are the numbers of those in which a URL waits, *revisiting* is that of pages that wait for a revisit, and
    *scores* are those of the order, if it has any.
    """

    def __init__(
        self,
        row: SiteRow,
        counts: Counts,
        make_queue: MakeQueue,
        shares: Shares | None = None,
        waiting: Iterable[int] = (),
        revisiting: int = 0,
        scores: PageScores | None = None,
    ) -> None:
        self.id = row.id
        self.name = row.site
        self.max_level = row.max_level
        self.gate = HostGate(row.parallel, row.delay_s)
        self.seen = UrlCache()
        self.counts = counts  # leased ones count as waiting
        self.revisiting = revisiting  # pages that will be revisited, including leased ones
        self.pending = counts.get(State.WAITING, 0) + revisiting  # waiting and not handed out
        self.make_queue = make_queue
        self._scores = scores
        # Minus the best page's score, and its queue, as of when it was asked for; None: not since the last `refresh`.
        self._best: tuple[float, int] | None = None
        self.shares = shares
        self.queues = {number: make_queue(self.id, number, NONE) for number in waiting}
        self.ready: set[int] = set()  # queues with something in memory
        self.needs_refill = set(self.queues)  # queues with too little in memory while the store may hold more
        self.is_unwritten = True  # something was pushed since the last refill began
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
    def has_prospects(self) -> bool:
        """Whether any URL waits or is in flight, except for revisits that are not due."""
        return bool(self.ready) or self.pending > self.revisiting or self.gate.in_flight > 0

    def push(self, entry: QueueEntry, head_urls: int) -> None:
        """Queue *entry*; the queues share *head_urls*."""
        number = self._number_of(entry.id)
        queue = self.queues.get(number)
        if queue is None:
            queue = self.queues[number] = self.make_queue(self.id, number, ALL)
        self.is_unwritten = True
        queue.push(entry, self.queue_limit(head_urls))
        if not queue.is_empty:
            self.ready.add(number)

    def fill(self, number: int, entries: list[QueueEntry], limit: int) -> None:
        """Let the queue with that *number* begin with its first *limit* URLs in the store."""
        queue = self.queues[number]
        queue.fill(entries, limit)
        self.update_queue(number, queue)

    def queue_limit(self, head_urls: int) -> int:
        """Return the number of URLs of each queue to keep in memory, of *head_urls* of the site."""
        return queue_limit(head_urls, len(self.queues))

    def discard(self, page_id: int) -> None:
        """Remove a URL from its queue, if it is there."""
        number = self._number_of(page_id)
        queue = self.queues.get(number)
        if queue is not None:
            queue.discard(page_id)
            self.update_queue(number, queue)

    def _number_of(self, page_id: int) -> int:
        return 0 if self._scores is None else self._scores.queue(page_id)

    def raise_page(self, number: int, page_id: int, head_urls: int) -> bool:
        """Queue the number of a page whose score grew; return whether it is now the best of the site."""
        queue = self.queues.get(number)
        if queue is None:
            queue = self.queues[number] = self.make_queue(self.id, number, ALL)
        assert self._scores is not None
        self.is_unwritten = True
        if not queue.raise_page(page_id, self.queue_limit(head_urls)):
            return False
        self.ready.add(number)
        if self._best is None:  # whoever asks for it will see this page
            return True
        found = (self._offset(number) - self._scores.score(page_id), number)
        if found >= self._best:
            return False
        self._best = found
        return True

    def refresh(self) -> None:
        """Update the state of the queues; scores may have fallen in the meantime, and values changed."""
        for number, queue in self.queues.items():
            self.update_queue(number, queue)
        self._best = None

    def _best_page(self) -> tuple[float, int]:
        """Return minus the score of the best page, and its queue."""
        if self._best is None:
            firsts = [(queue.first, number) for number, queue in self.queues.items()]
            found = [(first[0] + self._offset(number), number) for first, number in firsts if first is not None]
            self._best = min(found, default=NOTHING_READY)
        return self._best

    def _offset(self, number: int) -> float:
        """Return the offset that makes scores of a queue comparable with queue 0; it only grows, see `PageScores`."""
        assert self._scores is not None
        return self._scores.offset(0) - self._scores.offset(number) if number else 0.0

    def update_queue(self, number: int, queue: PageQueue) -> None:
        """Note whether *queue*, which has that *number*, holds something, or needs a refill."""
        if queue.is_empty:
            self.ready.discard(number)
        else:
            self.ready.add(number)
        if not queue.needs_refill:
            self.needs_refill.discard(number)
        elif number not in self.needs_refill:
            self.needs_refill.add(number)
            self.is_unwritten = True

    def pop(self) -> QueueEntry:
        """Remove and return the next URL; some queue must be `ready`."""
        number = self._chosen()
        queue = self.queues[number]
        entry = queue.pop()
        if queue.is_empty:
            self.update_queue(number, queue)
        return entry if entry.queue == number else entry._replace(queue=number)

    @property
    def nearest(self) -> float:
        """The priority of the next URL; some queue must be `ready`."""
        return self._first(self._chosen())[0]

    @property
    def value(self) -> float:
        """The score of the best page, comparable between sites; some queue must be `ready`."""
        return -self.nearest if self._scores is None else -self._best_page()[0]

    @property
    def base(self) -> float:
        """The offset of queue 0, which `value` leaves out, as all pages share it."""
        return self._scores.offset(0) if self._scores is not None else 0.0

    def _first(self, number: int) -> tuple[float, int]:
        first = self.queues[number].first
        assert first is not None
        return first

    def _chosen(self) -> int:
        if self._scores is None:
            return 0
        if self.shares is None:
            return self._best_page()[1]
        return self.shares.choose(number for number, queue in self.queues.items() if queue.first is not None)

    def remove_outstanding(self, priority: float) -> None:
        self.outstanding[priority] -= 1
        if not self.outstanding[priority]:
            del self.outstanding[priority]

    def must_wait(self, priority: float) -> bool:
        """Whether a nearer page is still in flight."""
        return bool(self.outstanding) and min(self.outstanding) < priority
