"""OPIC: pages pay cash to the pages that they link to; what passes through a page is its importance.

Beside the pages there is a virtual one. It gets a share of whatever is paid, and all of what a page without links
pays, and gives to all pages in equal parts. That costs O(1): what it gave to every page of a queue since the crawl
began is one number, the *offset* of the queue, and of each page only its *key* is kept, cash less offset.

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

_UNKNOWN = -2  # the queue of pages that were never found
# Offsets only grow, and the larger they are, the fewer digits are left for cash: seven of sixteen, then.
_REBASE = 1e9  # times the mean cash


class OPIC:
    """Scores by cash, and importance by all the cash that ever passed: for a web that stays as it is.

    *policy* says which page has the highest score: the one with most cash ("greedy"), the one not fetched for the
    longest time ("cyclic"), or any ("random": each page is due after an exponential waiting time, so all are as
    likely to come next; plain random numbers would let those that drew low ones wait for ever). The virtual page gets
    *virtual_share* of what is paid, in ]0, 1]: importance is PageRank with the damping 1 - *virtual_share*. It gives a
    page never fetched *uncrawled_weight* >= 1 times what it gives one that was; infinity means all, while there are
    any. *total* is the cash that there is, and *seed* makes other random orders.

    A tick is a page fetched. Cash is paid out when a page was fetched, and nothing happens when it was merely asked
    for: a page that failed has what it had.

    Notes
    -----
    O(1) a link. 25 bytes a page.
    """

    returns = True
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
        self._offsets = [0.0, 0.0]  # by queue: what the virtual page gave to each page of it
        self._waiting = [0, 0]  # pages, by queue
        self._found = 0  # pages, those that are gone included
        self._history = 0.0  # of all pages
        self.ticks = 0
        self._queues = PageValues(array("b", [_UNKNOWN]))
        self._keys = PageValues(array("d", [0.0]))
        self._histories = PageValues(array("d", [0.0]))
        self._visited = PageValues(array("d", [0.0]))  # the tick at which it was found or last fetched
        self._aliases = Aliases()

    # What happens ------------------------------------------------------------------------------------

    def found(self, page: int, level: int) -> None:
        """*page* may be fetched; begins without cash. One that waits, or has moved, stays what it is.

        The cash of the beginning is for those on level 0: it is given to them before any other page is known.
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
        """*page* pays its cash to the pages of *links*, in equal parts; returns these. Ignored if it doesn't wait.

        A link to a page that moved pays the page that stands for it. Nothing is paid to the page itself.
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
        """*page* is another address of *target*, which takes over its cash and history; later links count for it.

        The cash is the virtual page's when *target* is not known or gone. Returns who took over.
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
        """*page* will not be fetched (again): its cash is the virtual page's, its history is forgotten."""
        if self._queues[page] != _UNKNOWN:
            cash, history = self._leave(page)
            self._virtual += cash
            self._history -= history

    def _leave(self, page: int) -> tuple[float, float]:
        """The cash and the history of *page*, which is gone now and has none."""
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
        """The history of *page*, which is being fetched and pays *cash*."""
        return self._histories[page] + cash

    def _give(self) -> None:
        """The virtual page gives all that it has."""
        new, old = self._waiting
        weight = self._uncrawled_weight
        if not new:
            weight = 1.0  # and the offset of the empty queue grows too: a queue 1 that gains on it would be a rise
        elif math.isinf(weight * new):
            self._offsets[0] += self._virtual / new
            self._virtual = 0.0
            return
        if new or old:
            share = self._virtual / (weight * new + old)
            self._offsets[0] += weight * share
            self._offsets[1] += share
            self._virtual = 0.0

    # What is asked -----------------------------------------------------------------------------------

    def score(self, page: int) -> float:
        """How much *page* should be fetched now, beside the offset of its queue."""
        if self._policy == "greedy":
            return self._keys[page]
        visited = self._visited[page]
        if self._policy == "cyclic":
            return -visited
        drawn = xxhash.xxh3_64_intdigest(pack("<qqd", self._seed, page, visited)) >> 11  # as many bits as a double has
        return -visited + self._found * math.log1p(-drawn / 2.0**53)

    def queue(self, page: int) -> int:
        """0 for a page never fetched, 1 for one that was, `GONE`."""
        queue = self._queues[page]
        return queue if queue >= 0 else GONE

    def offset(self, queue: int) -> float:
        """What the virtual page gave to each page of *queue*, if that decides what comes next."""
        return self._offsets[queue] if self._policy == "greedy" else 0.0

    def cash(self, page: int) -> float:
        """What *page* will pay when it is fetched."""
        queue = self._queues[page]
        return self._keys[page] + self._offsets[queue] if queue >= 0 else 0.0

    def history(self, page: int) -> float:
        """What *page* has paid."""
        return self._histories[page]

    def importance(self, page: int) -> float:
        """The share of *page* in all the cash that there was, in [0, 1]."""
        return (self._histories[page] + self.cash(page)) / (self._history + self._total)

    def error_bound(self) -> float:
        """How far importance is from what the links make of it: at most, in the L1 norm, while links stay as they are.

        How far it is from the truth may be 1 / *virtual_share* times as much.
        """
        return 2.0 * self._total / self._history if self._history > 0.0 else math.inf

    def total_cash(self) -> float:
        """All the cash that there is, added up: *total*, or something is wrong. O(pages)."""
        return math.fsum([self._virtual, *(self.cash(page) for page, queue in self._queues.items() if queue >= 0)])

    @property
    def pages(self) -> int:
        """How many pages may be fetched."""
        return sum(self._waiting)

    # What is remembered ------------------------------------------------------------------------------

    def rebase(self) -> bool:
        """Let the offsets begin anew at 0, if they are so large that cash loses its digits. O(pages), then."""
        if max(self._offsets) * self.pages <= _REBASE * self._total:
            return False
        for page, queue in self._queues.items():
            if queue >= 0:
                self._keys[page] += self._offsets[queue]
        self._offsets = [0.0, 0.0]
        return True

    def record(self, page: int) -> tuple[float, ...]:
        """Cash less offset, history, the tick when it was found or last fetched, the page that it moved to or 0."""
        return self._keys[page], self._histories[page], self._visited[page], float(self._aliases.get(page))

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Take up a page as it was; `recall_totals` has counted it."""
        self._queues[page] = queue
        self._keys[page], self._histories[page], self._visited[page], alias = record
        if alias:
            self._aliases.add(page, int(alias))

    def totals(self) -> list[float]:
        """Ticks, the virtual page's cash, all history, pages found, and by queue: offsets, pages that wait."""
        return [float(self.ticks), self._virtual, self._history, float(self._found), *self._offsets, *self._waiting]

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Take them up as they were."""
        ticks, self._virtual, self._history, found, *rest = totals
        self.ticks, self._found = int(ticks), int(found)
        self._offsets = list(rest[:2])
        self._waiting = [int(pages) for pages in rest[2:]]
