"""The waiting URLs of one site by what was learnt of links: the oldest of those that promise most comes first.

All values may change with each page that is read anywhere, so they are computed when a URL of this site is chosen. That
costs 0.1 to 0.2 µs for each URL, without a heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from crawlers.algorithms.ranking.link_table import LinkTable, best_places
from crawlers.algorithms.ranking.link_values import CLOSE
from crawlers.frontier.queues.bounded_queue import ALL

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.link_values import LinkValues
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore

ENTRIES_SHARE = 0.1  # of the URLs, the best ones, whose entries are in memory, too; others are read from the store
LOADED = 20  # entries read from the store at a time when that of the first page is not in memory


class KeptFeatures(Protocol):
    """Has the features of pages that are in no queue, see `link_learning.LinkLearning`."""

    compared: int  # waiting URLs of a site whose values are compared

    def read(self, page_ids: Collection[int]) -> None: ...

    def keep(self, page_id: int, features: Features) -> None: ...

    def take(self, page_id: int) -> Features | None: ...


class LearntQueue:
    """URLs of a site in memory with their features; the rest in the *store*. *held* has those that are leased or rest.

    The home page has no features, and comes first. Of the others, those that were found first are compared, as
    many as *kept* says. Which ones these are depends on nothing but what waits: a crawl that was killed chooses among
    the same ones. Everything up to the *spill_limit*, a number of a page, is in memory, and
    everything behind it in the store only.
    """

    def __init__(
        self,
        site_id: int,
        kept: KeptFeatures,
        values: LinkValues,
        store: ScoredFrontierStore,
        held: Collection[int],
        spill_limit: tuple[float, int] = ALL,
    ) -> None:
        self._site_id = site_id
        self._kept = kept
        self._values = values
        self._store = store
        self._held = held
        self._spill_limit = spill_limit
        self._links = LinkTable()
        self._homes: list[int] = []
        self._entries: dict[int, QueueEntry] = {}

    def __len__(self) -> int:
        """Return the number of URLs in memory."""
        return len(self._links) + len(self._homes)

    @property
    def has_more(self) -> bool:
        """Whether the store may hold waiting URLs that are not in memory."""
        return self._spill_limit is not ALL

    @property
    def is_empty(self) -> bool:
        """Whether no URL is in memory."""
        return not (self._links or self._homes)

    @property
    def first(self) -> tuple[float, int] | None:
        """Minus the value and the id of the URL that comes first; None if none is in memory."""
        if self._homes:
            return (float("-inf"), min(self._homes))
        if not self._links:
            return None
        found, values = self._compared()
        return (-float(values.max()), self._oldest(found, values, 1)[0])

    def _compared(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places in memory of the URLs that are compared, and their values."""
        links = self._links
        found = np.arange(len(links))
        if len(links) > self._kept.compared:
            found = np.argpartition(links.ids, self._kept.compared)[: self._kept.compared]
        return found, self._values.scores(links.features[found])

    def _oldest(self, found: NDArray[np.int64], values: NDArray[np.float64], most: int) -> list[int]:
        """Return the ids of the URLs that were found first of those with nearly the greatest of *values*."""
        ids = self._links.ids[found[values > values.max() - CLOSE]]
        numbers: list[int] = (np.sort(ids) if most > 1 else ids.min(keepdims=True))[:most].tolist()
        return numbers

    def _best(self, found: NDArray[np.int64], values: NDArray[np.float64], most: int) -> list[int]:
        """Return the ids of the URLs with the greatest *values*, of equals the oldest first."""
        ids = self._links.ids[found]
        numbers: list[int] = ids[best_places(ids, values, most)].tolist()
        return numbers

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; at most twice as many URLs as are compared are in memory."""
        if self.has_more and entry.id > self._spill_limit[1]:
            self._kept.take(entry.id)
            return
        self._add(entry)
        if len(self._links) > 2 * self._kept.compared:
            self._spill()
        self._trim_entries()

    def _add(self, entry: QueueEntry) -> None:
        self._entries[entry.id] = entry
        features = self._kept.take(entry.id)
        if features is None:
            self._homes.append(entry.id)
        else:
            self._links.add(entry.id, features)

    def _spill(self) -> None:
        """Leave the URLs that were found last to the store."""
        most = self._kept.compared + self._kept.compared // 2  # more than are compared: the store is not read soon
        self._links.keep(np.argpartition(self._links.ids, most - 1)[:most])
        self._spill_limit = (0.0, int(self._links.ids.max()))

    def _trim_entries(self) -> None:
        most = LOADED + int(ENTRIES_SHARE * self._kept.compared)
        if len(self._entries) > 2 * most:
            best = [*self._homes, *self._best(*self._compared(), most)]
            self._entries = {page_id: self._entries[page_id] for page_id in best if page_id in self._entries}

    def discard(self, page_id: int) -> None:
        """Remove a URL, if it is in memory; it is pushed again as another variant, or with another level."""
        self._remove(page_id)
        self._entries.pop(page_id, None)

    def _remove(self, page_id: int) -> None:
        if page_id in self._homes:
            self._homes.remove(page_id)
        elif (features := self._links.remove(page_id)) is not None:
            self._kept.keep(page_id, features)

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store, without those that are held."""
        self._store.flush()  # URLs that are not written yet must not be skipped
        entries = self._store.waiting(self._site_id, 0, self._spill_limit, limit)
        self._kept.read([entry.id for entry in entries if entry.id not in self._held])
        self.fill(entries, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Take the next URLs of the store, in order and at most *limit*, without those that are held."""
        self._spill_limit = (0.0, entries[-1].id) if len(entries) == limit else ALL
        for entry in entries:
            if entry.id not in self._held:
                self._add(entry)
        self._trim_entries()

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        while self.has_more and len(self._links) < self._kept.compared:
            self.refill(self._kept.compared)
        while (page_id := self._next(1)[0]) not in self._entries:
            missing = [one for one in self._next(LOADED) if one not in self._entries]
            self._entries.update((found.id, found) for found in self._store.entries(missing))
        self._remove(page_id)
        return self._entries.pop(page_id)

    def _next(self, most: int) -> list[int]:
        """Return the id of the URL that comes next; with *most* above 1, also those of some that may follow it."""
        if self._homes:
            return sorted(self._homes)[:most]
        found, values = self._compared()
        following = self._best(found, values, most) if most > 1 else []
        return [*self._oldest(found, values, most), *following]
