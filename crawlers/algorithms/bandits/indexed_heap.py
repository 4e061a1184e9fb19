"""A line of numbered things of which the foremost is wanted, while their places change all the time."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

QueueSlot: TypeAlias = tuple[float, ...]  # the smallest stands first

SLACK = 64  # entries of places that were left, in a line of any length


class IndexedHeap:
    """Numbers by place: foremost first, ties by number; O(log n) a change, amortised.

    >>> line = IndexedHeap()
    >>> line.put(1, (5.0,)), line.put(2, (3.0,)), line.first()
    (None, None, 2)
    >>> line.put(2, (7.0,)), line.first()
    (None, 1)

    Notes
    -----
    A heap from which nothing is deleted but at its top: an entry counts if it says where its number stands now. When
    more than half of the entries don't count, the heap is made anew.
    """

    __slots__ = ("_heap", "_places")

    def __init__(self) -> None:
        self._places: dict[int, QueueSlot] = {}
        self._heap: list[tuple[QueueSlot, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def put(self, number: int, place: QueueSlot) -> None:
        """Let *number* stand at *place*, wherever it stood before."""
        if self._places.get(number) == place:
            return
        self._places[number] = place
        if len(self._heap) > 2 * len(self._places) + SLACK:
            self.arrange(self._places)
        else:
            heapq.heappush(self._heap, (place, number))

    def leave(self, number: int) -> None:
        """*number* stands nowhere; O(1)."""
        self._places.pop(number, None)

    def arrange(self, places: Mapping[int, QueueSlot]) -> None:
        """Let exactly these stand in line; O(n)."""
        self._places = dict(places)
        self._heap = [(place, number) for number, place in self._places.items()]
        heapq.heapify(self._heap)

    def first(self) -> int | None:
        """The foremost number, or None when nobody stands in line."""
        heap, places = self._heap, self._places
        while heap:
            place, number = heap[0]
            if places.get(number) == place:
                return number
            heapq.heappop(heap)
        return None
