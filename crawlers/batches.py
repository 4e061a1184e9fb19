"""Splits what is read row by row into lists, for what is quicker with many rows at a time."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")


def batches(rows: Iterable[T], size: int = 2000) -> Iterator[list[T]]:
    """Yield *rows* in lists of *size*; the last one may be shorter.

    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    rest = iter(rows)
    while some := list(islice(rest, size)):
        yield some
