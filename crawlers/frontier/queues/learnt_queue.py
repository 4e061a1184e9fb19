"""The waiting URLs of one site by what was learnt of links: the one that promises most comes first.

All values may change with each page that is read anywhere, so they are computed when a URL of this site is chosen. That
costs some 0.2 µs for each URL, without a heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from crawlers.algorithms.ranking.link_features import WIDTH
from crawlers.frontier.queues.bounded_queue import ALL, NONE

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.link_values import LinkValues
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore

MOST_URLS = 20_000  # of a site in memory, 2.3 MB: to compute so many values takes 5 ms
ENTRIES_SHARE = 0.1  # of the URLs, the best ones, whose entries are in memory, too; others are read from the store
LOADED = 20  # entries read from the store at a time when that of the first page is not in memory
FIRST_SIZE = 64


class KeptFeatures(Protocol):
    """Has the features of pages that are in no queue, see `link_learning.LinkLearning`."""

    def read(self, page_ids: Collection[int]) -> None: ...

    def keep(self, page_id: int, features: Features) -> None: ...

    def take(self, entry: QueueEntry) -> Features | None: ...


class LearntQueue:
    """URLs of a site in memory with their features, at most twice as many as `push` allows; the rest in the *store*.

    The home page has no features, and comes first. When there are too many URLs, those that promise least stay only in
    the store, until everything else was read. *held* contains the pages that are leased or rest.
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
        self.has_more = spill_limit is not ALL
        self._size = 0
        self._ids = np.zeros(FIRST_SIZE, np.int64)
        self._features: Features = np.zeros((FIRST_SIZE, WIDTH), np.uint32)
        self._homes: list[int] = []
        self._entries: dict[int, QueueEntry] = {}

    def __len__(self) -> int:
        """Return the number of URLs in memory."""
        return self._size + len(self._homes)

    @property
    def is_empty(self) -> bool:
        """Whether no URL is in memory."""
        return not (self._size or self._homes)

    @property
    def first(self) -> tuple[float, int] | None:
        """Minus the value and the id of the URL that comes first; None if none is in memory."""
        if self._homes:
            return (float("-inf"), min(self._homes))
        if not self._size:
            return None
        values = self._current()
        return (-float(values.max()), self._best(values, 1)[0])

    def _current(self) -> NDArray[np.float64]:
        return self._values.scores(self._features[: self._size])

    def _best(self, values: NDArray[np.float64], most: int) -> list[int]:
        """Return the ids of the URLs with the greatest *values*, of equals the oldest first."""
        candidates = np.arange(self._size)
        if most < self._size:  # all that are as good as the last of them: sorting everything takes ten times as long
            least = np.partition(values, self._size - most)[self._size - most]
            candidates = np.flatnonzero(values >= least)
        order = np.lexsort((self._ids[candidates], -values[candidates]))[:most]
        found: list[int] = self._ids[candidates[order]].tolist()
        return found

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; when more than twice *most* URLs are in memory, keep only the best *most*."""
        self._add(entry)
        if self._size > 2 * most:
            self._trim(most)
        if len(self._entries) > 2 * LOADED + 2 * ENTRIES_SHARE * most:
            self._trim_entries(LOADED + int(ENTRIES_SHARE * most))

    def _trim_entries(self, most: int) -> None:
        best = [*self._homes, *self._best(self._current(), most)]
        self._entries = {page_id: self._entries[page_id] for page_id in best if page_id in self._entries}

    def _add(self, entry: QueueEntry) -> None:
        self._entries[entry.id] = entry
        features = self._kept.take(entry)
        if features is None:
            self._homes.append(entry.id)
            return
        if self._size == len(self._ids):
            self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])
            self._features = np.concatenate([self._features, np.zeros_like(self._features)])
        self._ids[self._size], self._features[self._size] = entry.id, features
        self._size += 1

    def _trim(self, most: int) -> None:
        values = self._current()
        kept = np.sort(np.lexsort((self._ids[: self._size], -values))[:most])
        self._ids, self._features, self._size = self._ids[kept].copy(), self._features[kept].copy(), most
        self._trim_entries(most)
        self.has_more = True

    def discard(self, page_id: int) -> None:
        """Remove a URL, if it is in memory; it is pushed again as another variant, or with another level."""
        self._remove(page_id)
        self._entries.pop(page_id, None)

    def _remove(self, page_id: int) -> None:
        if page_id in self._homes:
            self._homes.remove(page_id)
            return
        places = np.flatnonzero(self._ids[: self._size] == page_id)
        if len(places):
            place, last = int(places[0]), self._size - 1
            self._kept.keep(page_id, self._features[place].copy())
            self._ids[place], self._features[place] = self._ids[last], self._features[last]
            self._size = last

    def refill(self, limit: int) -> None:
        """Read the first *limit* URLs from the store, without those that are held; none may be in memory."""
        self._store.flush()  # URLs that are not written yet must not be skipped
        entries = self._store.waiting(self._site_id, 0, NONE, limit)
        while len(entries) == limit and all(entry.id in self._held for entry in entries):
            limit *= 2  # rare: few pages of a site are held at a time
            entries = self._store.waiting(self._site_id, 0, NONE, limit)
        self._kept.read([entry.id for entry in entries])
        self.fill(entries, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Take the first *limit* URLs of the store, without those that are held."""
        for entry in entries:
            if entry.id not in self._held:
                self._add(entry)
        if self._size:
            self._trim_entries(LOADED + int(ENTRIES_SHARE * limit))
        self.has_more = len(entries) == limit

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        best = sorted(self._homes) if self._homes else self._best(self._current(), LOADED)
        page_id = best[0]
        if page_id not in self._entries:
            missing = [one for one in best if one not in self._entries]
            self._entries.update((found.id, found) for found in self._store.entries(missing))
        self._remove(page_id)
        return self._entries.pop(page_id)
