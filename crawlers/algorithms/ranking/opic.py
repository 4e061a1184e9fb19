"""OPIC: pages pay cash to the pages that they link to; the cash that passes through a page is its importance.

A virtual page gets a share of every payment, and everything that a page without links pays, and distributes it equally
to all pages. That takes O(1): the total that it gave to each page of a queue is one number, the *offset* of the queue,
and only the *key* of each page is stored, which is its cash minus the offset.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003. The offsets are our own.
"""

from __future__ import annotations

import math
from array import array
from struct import pack
from typing import TYPE_CHECKING, Literal

import xxhash

from crawlers.algorithms.ranking.aliases import Aliases
from crawlers.algorithms.ranking.page_scores import GONE
from crawlers.algorithms.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Policy = Literal["greedy", "cyclic", "random"]

_UNKNOWN = -2  # the queue of undiscovered pages
# In times the mean cash: offsets only grow, and the larger they are, the fewer digits remain for cash, here 7 of 16.
_REBASE = 1e9


class OPIC:
    """Scores by cash, and importance by all the cash that has ever passed: for a web that does not change.

    *policy* determines the page with the highest score: the one with the most cash ("greedy"), the one that was not
    fetched for the longest time ("cyclic"), or any ("random": each page is due after an exponentially distributed
    time, so all are equally likely; with plain random scores, pages with low ones would wait forever). The virtual page
    gets *virtual_share* in (0, 1] of every payment, so that importance is PageRank with damping 1 - *virtual_share*. A
    page that was never fetched gets *uncrawled_weight* >= 1 times as much from it as a fetched one; infinity gives
    everything to such pages, as long as there are any. *total* is the total cash; *seed* determines random orders.

    A tick is one fetched page. Cash is paid when the page has been fetched, not when it is requested: a page that fails
    keeps its cash.

    Notes
    -----
    O(1) per link, 25 bytes per page.
    """

    table = "importance"
    columns: tuple[str, ...] = ("cash", "history", "visited", "alias")

    def __init__(
        self,
        policy: Policy = "greedy",
        *,
        virtual_share: float = 0.15,
        uncrawled_weight: float = 1.0,
        total: float = 1.0,
        seed: int = 0,
    ) -> None:
        self._policy = policy
        self._virtual_share = virtual_share
        self._uncrawled_weight = uncrawled_weight
        self._total = total
        self._seed = seed
        self._virtual = total  # cash of the virtual page
        self._offsets = [0.0, 0.0]  # by queue: the total that the virtual page gave to each of its pages
        self._waiting = [0, 0]  # by queue: pages
        self._found = 0  # pages found, including those that are gone
        self._history = 0.0  # sum of the histories of all pages
        self.ticks = 0
        self._queues = PageValues(array("b", [_UNKNOWN]))
        self._keys = PageValues(array("d", [0.0]))
        self._histories = PageValues(array("d", [0.0]))
        self._visited = PageValues(array("d", [0.0]))  # the tick at which it was found or last fetched
        self._aliases = Aliases()

    # Events ------------------------------------------------------------------------------------------

    def found(self, page: int, level: int) -> None:
        """Record that *page* may be fetched; it has no cash at first. Ignored for pages that wait or have moved.

        The initial cash goes to the pages on level 0, which are found before all others.
        """
        if level and not self.ticks:
            self._give()
        queue = self._queues[page]
        if queue < 0 and not self._aliases.get(page):
            self._queues[page] = 0
            self._keys[page] = -self._offsets[0]
            self._visited[page] = self.ticks
            self._waiting[0] += 1
            self._found += queue == _UNKNOWN

    def fetched(self, page: int, links: Mapping[int, float]) -> Collection[int]:
        """Pay the cash of *page* to the targets of *links* in equal parts; return those that got some.

        Ignored if *page* does not wait. A target that has moved is replaced by its representative. A page pays nothing
        to itself.
        """
        queue = self._queues[page]
        if queue < 0:
            return ()
        self._give()
        self.ticks += 1
        cash = self._keys[page] + self._offsets[queue]
        history = self._new_history(page, cash)
        self._history += history - self._histories[page]
        self._histories[page] = history
        self._visited[page] = self.ticks
        self._waiting[queue] -= 1
        self._waiting[1] += 1
        self._queues[page] = 1
        self._keys[page] = -self._offsets[1]
        targets = self._targets(page, links)
        if targets:
            share = cash * (1.0 - self._virtual_share) / len(targets)
            keys = self._keys
            for target in targets:
                keys[target] += share
            self._virtual += cash * self._virtual_share
        else:
            self._virtual += cash
        self._give()
        return targets

    def moved(self, page: int, target: int) -> Collection[int]:
        """Record that *page* is an alias of *target*, which gets its cash, its history and the cash of later links.

        The virtual page gets the cash if *target* is unknown or gone. Returns the page that got the cash.
        """
        self._aliases.add(page, target)
        heir = self._aliases.representative(page)
        cash, history = self._leave(page)
        if self._queues[heir] < 0:
            self._virtual += cash
            self._history -= history
            return ()
        self._keys[heir] += cash
        self._histories[heir] += history
        return (heir,)

    def gone(self, page: int) -> None:
        """Record that *page* will not be fetched (again): its cash goes to the virtual page, its history is dropped."""
        if self._queues[page] != _UNKNOWN:
            cash, history = self._leave(page)
            self._virtual += cash
            self._history -= history

    def _leave(self, page: int) -> tuple[float, float]:
        """Mark *page* as gone; return its cash and its history, which are removed."""
        cash, history = self.cash(page), self._histories[page]
        queue = self._queues[page]
        if queue >= 0:
            self._waiting[queue] -= 1
        self._queues[page] = GONE
        self._keys[page] = self._histories[page] = 0.0
        return cash, history

    def _targets(self, page: int, links: Iterable[int]) -> list[int]:
        queues = self._queues
        if self._aliases:
            links = dict.fromkeys(map(self._aliases.representative, links))
        return [target for target in links if queues[target] >= 0 and target != page]

    def _new_history(self, page: int, cash: float) -> float:
        """Return the history of *page*, which is being fetched and pays *cash*."""
        return self._histories[page] + cash

    def _give(self) -> None:
        """Distribute all cash of the virtual page."""
        new, old = self._waiting
        weight = self._uncrawled_weight
        if not new:
            weight = 1.0  # the offset of the empty queue grows as well, as queue 1 must not gain on queue 0
        elif math.isinf(weight * new):
            self._offsets[0] += self._virtual / new
            self._virtual = 0.0
            return
        if new or old:
            share = self._virtual / (weight * new + old)
            self._offsets[0] += weight * share
            self._offsets[1] += share
            self._virtual = 0.0

    # Queries -----------------------------------------------------------------------------------------

    def score(self, page: int) -> float:
        """Return the priority of *page*, without the offset of its queue."""
        if self._policy == "greedy":
            return self._keys[page]
        visited = self._visited[page]
        if self._policy == "cyclic":
            return -visited
        drawn = xxhash.xxh3_64_intdigest(pack("<qqd", self._seed, page, visited)) >> 11  # 53 bits, as in a double
        return -visited + self._found * math.log1p(-drawn / 2.0**53)

    def queue(self, page: int) -> int:
        """Return 0 for a page never fetched, 1 for a fetched one, or `GONE`."""
        queue = self._queues[page]
        return queue if queue >= 0 else GONE

    def offset(self, queue: int) -> float:
        """Return the total that the virtual page gave to each page of *queue*; 0 if it does not affect the order."""
        return self._offsets[queue] if self._policy == "greedy" else 0.0

    def cash(self, page: int) -> float:
        """Return the cash that *page* will pay when it is fetched."""
        queue = self._queues[page]
        return self._keys[page] + self._offsets[queue] if queue >= 0 else 0.0

    def history(self, page: int) -> float:
        """Return the cash that *page* has paid."""
        return self._histories[page]

    def weight(self, page: int) -> float:
        """Return the cash that *page* has paid, or would have paid if it were fetched now."""
        return self._histories[page] + self.cash(page)

    def importance(self, page: int) -> float:
        """Return the share of *page* in the weights of all pages: they add up to 1."""
        whole = self._history + self._total - self._virtual  # the virtual page distributes its cash at the next event
        return self.weight(page) / whole if whole > 0.0 else 0.0

    def error_bound(self) -> float:
        """Return an upper bound of the residual of importance in the L1 norm, if links do not change.

        The error of importance may be 1 / *virtual_share* times as large. Infinity before the first payment.
        """
        return 2.0 * self._total / self._history if self._history > 0.0 else math.inf

    def total_cash(self) -> float:
        """Return the sum of all cash, which always is *total*. O(pages)."""
        return math.fsum([self._virtual, *(self.cash(page) for page, queue in self._queues.items() if queue >= 0)])

    @property
    def pages(self) -> int:
        """The number of pages that may be fetched."""
        return sum(self._waiting)

    # State -------------------------------------------------------------------------------------------

    def rebase(self) -> bool:
        """Reset the offsets to 0 if they are so large that cash loses precision; return whether that happened.

        O(pages) in that case.
        """
        if max(self._offsets) * self.pages <= _REBASE * self._total:
            return False
        for page, queue in self._queues.items():
            if queue >= 0:
                self._keys[page] += self._offsets[queue]
        self._offsets = [0.0, 0.0]
        return True

    def record(self, page: int) -> tuple[float, ...]:
        """Return key, history, tick of discovery or last fetch, and the page that *page* moved to or 0."""
        return self._keys[page], self._histories[page], self._visited[page], float(self._aliases.get(page))

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Restore a page; `recall_totals` has counted it."""
        self._queues[page] = queue
        self._keys[page], self._histories[page], self._visited[page], alias = record
        if alias:
            self._aliases.add(page, int(alias))

    def totals(self) -> list[float]:
        """Return ticks, cash of the virtual page, total history, pages found, and by queue: offsets, waiting pages."""
        return [float(self.ticks), self._virtual, self._history, float(self._found), *self._offsets, *self._waiting]

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Restore the totals."""
        ticks, self._virtual, self._history, found, *rest = totals
        self.ticks, self._found = int(ticks), int(found)
        self._offsets = list(rest[:2])
        self._waiting = [int(pages) for pages in rest[2:]]
