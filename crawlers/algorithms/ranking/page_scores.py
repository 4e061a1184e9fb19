"""Scores that change while URLs wait: what an order knows of every page of a crawl.

Pages are numbers from 1. Of the pages that may be fetched, the one whose `score` plus the `offset` of its
queue is greatest comes first. A score rises only by `found`, `fetched` and `moved`, which say whose did; by
themselves scores may only fall, and so may the offset of queue 1 held against that of queue 0. So a heap of the
scores as they were is a heap of upper bounds, and only what comes out of it needs another look.

What is remembered of a page is its *record*, a few numbers named by `columns`; of all pages together, the
`totals`. With both a crawl that was killed goes on as if nothing had happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

OTHER = 0  # the queue of pages never fetched, of which nothing else is known
REVISIT = 1  # the queue of pages that wait to be fetched again
GONE = -1  # the queue of pages that will not be fetched (again)


class PageScores(Protocol):
    """What the frontier asks of an order with scores."""

    #: Whether fetched pages are fetched again, as their score grows.
    returns: bool
    #: The table of the store that has a row a page, and its columns for the numbers of a record.
    table: str
    columns: tuple[str, ...]

    def found(self, page: int, level: int) -> None:
        """*page* may be fetched, perhaps again after it was gone; or it waits already, and was found nearer.

        *level*: clicks from the roots.
        """

    def fetched(self, page: int, links: Mapping[int, float]) -> Collection[int]:
        """*page* was read; *links* has the pages that it links to, each with what the link is worth in [0, 1].

        Targets that were never `found`, or are gone, count for nothing. Returns whose record changed beside *page*'s.
        """

    def moved(self, page: int, target: int) -> Collection[int]:
        """*page* is but another address of *target* and will not be fetched again. Returns whose record changed."""

    def gone(self, page: int) -> None:
        """*page* will not be fetched (again): refused, failed, rejected. Unknown pages are ignored."""

    def score(self, page: int) -> float:
        """How much it should be fetched now."""

    def queue(self, page: int) -> int:
        """0 for a page never fetched, 1 for one that waits to be fetched again, `GONE`."""

    def offset(self, queue: int) -> float:
        """What is added to the scores of *queue* before they are held against those of the other."""

    def rebase(self) -> bool:
        """Let all numbers begin anew where they have grown too large to be exact; whether they did.

        Then all records changed: it is for a time when nothing waits yet, and before that is written nothing is.
        """

    def record(self, page: int) -> tuple[float, ...]:
        """The numbers to be remembered of a page, as named by `columns`."""

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Take up a page as it was."""

    def totals(self) -> list[float]:
        """The numbers to be remembered of all pages together."""

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Take them up as they were, before any page."""
