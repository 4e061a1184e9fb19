"""A priority queue of numbers whose priorities change frequently."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
