"""Arms: the state of a rule for each site, in the order of discovery.

The state of a rule depends on pulls alone. Choosing changes nothing (except for turns measured in seconds), and neither
does sleeping: a rule to which the pulls of an interrupted crawl are replayed has the state of the interrupted one.

With them, what rules share: a priority queue of numbers whose priorities change frequently, and the patience of a crawl
with a page budget, which waits for better pages.
"""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

Priority: TypeAlias = tuple[float, ...]  # the smallest comes first

SLACK = 64  # obsolete entries tolerated in a heap of any size


class IndexedHeap:
    """Numbers by priority: smallest first, ties by number; O(log n) per change, amortised.

    >>> heap = IndexedHeap()
    >>> heap.put(1, (5.0,)), heap.put(2, (3.0,)), heap.first()
    (None, None, 2)
    >>> heap.put(2, (7.0,)), heap.first()
    (None, 1)

    Notes
    -----
    Entries are deleted only at the top of the heap: an entry is valid if it has the current priority of its number. If
    more than half of the entries are obsolete, the heap is rebuilt.
    """

    __slots__ = ("_heap", "_priorities")

    def __init__(self) -> None:
        self._priorities: dict[int, Priority] = {}
        self._heap: list[tuple[Priority, int]] = []

    def __len__(self) -> int:
        return len(self._priorities)

    def put(self, number: int, priority: Priority) -> None:
        """Insert *number* with *priority*, or change its priority."""
        if self._priorities.get(number) == priority:
            return
        self._priorities[number] = priority
        if len(self._heap) > 2 * len(self._priorities) + SLACK:
            self.replace(self._priorities)
        else:
            heapq.heappush(self._heap, (priority, number))

    def remove(self, number: int) -> None:
        """Remove *number* if it is in the heap; O(1)."""
        self._priorities.pop(number, None)

    def replace(self, priorities: Mapping[int, Priority]) -> None:
        """Replace the whole contents by *priorities*, which maps numbers to priorities; O(n)."""
        self._priorities = dict(priorities)
        self._heap = [(priority, number) for number, priority in self._priorities.items()]
        heapq.heapify(self._heap)

    def first(self) -> int | None:
        """Return the number with the smallest priority, or None if the heap is empty."""
        heap, priorities = self._heap, self._priorities
        while heap:
            priority, number = heap[0]
            if priorities.get(number) == priority:
                return number
            heapq.heappop(heap)
        return None

    def first_wanted(self, is_wanted: Callable[[int], bool]) -> int | None:
        """Return the first number for which *is_wanted* returns True, and remove those before it; None without any."""
        while (first := self.first()) is not None and not is_wanted(first):
            self.remove(first)
        return first

    def first_but(self, number: int) -> int | None:
        """Return the number with the smallest priority other than *number*, or None; O(log n) amortised."""
        first = self.first()
        if first != number:
            return first
        priority = self._priorities.pop(number)
        second = self.first()
        self.put(number, priority)
        return second


@dataclass(frozen=True, slots=True)
class Patience:
    """A patient crawl chooses a site only if its index is near the best; otherwise it waits for better sites.

    *index_share*, in [0, 1], is the share of the best index that a site needs to be chosen; 0: any site is chosen.
    *longest_s* is the number of seconds after its last request during which a sleeping site is waited for. *timeout_s*
    is the time limit of the run, 0 if it has none.
    """

    index_share: float = 0.0
    longest_s: float = 0.0
    timeout_s: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a crawl ever waits."""
        return self.index_share > 0.0 and self.longest_s > 0.0

    def ends_at(self, began_at: float, spent: float) -> float:
        """Return the time at which the crawl stops waiting if the *spent* share of its budget, in [0, 1], stays that.

        With a time limit it waits only while it is ahead of the pace at which the budget will be spent when the time is
        over. *began_at* is the start of the run.

        >>> Patience(0.9, 60.0, timeout_s=3600.0).ends_at(1000.0, 0.5)
        2800.0
        """
        return began_at + self.timeout_s * spent if self.timeout_s else math.inf


def is_near_best(value: float, best: float, share: float) -> bool:
    """Return whether *value* is at least the *share*, in [0, 1], of the *best* one; of a negative one, as far below it.

    >>> is_near_best(0.9, 1.0, 0.9), is_near_best(0.8, 1.0, 0.9), is_near_best(-1.0, -1.0, 0.9)
    (True, False, True)
    """
    return value >= best * (share if best > 0.0 else 2.0 - share)


NO_PATIENCE = Patience()


class Arm:
    """Pulls and rewards of one site; a pull in flight counts with reward 0."""

    __slots__ = ("is_awake", "is_resting", "name", "number", "pending", "pulls", "total")

    def __init__(self, name: Hashable, number: int) -> None:
        self.name = name
        self.number = number  # in the order of discovery
        self.is_awake = False
        self.is_resting = False  # asleep for a short time
        self.pulls = 0
        self.pending = 0  # pulls in flight, included in `pulls`
        self.total = 0.0  # sum of the rewards

    def earn(self, reward: float) -> None:
        """Record the *reward* of a pull in flight."""
        self.pending -= 1
        self.total += reward


A = TypeVar("A", bound=Arm)


class _Arms(dict["Hashable", A]):
    """Arms by name; one that is asked for is made by *make*, of its name and its number, if there is none."""

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        self._make = make
        self.by_number: list[A] = []

    def __missing__(self, name: Hashable) -> A:
        arm = self[name] = self._make(name, len(self))
        self.by_number.append(arm)
        return arm


class ArmRule(ABC, Generic[A]):
    """A rule that chooses the arm to pull next; *make* creates an arm from its name and number.

    A rule overrides `select`, and any of `_record_pull`, `_record_reward`, `_cancel_pull`, which are called after the
    arm is updated, and `_changed`, which is called after these, and when an arm wakes or sleeps.
    """

    #: Whether `set_arm_value` must be called with the score of the best page of each site that wakes.
    weighs_pages = False
    #: Whether the rule computes an index for each arm and chooses the largest.
    has_index = False

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        self._known = _Arms(make)
        self._arms = self._known.by_number

    @abstractmethod
    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep. Choosing is not pulling: see `record_pull`."""

    def index(self, arm: Hashable) -> float | None:
        """Return the current index of *arm*, infinity for one that comes before all indices; None without indices."""
        return None

    def wake(self, arm: Hashable) -> None:
        """Make *arm* available; the first call registers it."""
        found = self._known[arm]
        found.is_awake, found.is_resting = True, False
        self._changed(found)

    def sleep(self, arm: Hashable) -> None:
        """Make *arm* unavailable; the first call registers it."""
        found = self._known[arm]
        found.is_awake = found.is_resting = False
        self._changed(found)

    def pause(self, arm: Hashable) -> None:
        """Make *arm* unavailable for a short time: it still counts in `is_close_to_best`."""
        found = self._known[arm]
        found.is_awake, found.is_resting = False, True
        self._changed(found)

    def is_close_to_best(self, arm: Hashable, share: float) -> bool:
        """Return whether the value of *arm* is at least *share*, in [0, 1], of the greatest one of all other sites.

        Sites that sleep do not count, but those that rest do.
        """
        values = self._compare(self._known[arm])
        return values is None or is_near_best(*values, share)

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return 0: to rules without an index, all arms are equal."""
        return 0.0

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Do nothing: most rules do not use the scores of pages."""

    def record_pull(self, arm: Hashable) -> None:
        """Record a pull of *arm*, which counts with reward 0 until its reward is known."""
        found = self._known[arm]
        found.pulls += 1
        found.pending += 1
        self._record_pull(found)
        self._changed(found)

    def record_reward(self, arm: Hashable, reward: float) -> None:
        """Record the *reward* >= 0 of a pull of *arm*, which is started first if that was not recorded."""
        found = self._known[arm]
        if not found.pending:
            self.record_pull(arm)
        found.earn(reward)
        self._record_reward(found, reward)
        self._changed(found)

    def cancel_pull(self, arm: Hashable) -> None:
        """Undo a pull of *arm* that is in flight; ignored if none is."""
        found = self._known[arm]
        if found.pending:
            found.pulls -= 1
            found.pending -= 1
            self._cancel_pull(found)
            self._changed(found)

    def _compare(self, arm: A) -> tuple[float, float] | None:
        """Return the value of *arm* and the greatest one of other sites that are awake or rest.

        None if *arm* may be pulled whatever these promise, as under rules that do not value sites.
        """
        return None

    def _changed(self, arm: A) -> None: ...

    def _record_pull(self, arm: A) -> None: ...

    def _record_reward(self, arm: A, reward: float) -> None: ...

    def _cancel_pull(self, arm: A) -> None: ...


class HeapRule(ArmRule[A]):
    """The awake arm with the smallest priority; ties: the order of discovery. O(log K) per choice, for K sites."""

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        super().__init__(make)
        self._heap = IndexedHeap()  # awake arms

    @abstractmethod
    def _priority(self, arm: A) -> Priority: ...

    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep."""
        first = self._heap.first()
        return None if first is None else self._arms[first].name

    def _changed(self, arm: A) -> None:
        if arm.is_awake:
            self._heap.put(arm.number, self._priority(arm))
        else:
            self._heap.remove(arm.number)
