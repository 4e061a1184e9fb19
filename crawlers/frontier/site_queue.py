"""What waits on one site: one queue a group of links.

An order that makes no groups has all URLs of a site in group 0; one with scores has the queues of its `PageScores`
for groups, among them `RETURNING`, of pages that wait to be fetched again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.politeness import HostGate
from crawlers.frontier.queues.bounded_queue import ALL, NONE
from crawlers.frontier.queues.scored_queue import ScoredQueue
from crawlers.frontier.url_cache import MAX_GROUP, UrlCache
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.ranking.page_orders import GroupRule
    from crawlers.algorithms.ranking.page_scores import PageScores
    from crawlers.frontier.frontier_store import QueueEntry
    from crawlers.frontier.protocols import Counts, SiteState
    from crawlers.frontier.queues.bounded_queue import PageQueue

    MakeHead = Callable[[int, int, tuple[float, int]], PageQueue]

NOTHING_READY = (float("inf"), 0)
SMALLEST_QUEUE = 16  # however many groups share a site's memory: to read fewer of the journal at a time would not pay


class SiteQueue:
    """A site's queues, gate and memory of known URLs.

    *make_head* makes the head of a site's group. *rule* chooses among its groups, if the order makes any. *names* are
    those of the groups met in earlier runs, number 1 first; *waiting* the groups in which a URL waits; *returning*
    says how many pages wait to be fetched again; *scores* are those of the order, if it has any.
    """

    __slots__ = (
        "_best",
        "_scores",
        "counts",
        "due_at",
        "gate",
        "heads",
        "id",
        "is_available",
        "is_paused",
        "make_head",
        "max_level",
        "needs_refill",
        "numbers",
        "outstanding",
        "pending",
        "ready",
        "revisiting",
        "rule",
        "seen",
    )

    def __init__(
        self,
        state: SiteState,
        counts: Counts,
        make_head: MakeHead,
        rule: GroupRule | None = None,
        names: Iterable[str] = (),
        waiting: Iterable[int] = (),
        revisiting: int = 0,
        scores: PageScores | None = None,
    ) -> None:
        self.id = state.id
        self.max_level = state.max_level
        self.gate = HostGate(state.parallel, state.delay_s)
        self.seen = UrlCache()
        self.counts = counts  # leased ones count as waiting
        self.revisiting = revisiting  # pages that will be fetched again, leased ones as well
        self.pending = counts.get(State.WAITING, 0) + revisiting  # waiting and not handed out
        self.make_head = make_head
        self._scores = scores
        # Minus what the best page scored when it was looked for last, and its group; by itself it only gets worse.
        self._best: tuple[float, int] = NOTHING_READY
        self.rule = rule
        self.numbers = {name: number for number, name in enumerate(names, 1)}
        self.heads = {number: make_head(self.id, number, NONE) for number in waiting}
        self.ready: set[int] = set()  # groups with something in memory
        self.needs_refill = set(self.heads)  # groups with nothing in memory while the journal may hold more
        # Priorities that were handed out and are not answered yet, with their number.
        self.outstanding: dict[float, int] = {}
        self.due_at: float | None = None
        self.is_paused = False
        self.is_available = False  # whether one of its pages on level 0 was read in this run

    def group(self, name: str) -> tuple[int, bool]:
        """The number of the group called *name*, and whether it is new; 0 when there are too many to have one."""
        number = self.numbers.get(name)
        if number is not None or len(self.numbers) >= MAX_GROUP:
            return number or 0, False
        number = self.numbers[name] = len(self.numbers) + 1
        return number, True

    @property
    def is_waiting(self) -> bool:
        """Whether any URL waits, is leased, or will be fetched again."""
        return self.revisiting > 0 or self.counts.get(State.WAITING, 0) > 0

    def push(self, entry: QueueEntry, head_urls: int) -> None:
        """Queue *entry* in its group; the groups share *head_urls*."""
        group = entry.group if self._scores is None else self._scores.queue(entry.id)
        head = self.heads.get(group)
        if head is None:
            head = self.heads[group] = self.make_head(self.id, group, ALL)
        head.push(entry, self.share(head_urls))
        if head.first is not None:
            self.ready.add(group)

    def share(self, head_urls: int) -> int:
        """How many URLs of each group stay in memory, of *head_urls* of the site."""
        return min(head_urls, max(SMALLEST_QUEUE, head_urls // max(1, len(self.heads))))

    def discard(self, page_id: int, group: int) -> None:
        """Take a URL out of the heap of its *group*, if it is there."""
        if self._scores is not None:
            group = self._scores.queue(page_id)
        head = self.heads.get(group)
        if head is not None:
            head.discard(page_id)
            self.settle(group, head)

    def rise(self, group: int, page_id: int, head_urls: int) -> bool:
        """Queue the number of a page whose score grew; whether it is better now than all others of the site."""
        head = self.heads.get(group)
        if head is None:
            head = self.heads[group] = self.make_head(self.id, group, ALL)
        assert isinstance(head, ScoredQueue)
        assert self._scores is not None
        if not head.rise(page_id, self.share(head_urls)):
            return False
        self.ready.add(group)
        found = (self._beyond(group) - self._scores.score(page_id), group)
        if found >= self._best:
            return False
        self._best = found
        return True

    def look_again(self) -> None:
        """Note what the heads hold; scores may have fallen since."""
        if self._scores is None:
            return
        best = NOTHING_READY
        for group, head in self.heads.items():
            first = head.first
            if first is None:
                self.settle(group, head)
                continue
            self.ready.add(group)
            self.needs_refill.discard(group)
            best = min(best, (first[0] + self._beyond(group), group))
        self._best = best

    def _beyond(self, group: int) -> float:
        """What scores of *group* lack to be held against those of group 0; it may only grow, see `PageScores`."""
        assert self._scores is not None
        return self._scores.offset(0) - self._scores.offset(group) if group else 0.0

    def settle(self, group: int, head: PageQueue) -> None:
        """Note whether the group's *head* holds something, or wants to be refilled."""
        if head.first is not None:
            self.ready.add(group)
            self.needs_refill.discard(group)
            return
        self.ready.discard(group)
        if head.has_more:
            self.needs_refill.add(group)

    def pop(self) -> QueueEntry:
        """Hand out what is next; something must be `ready`."""
        group = self._chosen()
        head = self.heads[group]
        entry = head.pop()
        if head.first is None:
            self.settle(group, head)
        return entry if entry.group == group else entry._replace(group=group)

    @property
    def nearest(self) -> float:
        """The priority of what is handed out next; something must be `ready`."""
        return self._first(self._chosen())[0]

    @property
    def value(self) -> float:
        """What the best page scores, to be held against those of other sites; something must be `ready`."""
        return -self.nearest if self._scores is None else -self._best[0]

    def _first(self, group: int) -> tuple[float, int]:
        first = self.heads[group].first
        assert first is not None
        return first

    def _chosen(self) -> int:
        if self._scores is not None:
            if self.rule is None:
                return self._best[1]
            firsts = [(group, head.first) for group, head in self.heads.items()]
            return self.rule.choose((group, first[1]) for group, first in firsts if first is not None)
        if self.rule is None or len(self.ready) == 1:
            return next(iter(self.ready))
        return self.rule.choose((group, self._first(group)[1]) for group in self.ready)

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
