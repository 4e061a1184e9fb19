"""Work that is too long for one turn of an event loop, done in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

T = TypeVar("T")
Result = TypeVar("Result")

SLICE_LINKS = 500  # some 10 ms of work


class Slices(Generic[Result]):
    """The work of a generator, which yields between its slices, and returns the result.

    >>> def count(numbers):
    ...     for number in numbers:
    ...         yield
    ...     return len(numbers)
    >>> work = Slices(count("ab"))
    >>> work.next(), work.next(), work.next(), work.next()
    (True, True, False, False)
    >>> work.finish()
    2
    """

    __slots__ = ("_result", "_work")

    def __init__(self, work: Generator[None, None, Result]) -> None:
        self._work: Generator[None, None, Result] | None = work
        self._result: Result

    def next(self) -> bool:
        """Do the next slice; return whether there may be another one."""
        if self._work is None:
            return False
        try:
            next(self._work)
        except StopIteration as end:
            self._work, self._result = None, end.value
            return False
        return True

    def finish(self) -> Result:
        """Do everything that is left, and return the result. Raises what a slice raised."""
        while self.next():
            pass
        return self._result

    def drop(self) -> None:
        """Leave the rest undone."""
        if self._work is not None:
            self._work.close()


def sliced(items: Sequence[T], most: int = SLICE_LINKS) -> Iterator[Sequence[T]]:
    """Yield *items* in order, at most *most* at a time.

    >>> list(sliced("abcde", 2))
    ['ab', 'cd', 'e']
    """
    for first in range(0, len(items), most):
        yield items[first : first + most]
