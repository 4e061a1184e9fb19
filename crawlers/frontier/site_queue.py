"""What waits on one site: one queue a group of links, their heads in memory, the rest in the journal.

Everything up to a head's *horizon* is in its heap; behind it, waiting URLs are in the journal only. So the
memory of a queue is bounded, however many URLs wait. The heap holds each of them once. An order that makes no
groups has all URLs of a site in group 0.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.seen import MAX_GROUP, SeenUrls
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.algorithms.page_orders import GroupRule
    from crawlers.frontier.base import Counts, SiteState
    from crawlers.frontier.journal import Entry

SMALLEST_HEAD = 16  # however many groups share a site's memory: to read fewer of the journal at a time would not pay
ALL = (float("inf"), 0)
NOTHING = (float("-inf"), 0)


class Head:
    """The URLs of one group that are next, in order, up to the *horizon*."""

    __slots__ = ("heap", "horizon")

    def __init__(self, horizon: tuple[float, int] = ALL) -> None:
        self.heap: list[Entry] = []
        self.horizon = horizon

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


class SiteQueue:
    """A site's queues, gate and memory of known URLs.

    *rule* chooses among its groups of links, if the order makes any. *names* are those of the groups met in
    earlier runs, number 1 first; *waiting* the groups in which a URL waits.
    """

    __slots__ = (
        "counts",
        "due_at",
        "gate",
        "heads",
        "hungry",
        "id",
        "is_paused",
        "max_level",
        "numbers",
        "outstanding",
        "pending",
        "ready",
        "rule",
        "seen",
    )

    def __init__(
        self,
        state: SiteState,
        counts: Counts,
        rule: GroupRule | None = None,
        names: Iterable[str] = (),
        waiting: Iterable[int] = (),
    ) -> None:
        self.id = state.id
        self.max_level = state.max_level
        self.gate = HostGate(state.parallel, state.delay_s)
        self.seen = SeenUrls()
        self.counts = counts  # leased ones count as waiting
        self.pending = counts.get(State.WAITING, 0)  # waiting and not handed out
        self.rule = rule
        self.numbers = {name: number for number, name in enumerate(names, 1)}
        self.heads = {number: Head(NOTHING) for number in waiting}
        self.ready: set[int] = set()  # groups with something in memory
        self.hungry = set(self.heads)  # groups with nothing in memory while the journal may hold more
        # Priorities that were handed out and are not answered yet, with their number.
        self.outstanding: dict[float, int] = {}
        self.due_at: float | None = None
        self.is_paused = False

    def group(self, name: str) -> tuple[int, bool]:
        """The number of the group called *name*, and whether it is new; 0 when there are too many to have one."""
        number = self.numbers.get(name)
        if number is not None or len(self.numbers) >= MAX_GROUP:
            return number or 0, False
        number = self.numbers[name] = len(self.numbers) + 1
        return number, True

    def push(self, entry: Entry, head_urls: int) -> None:
        """Queue *entry* in its group; the groups share *head_urls*."""
        head = self.heads.get(entry.group)
        if head is None:
            head = self.heads[entry.group] = Head()
        head.push(entry, min(head_urls, max(SMALLEST_HEAD, head_urls // len(self.heads))))
        if head.heap:
            self.ready.add(entry.group)

    def discard(self, page_id: int, group: int) -> None:
        """Take a URL out of the heap of its *group*, if it is there."""
        head = self.heads.get(group)
        if head is not None:
            head.discard(page_id)
            self.settle(group, head)

    def settle(self, group: int, head: Head) -> None:
        """Note whether the group's *head* holds something, or wants to be refilled."""
        if head.heap:
            self.ready.add(group)
            return
        self.ready.discard(group)
        if head.has_more:
            self.hungry.add(group)

    def pop(self) -> Entry:
        """Hand out what is next; something must be `ready`."""
        group = self._chosen()
        head = self.heads[group]
        entry = heapq.heappop(head.heap)
        if not head.heap:
            self.settle(group, head)
        return entry

    @property
    def nearest(self) -> float:
        """The priority of what is handed out next; something must be `ready`."""
        return self.heads[self._chosen()].heap[0].priority

    def _chosen(self) -> int:
        if self.rule is None or len(self.ready) == 1:
            return next(iter(self.ready))
        return self.rule.choose((group, self.heads[group].heap[0].id) for group in self.ready)

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
