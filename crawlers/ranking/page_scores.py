"""The base of orders whose scores change while URLs wait: their state for every page of a crawl.

Pages are numbers from 1. Of the pages that may be fetched, the one with the greatest sum of `score` and the `offset` of
its queue comes first. Scores rise only by `add_waiting`, `fetched` and `record_alias`; the last two return the pages
concerned. Otherwise scores can only fall, and so can the offset of queue 1 relative to that of queue 0. So a heap of
old scores is a heap of upper bounds, and only its top needs to be checked.

The state of a page is its *record*, a few numbers named by `columns`; the state of all pages together is the `totals`.
Both suffice to continue a killed crawl exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crawlers.items import GONE
from crawlers.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlers.items import Hint, Part

Policy = Literal["greedy", "cyclic", "random"]  # of OPIC: which page is next
UNKNOWN = -2  # the queue of undiscovered pages


class PageScores(ABC):
    """The scores of all pages of a crawl, or of the part of them that a worker has.

    A link to a page of another worker is a message. It carries one number, and the value of the link.
    """

    #: The table of the store with one row per page, and its columns for the numbers of a record.
    table: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    #: Whether scores depend on the pages of all workers: what concerns all is exchanged by `apply_totals`.
    is_shared: ClassVar[bool] = False
    #: Whether the mission says by hints where a page waits, and when it is fetched again.
    takes_hints: ClassVar[bool] = False

    def __init__(self) -> None:
        self._queues = PageValues(array("b", [UNKNOWN]))

    @abstractmethod
    def add_waiting(self, page: int, level: int) -> None:
        """Record that *page* may be fetched (again), or that it waits and was found on a lower *level*.

        The level is the number of clicks from the roots.
        """

    @abstractmethod
    def fetched(self, page: int, links: Mapping[int, float], elsewhere: int = 0) -> Collection[int]:
        """Record that *page* was read; *links* are its targets, each with the value of the link in [0, 1].

        It has links to *elsewhere* more pages, which are other workers'. Targets that were never `add_waiting`, or are
        gone, are ignored. Returns the other pages whose record changed.
        """

    @abstractmethod
    def record_alias(self, page: int, target: int) -> Collection[int]:
        """Record that *page* is an alias of *target* and will not be fetched again.

        Returns the other pages whose record changed.
        """

    def remove_page(self, page: int) -> None:
        """Record that *page* will not be fetched (again): refused, failed, rejected. Unknown pages are ignored."""
        if self._queues[page] != UNKNOWN:
            self._queues[page] = GONE

    @abstractmethod
    def score(self, page: int) -> float:
        """Return the score of *page*, to which the offset of its queue must be added."""

    def scores(self, pages: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the `score` of each of many *pages*, for orders that learn from links."""
        raise NotImplementedError

    def queue(self, page: int) -> int:
        """Return the queue of *page*: `items.OTHER`, `REVISIT`, `GONE`, or another one of the order."""
        return max(self._queues[page], GONE)

    def take_hint(self, page: int, hint: Hint) -> bool:
        """Let *page* come where *hint* says, if it waits, or is fetched; return whether its record changed."""
        return False

    def hint(self, page: int) -> Hint | None:
        """Return the hint by which *page* waits, or waited last."""
        return None

    def passed_on(self, page: int) -> Hint | None:
        """Return the hint for the target of a redirect from *page*, if that is a page of another worker."""
        return None

    def schedule_visit(self, page: int) -> bool:
        """Record that *page*, which was fetched, is fetched again at a time that the mission says, and return True."""
        return False

    def offset(self, queue: int) -> float:
        """Return the number to add to scores of pages in *queue* to compare them with those in other queues."""
        return 0.0

    def rebase(self) -> bool:
        """Rescale all numbers if they have grown too large to be exact; return whether that happened.

        All records change in that case: call it only while no change waits to be written, and then write all records.
        """
        return False

    @abstractmethod
    def record(self, page: int) -> tuple[float, ...]:
        """Return the numbers to store for *page*, in the order of `columns`."""

    @abstractmethod
    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Restore *page* in *queue* from its *record*."""

    def totals(self) -> list[float]:
        """Return the numbers to store for all pages together."""
        return []

    def recall_totals(self, totals: Sequence[float]) -> None:  # noqa: B027 - few orders have totals
        """Restore the totals, before any page."""

    # Pages of several workers ------------------------------------------------------------------------

    def carries(self, page: int, links: Mapping[int, float], elsewhere: int) -> float:
        """Return the number that each message of *page* carries; called before `fetched` with its arguments."""
        return 0.0

    def received(self, page: int, carried: float, value: float) -> Collection[int]:
        """Record a link to *page* from a page of another worker, with the *value* in [0, 1] of the link.

        Returns the pages whose record changed.
        """
        return ()

    def moved_away(self, page: int) -> float:
        """Record that *page* is an alias of a page of another worker; return the number that a message carries."""
        self.remove_page(page)
        return 0.0

    def base(self) -> list[float]:
        """Return the numbers to which records are relative, for `add_page`."""
        return []

    def add_page(self, page: int, queue: int, record: Sequence[float], base: Sequence[float]) -> None:
        """Add a page of another worker, or of an earlier run, whose *record* is relative to *base*."""
        self.recall(page, queue, record)

    def remove_pages(self, pages: Collection[int]) -> None:
        """Forget *pages*, which are another worker's from now on."""
        for page in pages:
            self._queues[page] = UNKNOWN

    def begin_part(self, ended: Mapping[int, Part] | None = None) -> None:  # noqa: B027 - few orders have totals
        """Begin without pages; with *ended*, all earlier workers have ended, and this one goes on alone."""

    def apply_totals(self, others: Iterable[Sequence[float]], given: float) -> Collection[int]:
        """Take up the totals of all *others*, and what this worker was *given* by `hand_out` since it began.

        Returns the pages whose record changed.
        """
        return ()

    def hand_out(self, parts: Mapping[int, Part]) -> dict[int, float]:
        """Return what each active worker is given by all workers together, from the beginning until now.

        Reads no state of this worker, so any thread may call it.
        """
        return {}
