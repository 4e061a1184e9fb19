"""OPIC: pages pay cash to the pages that they link to; the cash that passes through a page is its importance.

A virtual page gets a share of every payment, and everything that a page without links pays, and distributes it equally
to all pages. That takes O(1): the total that it gave to each page of a queue is one number, the *offset* of the queue,
and only the *key* of each page is stored, which is its cash minus the offset. Pages that are aliases, other URLs of the
same page, have a representative.

The pages of a crawl can be divided among several workers, each with an `OPIC` of its own for its part of the pages. The
virtual page is common to all of them: see `apply_totals`.

References
----------
.. [1] Abiteboul, Preda, Cobena (2003), Adaptive On-Line Page Importance Computation, WWW 2003; section 5 has the
   window. The offsets are our own.
"""

from __future__ import annotations

import math
from array import array
from struct import pack
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawlers.items import GONE
from crawlers.ranking.page_scores import UNKNOWN, PageScores
from crawlers.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from crawlers.items import Part
    from crawlers.ranking.page_scores import Policy


class Aliases:
    """Chains of pages, each an alias of the next; a page moves once, and chains never form a cycle.

    Paths are compressed as they are followed, so a look-up is O(1) amortised. A dict, not `PageValues`, because only a
    few pages in a hundred have moved.
    """

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._next)

    def add(self, page: int, target: int) -> None:
        """Make *page* an alias of *target*; ignored if it is an alias already, or would become one of itself."""
        if page not in self._next and self.representative(target) != page:
            self._next[page] = target

    def get(self, page: int) -> int:
        """Return the page of which *page* is an alias, or a later one of that chain; 0 if there is none."""
        return self._next.get(page, 0)

    def representative(self, page: int) -> int:
        """Return the last page of the chain that begins with *page*: *page* itself if it is not an alias."""
        last = page
        while last in self._next:
            last = self._next[last]
        while page != last:
            self._next[page], page = last, self._next[page]
        return last


# In times the mean cash: offsets only grow, and the larger they are, the fewer digits remain for cash, here 7 of 16.
_REBASE = 1e9


class OPICTotals(NamedTuple):
    """The totals of all pages, or of those of one worker."""

    ticks: float  # pages fetched, revisits included
    virtual: float  # cash of the virtual page
    found: float  # pages found, including those that are gone
    offset_new: float
    offset_read: float
    new: float  # pages that were never fetched
    read: float
    # Cash that the pages of this worker paid to the virtual page of all workers, and what they got from it.
    paid: float = 0.0
    taken: float = 0.0
    minted: float = 1.0  # cash with which this worker began: everything if it was alone, else nothing


class OPIC(PageScores):
    """Scores by cash, and importance by the cash that passed through a page in the last *window* visits to each page.

    *policy* determines the page with the highest score: the one with the most cash ("greedy"), the one that was not
    fetched for the longest time ("cyclic"), or any ("random": each page is due after an exponentially distributed
    time, so all are equally likely; with plain random scores, pages with low ones would wait forever). The virtual page
    gets *virtual_share* in (0, 1] of every payment, so that importance is PageRank with damping 1 - *virtual_share*. A
    page that was never fetched gets *uncrawled_weight* >= 1 times as much from it as a fetched one; infinity gives
    everything to such pages, as long as there are any. With an infinite *window*, all cash that has ever passed counts:
    for a web that does not change. Without *revisits* a page is fetched once, and gets no cash from then on.

    A tick is one fetched page. Cash is paid when the page has been fetched, not when it is requested: a page that fails
    keeps its cash.

    Notes
    -----
    O(1) per link, 25 bytes per page.
    """

    table = "importance"
    columns = ("cash", "history", "visited", "alias")
    is_shared = True

    def __init__(
        self,
        policy: Policy = "greedy",
        *,
        virtual_share: float = 0.15,
        window: float = math.inf,
        uncrawled_weight: float = 1.0,
        revisits: bool = True,
    ) -> None:
        super().__init__()
        self._policy = policy
        self._revisits = revisits
        self._virtual_share = virtual_share
        self._uncrawled_weight = uncrawled_weight
        self._window = window
        self._virtual = 1.0  # cash of the virtual page, at first all there is
        self._offsets = [0.0, 0.0]  # by queue: the total that the virtual page gave to each of its pages
        self._waiting = [0, 0]  # by queue: pages
        self._found = 0  # pages found, including those that are gone
        self.ticks = 0  # of all workers, as far as they are known
        # If pages are divided among workers: sums of the others, and the cash exchanged with the virtual page of all.
        self._others: _Others | None = None
        self._paid = 0.0
        self._taken = 0.0
        self._minted = 1.0
        self._keys = PageValues(array("d", [0.0]))
        self._histories = PageValues(array("d", [0.0]))
        self._visited = PageValues(array("d", [0.0]))  # the tick at which it was found or last fetched
        self._aliases = Aliases()

    # Events ------------------------------------------------------------------------------------------

    def add_waiting(self, page: int, level: int) -> None:
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
            self._found += queue == UNKNOWN

    def fetched(self, page: int, links: Mapping[int, float], elsewhere: int = 0) -> Collection[int]:
        """Pay the cash of *page* to the targets of *links* in equal parts; return those that got some.

        Ignored if *page* does not wait. A target that has moved is replaced by its representative. A page pays nothing
        to itself. *elsewhere* further targets are pages of other workers: they are paid by messages, see `carries`.
        """
        queue = self._queues[page]
        if queue < 0:
            return ()
        self._give()
        self.ticks += 1
        cash = self._keys[page] + self._offsets[queue]
        self._histories[page] = self._new_history(page, cash)
        self._visited[page] = self.ticks
        self._waiting[queue] -= 1
        self._waiting[1] += self._revisits
        self._queues[page] = 1 if self._revisits else GONE
        self._keys[page] = -self._offsets[1] if self._revisits else 0.0
        targets = self._targets(page, links)
        if targets or elsewhere:
            share = self._share_of_link(cash, len(targets) + elsewhere)
            keys = self._keys
            for target in targets:
                keys[target] += share
            self._virtual += cash * self._virtual_share
        else:
            self._virtual += cash
        self._give()
        return targets

    def record_alias(self, page: int, target: int) -> Collection[int]:
        """Record that *page* is an alias of *target*, which gets its cash, its history and the cash of later links.

        The virtual page gets the cash if *target* is unknown or gone. Returns the page that got the cash.
        """
        self._aliases.add(page, target)
        heir = self._aliases.representative(page)
        cash, history = self._leave(page)
        if self._queues[heir] < 0:
            self._virtual += cash
            return ()
        self._keys[heir] += cash
        self._histories[heir] += history
        return (heir,)

    def remove_page(self, page: int) -> None:
        """Record that *page* will not be fetched (again): its cash goes to the virtual page, its history is dropped."""
        if self._queues[page] != UNKNOWN:
            cash, _ = self._leave(page)
            self._virtual += cash

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
        """Return the history of *page*, which is being fetched and pays *cash*.

        The window T is *window* ticks for each fetched page. If a page received *cash* C during the S ticks since it
        was last fetched (or found), its history H becomes C T/S if S >= T, else H (T - S)/T + C. This assumes that cash
        arrives evenly. The window is not proportional to the number of known pages, because a crawl finds many more
        than it fetches: the window would never end, and importance would remain that of the beginning, when few pages
        shared all the cash.
        """
        fetched = self._waiting[1] + (self._queues[page] == 0) + (self._others.read if self._others else 0)
        part = (self.ticks - self._visited[page]) / (self._window * fetched)  # S/T
        return cash / part if part >= 1.0 else self._histories[page] * (1.0 - part) + cash

    def _share_of_link(self, cash: float, targets: int) -> float:
        return cash * (1.0 - self._virtual_share) / targets

    def _give(self) -> None:
        """Distribute all cash of the virtual page, or pay it to that of all workers."""
        if self._others is None:
            self._distribute()
        else:
            self._paid += self._virtual
            self._virtual = 0.0

    def _distribute(self) -> None:
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

    # Pages of several workers ------------------------------------------------------------------------

    def carries(self, page: int, links: Mapping[int, float], elsewhere: int) -> float:
        """Return the cash that each of the messages to *elsewhere* targets carries if *page* is `fetched` now.

        The arguments are those of the call of `fetched` that follows.
        """
        if self._queues[page] < 0 or not elsewhere:
            return 0.0
        return self._share_of_link(self.cash(page), len(self._targets(page, links)) + elsewhere)

    def received(self, page: int, carried: float, value: float) -> Collection[int]:
        """Add the cash that a message *carried* to *page*, or to the page of which it is an alias; return that page.

        The virtual page gets it if that page is unknown or gone. The *value* of the link does not matter.
        """
        heir = self._aliases.representative(page)
        if self._queues[heir] < 0:
            self._virtual += carried
            self._give()
            return ()
        self._keys[heir] += carried
        return (heir,)

    def moved_away(self, page: int) -> float:
        """Record that *page* is an alias of a page of another worker; return its cash, which a message carries there.

        Its history is dropped, and later links to *page* are not paid.
        """
        if self._queues[page] == UNKNOWN:
            return 0.0
        cash, _ = self._leave(page)
        return cash

    def apply_totals(self, others: Iterable[Sequence[float]], given: float) -> Collection[int]:
        """Take what the virtual page of all workers gave to this worker's pages, and what the others did meanwhile.

        *others* are the totals of all other workers, also of those that have ended; *given* is the cash that `hand_out`
        has given to this worker since it began. From the first call on, the cash of the virtual page is paid to that of
        all workers. Returns no pages: the offsets rise for all.
        """
        before = self._others or _Others()
        now = _Others()
        for totals in others:
            one = OPICTotals(*totals)
            now = _Others(now.ticks + int(one.ticks), now.found + int(one.found), now.read + int(one.read))
        self._others = now
        self.ticks += now.ticks - before.ticks
        self._virtual += given - self._taken
        self._taken = given
        if self.pages:
            self._distribute()
        self._give()
        return ()

    def hand_out(self, parts: Mapping[int, Part]) -> dict[int, float]:
        """Return the cash that the virtual page has given to each active worker, when it has distributed all it has.

        *parts* describes the pages of every worker that ever had any. The cash of those that ended belongs to the
        virtual page. Nothing is given as long as no active worker has pages.
        """
        totals = {number: OPICTotals(*part.totals) for number, part in parts.items()}
        active = {number: one for number, one in totals.items() if parts[number].is_active}
        new, read = sum(one.new for one in active.values()), sum(one.read for one in active.values())
        weight = self._uncrawled_weight if new else 1.0
        of_new, of_read = (1.0, 0.0) if math.isinf(weight * new) else (weight, 1.0)
        whole = of_new * new + of_read * read
        cash = self.pooled(parts) / whole if whole else 0.0
        return {
            number: parts[number].given + cash * (of_new * one.new + of_read * one.read)
            for number, one in active.items()
        }

    def pooled(self, parts: Mapping[int, Part]) -> float:
        """Return the cash of the virtual page of all workers: what they paid to it, minus what it gave.

        It has no row of its own, so that no worker writes a row of another one: every worker only counts what it paid
        and took. The virtual cash of workers that ended, and what they were given but did not take, belongs to it; and
        in the beginning all cash, unless a worker that was alone has begun with it.
        """
        cash = [1.0]
        for part in parts.values():
            own = OPICTotals(*part.totals)
            cash += [own.paid, -own.minted, *([-part.given] if part.is_active else [own.virtual, -own.taken])]
        return math.fsum(cash)

    def base(self) -> list[float]:
        """Return the offsets, to which records are relative: `add_page` needs them in another worker."""
        return list(self._offsets)

    def add_page(self, page: int, queue: int, record: Sequence[float], base: Sequence[float]) -> None:
        """Add a page of another worker, or of an earlier run, whose *record* is relative to *base*."""
        self.recall(page, queue, record)
        if queue >= 0:
            self._keys[page] += base[queue] - self._offsets[queue]
            self._waiting[queue] += 1

    def remove_pages(self, pages: Collection[int]) -> None:
        """Forget *pages*, which are another worker's from now on, with their cash."""
        for page in pages:
            queue = self._queues[page]
            if queue >= 0:
                self._waiting[queue] -= 1
            self._keys[page] = self._histories[page] = 0.0
        super().remove_pages(pages)

    def begin_part(self, ended: Mapping[int, Part] | None = None) -> None:
        """Begin without pages and without cash.

        With *ended*, this worker is alone, and goes on with the virtual page of workers that have all ended.
        """
        sums = [OPICTotals(*part.totals) for part in (ended or {}).values()]
        self._virtual = self._minted = 0.0
        if ended is not None:
            self._virtual, self._minted = self.pooled(ended), 1.0
        self.ticks = int(sum(one.ticks for one in sums))
        self._found = int(sum(one.found for one in sums))

    # Queries -----------------------------------------------------------------------------------------

    def score(self, page: int) -> float:
        """Return the priority of *page*, without the offset of its queue."""
        if self._policy == "greedy":
            return self._keys[page]
        visited = self._visited[page]
        if self._policy == "cyclic":
            return -visited
        drawn = xxhash.xxh3_64_intdigest(pack("<qqd", 0, page, visited)) >> 11  # 53 bits, as in a double
        return -visited + (self._found + (self._others.found if self._others else 0)) * math.log1p(-drawn / 2.0**53)

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
        """Return the history of *page* as if it were fetched now."""
        return self._new_history(page, self.cash(page)) if self._queues[page] >= 0 else self._histories[page]

    def importance(self, page: int) -> float:
        """Return the share of *page* in the weights of all pages. O(pages): to compare pages, `weight` suffices."""
        whole = math.fsum(self.weight(other) for other, _ in self._queues.items())
        return self.weight(page) / whole if whole > 0.0 else 0.0

    @property
    def pages(self) -> int:
        """The number of pages that may be fetched."""
        return sum(self._waiting)

    # State -------------------------------------------------------------------------------------------

    def rebase(self) -> bool:
        """Reset the offsets to 0 if they are so large that cash loses precision; return whether that happened.

        O(pages) in that case.
        """
        if max(self._offsets) * self.pages <= _REBASE:
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
        """Return the numbers of `OPICTotals`."""
        ticks = self.ticks - (self._others.ticks if self._others else 0)
        counts = (*self._offsets, *self._waiting, self._paid, self._taken, self._minted)
        return list(OPICTotals(float(ticks), self._virtual, float(self._found), *counts))

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Restore the totals."""
        own = OPICTotals(*totals)
        self.ticks, self._found = int(own.ticks), int(own.found)
        self._virtual = own.virtual
        self._offsets = [own.offset_new, own.offset_read]
        self._waiting = [int(own.new), int(own.read)]
        self._paid, self._taken, self._minted = own.paid, own.taken, own.minted


class _Others(NamedTuple):
    """Sums over the other workers."""

    ticks: int = 0
    found: int = 0
    read: int = 0
