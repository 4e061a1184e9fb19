"""What waits on one site: the head of its queue in memory, the rest in the journal.

Everything up to the *horizon* is in the heap; behind it, waiting URLs are in the journal only. So the
memory of a queue is bounded, however many URLs wait. The heap holds each of them once.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.seen import SeenUrls
from crawlers.items import State

if TYPE_CHECKING:
    from crawlers.frontier.base import Counts, SiteState
    from crawlers.frontier.journal import Entry

ALL = (float("inf"), 0)
NOTHING = (float("-inf"), 0)


class SiteQueue:
    """A site's queue, gate and memory of known URLs."""

    __slots__ = (
        "counts",
        "due_at",
        "gate",
        "heap",
        "horizon",
        "id",
        "is_paused",
        "max_level",
        "outstanding",
        "pending",
        "seen",
    )

    def __init__(self, state: SiteState, counts: Counts) -> None:
        self.id = state.id
        self.max_level = state.max_level
        self.gate = HostGate(state.parallel, state.delay_s)
        self.seen = SeenUrls()
        self.heap: list[Entry] = []
        self.counts = counts  # leased ones count as waiting
        self.pending = counts.get(State.WAITING, 0)  # waiting and not handed out
        self.horizon: tuple[float, int] = NOTHING if self.pending else ALL
        # Priorities that were handed out and are not answered yet, with their number.
        self.outstanding: dict[float, int] = {}
        self.due_at: float | None = None
        self.is_paused = False

    @property
    def has_more(self) -> bool:
        """Whether the journal may hold waiting URLs that the heap does not."""
        return self.horizon is not ALL

    def push(self, entry: Entry, head_urls: int) -> None:
        """Queue *entry*; the heap keeps at most twice *head_urls*."""
        if self.has_more and (entry.priority, entry.id) > self.horizon:
            return
        heapq.heappush(self.heap, entry)
        if len(self.heap) > 2 * head_urls:
            self.heap.sort()
            del self.heap[head_urls:]
            last = self.heap[-1]
            self.horizon = (last.priority, last.id)

    def discard(self, page_id: int) -> None:
        """Take a URL out of the heap, if it is there; costs as much as the heap is long, but is rare."""
        self.heap = [entry for entry in self.heap if entry.id != page_id]
        heapq.heapify(self.heap)

    def refill(self, entries: list[Entry], limit: int, held: set[int]) -> None:
        """Take what the journal had behind the horizon, save URLs that are *held* already."""
        self.horizon = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL
        self.heap = [entry for entry in entries if entry.id not in held]

    def began(self, priority: float) -> None:
        self.outstanding[priority] = self.outstanding.get(priority, 0) + 1

    def ended(self, priority: float) -> None:
        left = self.outstanding[priority] - 1
        if left:
            self.outstanding[priority] = left
        else:
            del self.outstanding[priority]

    def must_wait(self, priority: float) -> bool:
        """Whether something nearer is still unanswered."""
        return bool(self.outstanding) and min(self.outstanding) < priority
