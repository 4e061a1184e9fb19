"""One number per page of a crawl in compact memory: 8 bytes for a double, 1 for a byte."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from numpy.typing import NDArray

Number = TypeVar("Number", int, float)

_SHIFT = 12  # a block has 2^12 numbers, 32 KB of doubles; at most two blocks are wasted, as page numbers are dense
_LENGTH = 1 << _SHIFT
_WITHIN = _LENGTH - 1


class PageValues(Generic[Number]):
    """A mapping from page numbers to numbers; the only element of the array *empty* is the default.

    >>> from array import array
    >>> cash = PageValues(array("d", [0.0]))
    >>> cash[70_001] += 0.5
    >>> cash[70_001], cash[70_002]
    (0.5, 0.0)
    """

    __slots__ = ("_blank", "_blocks", "_empty")

    def __init__(self, empty: array[Number]) -> None:
        self._empty: Number = empty[0]
        self._blank: array[Number] = empty * _LENGTH
        self._blocks: dict[int, array[Number]] = {}

    def __getitem__(self, page: int) -> Number:
        block = self._blocks.get(page >> _SHIFT)
        return self._empty if block is None else block[page & _WITHIN]

    def __setitem__(self, page: int, value: Number) -> None:
        block = self._blocks.get(page >> _SHIFT)
        if block is None:
            block = self._blocks[page >> _SHIFT] = self._blank[:]
        block[page & _WITHIN] = value

    def values_of(self, pages: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Return the numbers of many *pages*; O(pages log pages)."""
        found = np.full(len(pages), self._empty, np.dtype(self._blank.typecode))
        order = np.argsort(pages, kind="stable")
        ordered = pages[order]
        blocks = ordered >> _SHIFT
        starts: list[int] = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(pages)]):
            block = self._blocks.get(int(blocks[start]))
            if block is not None:
                found[order[start:end]] = np.frombuffer(block, found.dtype)[ordered[start:end] & _WITHIN]
        return found

    def items(self) -> Iterator[tuple[int, Number]]:
        """Yield the pages whose number is not the default, with their numbers; ordered by page within each block."""
        for high, block in self._blocks.items():
            for low, value in enumerate(block, high << _SHIFT):
                if value != self._empty:
                    yield low, value
