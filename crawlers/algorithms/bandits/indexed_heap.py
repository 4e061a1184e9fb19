"""A priority queue of numbers whose priorities change frequently."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

QueueSlot: TypeAlias = tuple[float, ...]  # the smallest comes first

SLACK = 64  # obsolete entries tolerated in a heap of any size


class IndexedHeap:
    """Numbers by priority: smallest first, ties by number; O(log n) per change, amortised.

    >>> line = IndexedHeap()
    >>> line.put(1, (5.0,)), line.put(2, (3.0,)), line.first()
    (None, None, 2)
    >>> line.put(2, (7.0,)), line.first()
    (None, 1)

    Notes
    -----
    Entries are deleted only at the top of the heap: an entry is valid if it has the current priority of its number. If
    more than half of the entries are obsolete, the heap is rebuilt.
    """

    __slots__ = ("_heap", "_places")

    def __init__(self) -> None:
        self._places: dict[int, QueueSlot] = {}
        self._heap: list[tuple[QueueSlot, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def put(self, number: int, place: QueueSlot) -> None:
        """Insert *number* at *place*, or move it there."""
        if self._places.get(number) == place:
            return
        self._places[number] = place
        if len(self._heap) > 2 * len(self._places) + SLACK:
            self.arrange(self._places)
        else:
            heapq.heappush(self._heap, (place, number))

    def leave(self, number: int) -> None:
        """Remove *number*; O(1)."""
        self._places.pop(number, None)

    def arrange(self, places: Mapping[int, QueueSlot]) -> None:
        """Replace all entries by *places*; O(n)."""
        self._places = dict(places)
        self._heap = [(place, number) for number, place in self._places.items()]
        heapq.heapify(self._heap)

    def first(self) -> int | None:
        """Return the first number, or None if the heap is empty."""
        heap, places = self._heap, self._places
        while heap:
            place, number = heap[0]
            if places.get(number) == place:
                return number
            heapq.heappop(heap)
        return None
