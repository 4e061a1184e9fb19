"""The waiting URLs of one site: one queue for each group of links.

An order without groups has all URLs of a site in group 0; an order with scores uses the queues of its `PageScores`
as groups, among them `REVISIT` for pages that wait for a revisit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.queues.heap_queue import ALL, NONE
from crawlers.frontier.url_cache import MAX_GROUP, UrlCache
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.ranking.page_orders import GroupRule
    from crawlers.algorithms.ranking.page_scores import PageScores
    from crawlers.frontier.frontier_store import QueueEntry
    from crawlers.frontier.queues.heap_queue import HeapQueue
    from crawlers.frontier.queues.value_queue import ValueQueue
    from crawlers.frontier.values import Counts, SiteState

    PageQueue: TypeAlias = HeapQueue | ValueQueue
    MakeQueue = Callable[[int, int, tuple[float, int]], PageQueue]

NOTHING_READY = (float("inf"), 0)
MIN_QUEUE = 16  # even if many groups share a site's memory: smaller reads from the store would not pay off


def share(head_urls: int, groups: int) -> int:
    """Return the number of URLs of each of so many *groups* to keep in memory, of *head_urls* of their site."""
    return min(head_urls, max(MIN_QUEUE, head_urls // max(1, groups)))


class SiteQueue:
    """A site's queues, gate and cache of known URLs.

    *make_queue* creates the queue of a group. *rule* chooses among the groups, if the order has any. *names* are the
    names of the groups of earlier runs, number 1 first; *waiting* the groups in which a URL waits; *revisiting* the
    number of pages that wait for a revisit; *scores* those of the order, if it has any.
    """

    __slots__ = (
        "_best",
        "_scores",
        "awaited_until",
        "commits_awaited",
        "counts",
        "due_at",
        "gate",
        "id",
        "is_available",
        "is_paused",
        "is_unwritten",
        "make_queue",
        "max_level",
        "name",
        "needs_refill",
        "numbers",
        "outstanding",
        "pending",
        "queues",
        "ready",
        "resting",
        "revisiting",
        "rule",
        "seen",
        "written",
    )

    def __init__(
        self,
        state: SiteState,
        counts: Counts,
        make_queue: MakeQueue,
        rule: GroupRule | None = None,
        names: Iterable[str] = (),
        waiting: Iterable[int] = (),
        revisiting: int = 0,
        scores: PageScores | None = None,
    ) -> None:
        self.id = state.id
        self.name = state.site
        self.max_level = state.max_level
        self.gate = HostGate(state.parallel, state.delay_s)
        self.seen = UrlCache()
        self.counts = counts  # leased ones count as waiting
        self.revisiting = revisiting  # pages that will be revisited, including leased ones
        self.pending = counts.get(State.WAITING, 0) + revisiting  # waiting and not handed out
        self.make_queue = make_queue
        self._scores = scores
        # Minus the best page's score, and its group, as of when it was asked for; None: not since the last `refresh`.
        self._best: tuple[float, int] | None = None
        self.rule = rule
        self.numbers = {name: number for number, name in enumerate(names, 1)}
        self.queues = {number: make_queue(self.id, number, NONE) for number in waiting}
        self.ready: set[int] = set()  # groups with something in memory
        self.needs_refill = set(self.queues)  # groups with nothing in memory while the store may hold more
        self.is_unwritten = True  # something was pushed since the last refill began
        self.commits_awaited = 0  # by the next refill
        self.written = 0  # the number of the change set with the last of what was pushed before that
        # Priorities of leased pages, with their number.
        self.outstanding: dict[float, int] = {}
        self.resting: set[int] = set()  # numbers of the pages that are kept out of the queues until a known time
        self.due_at: float | None = None
        self.awaited_until = float("-inf")  # while it sleeps, a patient crawl waits for it until then
        self.is_paused = False
        self.is_available = False  # whether one of its pages on level 0 was read in this run

    def group(self, name: str) -> tuple[int, bool]:
        """Return the number of the group called *name*, and whether it is new; 0 if there are too many groups."""
        number = self.numbers.get(name)
        if number is not None or len(self.numbers) >= MAX_GROUP:
            return number or 0, False
        number = self.numbers[name] = len(self.numbers) + 1
        return number, True

    @property
    def is_waiting(self) -> bool:
        """Whether any URL waits, is leased, or will be revisited."""
        return self.revisiting > 0 or self.counts.get(State.WAITING, 0) > 0

    @property
    def has_prospects(self) -> bool:
        """Whether any URL waits or is in flight, except for revisits that are not due."""
        return bool(self.ready) or self.pending > self.revisiting or self.gate.in_flight > 0

    def push(self, entry: QueueEntry, head_urls: int) -> None:
        """Queue *entry* in its group; the groups share *head_urls*."""
        group = entry.group if self._scores is None else self._scores.queue(entry.id)
        queue = self.queues.get(group)
        if queue is None:
            queue = self.queues[group] = self.make_queue(self.id, group, ALL)
        self.is_unwritten = True
        queue.push(entry, self.share(head_urls))
        if not queue.is_empty:
            self.ready.add(group)

    def fill(self, group: int, entries: list[QueueEntry], limit: int) -> None:
        """Let the queue of a *group* that waits begin with its first *limit* URLs in the store."""
        queue = self.queues[group]
        queue.fill(entries, limit)
        self.update_group(group, queue)

    def share(self, head_urls: int) -> int:
        """Return the number of URLs of each group to keep in memory, of *head_urls* of the site."""
        return share(head_urls, len(self.queues))

    def discard(self, page_id: int, group: int) -> None:
        """Remove a URL from the queue of its *group*, if it is there."""
        if self._scores is not None:
            group = self._scores.queue(page_id)
        queue = self.queues.get(group)
        if queue is not None:
            queue.discard(page_id)
            self.update_group(group, queue)

    def raise_page(self, group: int, page_id: int, head_urls: int) -> bool:
        """Queue the number of a page whose score grew; return whether it is now the best of the site."""
        queue = self.queues.get(group)
        if queue is None:
            queue = self.queues[group] = self.make_queue(self.id, group, ALL)
        assert self._scores is not None
        self.is_unwritten = True
        if not queue.raise_page(page_id, self.share(head_urls)):
            return False
        self.ready.add(group)
        if self._best is None:  # whoever asks for it will see this page
            return True
        found = (self._offset(group) - self._scores.score(page_id), group)
        if found >= self._best:
            return False
        self._best = found
        return True

    def refresh(self) -> None:
        """Update the state of the queues; scores may have fallen in the meantime."""
        if self._scores is None:
            return
        for group, queue in self.queues.items():
            self.update_group(group, queue)
        self._best = None

    def _best_page(self) -> tuple[float, int]:
        """Return minus the score of the best page, and its group."""
        if self._best is None:
            firsts = [(queue.first, group) for group, queue in self.queues.items()]
            found = [(first[0] + self._offset(group), group) for first, group in firsts if first is not None]
            self._best = min(found, default=NOTHING_READY)
        return self._best

    def _offset(self, group: int) -> float:
        """Return the offset that makes scores of *group* comparable with group 0; it only grows, see `PageScores`."""
        assert self._scores is not None
        return self._scores.offset(0) - self._scores.offset(group) if group else 0.0

    def update_group(self, group: int, queue: PageQueue) -> None:
        """Note whether the group's *queue* holds something, or needs a refill."""
        if not queue.is_empty:
            self.ready.add(group)
            self.needs_refill.discard(group)
            return
        self.ready.discard(group)
        if not queue.has_more:
            self.needs_refill.discard(group)
        elif group not in self.needs_refill:
            self.needs_refill.add(group)
            self.is_unwritten = True

    def pop(self) -> QueueEntry:
        """Remove and return the next URL; some group must be `ready`."""
        group = self._chosen()
        queue = self.queues[group]
        entry = queue.pop()
        if queue.is_empty:
            self.update_group(group, queue)
        return entry if entry.group == group else entry._replace(group=group)

    @property
    def nearest(self) -> float:
        """The priority of the next URL; some group must be `ready`."""
        return self._first(self._chosen())[0]

    @property
    def value(self) -> float:
        """The score of the best page, comparable between sites; some group must be `ready`."""
        return -self.nearest if self._scores is None else -self._best_page()[0]

    @property
    def base(self) -> float:
        """The offset of queue 0, which `value` leaves out, as all pages share it."""
        return self._scores.offset(0) if self._scores is not None else 0.0

    def _first(self, group: int) -> tuple[float, int]:
        first = self.queues[group].first
        assert first is not None
        return first

    def _chosen(self) -> int:
        if self._scores is not None:
            if self.rule is None:
                return self._best_page()[1]
            firsts = [(group, queue.first) for group, queue in self.queues.items()]
            return self.rule.choose((group, first[1]) for group, first in firsts if first is not None)
        if self.rule is None or len(self.ready) == 1:
            return next(iter(self.ready))
        return self.rule.choose((group, self._first(group)[1]) for group in self.ready)

    def add_outstanding(self, priority: float) -> None:
        self.outstanding[priority] = self.outstanding.get(priority, 0) + 1

    def remove_outstanding(self, priority: float) -> None:
        left = self.outstanding[priority] - 1
        if left:
            self.outstanding[priority] = left
        else:
            del self.outstanding[priority]

    def must_wait(self, priority: float) -> bool:
        """Whether a nearer page is still in flight."""
        return bool(self.outstanding) and min(self.outstanding) < priority
