"""What an iteration of a news crawl brought, and what a day did; and many iterations as few."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SUMMED = ("fit", "not_fit", "polls", "errors", "documents", "duplicates")


class Iteration(NamedTuple):
    """So many pages, or minutes, of a news crawl; a row of the table `iteration`."""

    number: int  # from 1
    began_at: float
    ended_at: float
    fit: int = 0  # pages whose URL fits a rule, or that a feed announced
    not_fit: int = 0
    polls: int = 0  # feeds, and pages that came back
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
        """New documents a download that was no poll: polls are what it costs to be early, whatever they bring.

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
    """What a day of a crawl brought."""

    began_at: float
    documents: int  # new ones
    total_documents: int  # at its end

    @property
    def ratio(self) -> float:
        """Its new documents, of all that there were at its end.

        >>> Day(0.0, 5, 20).ratio
        0.25
        """
        return self.documents / self.total_documents


def merged(iterations: Sequence[Iteration], most: int) -> list[Iteration]:
    """At most *most* iterations, each the sum of as many neighbours as it takes; the last may be of fewer.

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
