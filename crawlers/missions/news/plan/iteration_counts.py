"""The counts of a news crawl, by iteration and by day."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from crawlers.plurals import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("fit", "not_fit", "polls", "errors")  # of downloads
MOST_DISORDER_S = 60.0  # between the times of pages of several workers in the order in which they are stored
SUMMED = (*KINDS, "documents", "duplicates")


class Iteration(NamedTuple):
    """The counts of one iteration, a number of pages; a row of the table `iteration`."""

    number: int  # from 1
    began_at: float
    ended_at: float
    fit: int = 0  # pages whose URL matches a rule, or that a feed announced
    not_fit: int = 0  # other pages
    polls: int = 0  # feeds, and revisited pages
    errors: int = 0
    documents: int = 0  # new ones
    duplicates: int = 0
    total_documents: int = 0  # at the end of the iteration

    def is_full(self, most_pages: int) -> bool:
        """Return whether it has all its pages; 0 = it never has."""
        return 0 < most_pages <= self.pages

    def after(self, kind: str, now: float, *, is_new: bool, is_copy: bool) -> Iteration:
        """Return the iteration with one more download of a *kind*, one of `KINDS`, which ended at *now*.

        *is_new*: it is a new document; *is_copy*: it is a copy of one.

        >>> Iteration(1, 0.0, 0.0).after("fit", 2.0, is_new=True, is_copy=False)[3:]
        (1, 0, 0, 0, 1, 0, 1)
        """
        counts = {name: value + (name == kind) for name, value in self._asdict().items() if name in KINDS}
        counts |= {"documents": self.documents + is_new, "duplicates": self.duplicates + is_copy}
        ended_at = max(now, self.ended_at) if now >= self.began_at - MOST_DISORDER_S else now
        return self._replace(ended_at=ended_at, total_documents=self.total_documents + is_new, **counts)

    @property
    def pages(self) -> int:
        """The number of downloads of any kind.

        >>> Iteration(1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1).pages
        60
        """
        return self.fit + self.not_fit + self.polls + self.errors

    @property
    def useful_share(self) -> float:
        """New documents per download, not counting polls, which are the cost of being early.

        >>> Iteration(1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1, documents=5).useful_share
        0.5
        """
        return self.documents / max(1, self.fit + self.not_fit + self.errors)

    def __str__(self) -> str:
        polls, errors = counted(self.polls, "poll"), counted(self.errors, "error")
        return (
            f"Iteration {self.number}: {counted(self.pages, 'download')} in {self.ended_at - self.began_at:,.0f} s "
            f"({self.fit:,} fit, {self.not_fit:,} not fit, {polls}, {errors}), "
            f"{counted(self.documents, 'new document')} ({self.useful_share:.0%} of the downloads without polls), "
            f"{counted(self.duplicates, 'duplicate')}; {counted(self.total_documents, 'document')} in total"
        )


class Day(NamedTuple):
    """The results of one day of a crawl."""

    began_at: float
    documents: int  # new ones
    total_documents: int  # at the end of the day

    @property
    def ratio(self) -> float:
        """The share of the day's new documents in the total at its end.

        >>> Day(0.0, 5, 20).ratio
        0.25
        """
        return self.documents / self.total_documents


def merged(iterations: Sequence[Iteration], most: int) -> list[Iteration]:
    """Return at most *most* >= 1 iterations, each the sum of equally many adjacent ones; the last may have fewer.

    >>> [sums.fit for sums in merged([Iteration(n, n - 1.0, n, fit=n) for n in range(1, 6)], 3)]
    [3, 7, 5]
    """
    width = max(1, -(-len(iterations) // most))
    groups = groupby(iterations, key=lambda iteration: (iteration.number - 1) // width)
    return [_sum(list(group)) for _, group in groups]


def _sum(group: Sequence[Iteration]) -> Iteration:
    first, last = group[0], group[-1]
    sums = {name: sum(getattr(iteration, name) for iteration in group) for name in SUMMED}
    return Iteration(last.number, first.began_at, last.ended_at, total_documents=last.total_documents, **sums)
