"""Counts per iteration and per day of a news crawl, and merging of iterations."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMED = ("fit", "not_fit", "polls", "errors", "documents", "duplicates")


class Iteration(NamedTuple):
    """A number of pages, or minutes, of a news crawl; a row of the table `iteration`."""

    number: int  # from 1
    began_at: float
    ended_at: float
    fit: int = 0  # pages whose URL matches a rule, or that a feed announced
    not_fit: int = 0
    polls: int = 0  # feeds, and revisited pages
    errors: int = 0
    documents: int = 0  # new ones
    duplicates: int = 0
    total_documents: int = 0  # at its end

    @property
    def pages(self) -> int:
        """Downloads of any kind.

        >>> Iteration(1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1).pages
        60
        """
        return self.fit + self.not_fit + self.polls + self.errors

    @property
    def useful_share(self) -> float:
        """New documents per download that was not a poll: polls are the cost of being early.

        >>> Iteration(1, 0.0, 1.0, fit=6, not_fit=3, polls=50, errors=1, documents=5).useful_share
        0.5
        """
        return self.documents / max(1, self.fit + self.not_fit + self.errors)

    def __str__(self) -> str:
        return (
            f"Iteration {self.number}: {self.pages:,} downloads in {self.ended_at - self.began_at:,.0f} s "
            f"({self.fit:,} fit, {self.not_fit:,} do not, {self.polls:,} polls, {self.errors:,} errors) brought "
            f"{self.documents:,} documents ({self.useful_share:.0%} of what was no poll) and {self.duplicates:,} "
            f"duplicates; {self.total_documents:,} documents in all"
        )


class Day(NamedTuple):
    """The results of one day of a crawl."""

    began_at: float
    documents: int  # new ones
    total_documents: int  # at its end

    @property
    def ratio(self) -> float:
        """New documents of the day, as a share of the total at its end.

        >>> Day(0.0, 5, 20).ratio
        0.25
        """
        return self.documents / self.total_documents


def merged(iterations: Sequence[Iteration], most: int) -> list[Iteration]:
    """Return at most *most* iterations, each the sum of equally many adjacent ones; the last may have fewer.

    >>> [one.fit for one in merged([Iteration(n, n - 1.0, n, fit=n) for n in range(1, 6)], 3)]
    [3, 7, 5]
    """
    width = -(-len(iterations) // most)
    groups = (list(group) for _, group in groupby(iterations, key=lambda one: (one.number - 1) // max(1, width)))
    return [_sum(group) for group in groups]


def _sum(group: Sequence[Iteration]) -> Iteration:
    first, last = group[0], group[-1]
    sums = {name: sum(getattr(one, name) for one in group) for name in SUMMED}
    return Iteration(last.number, first.began_at, last.ended_at, total_documents=last.total_documents, **sums)
