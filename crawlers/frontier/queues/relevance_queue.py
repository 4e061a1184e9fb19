"""The waiting URLs of one site by their scores and by what was learnt of the links to them.

What is learnt changes with each page that is read anywhere, so values are computed when the best URL of the site is
asked for: see `SiteSchedule.value_again`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlers.algorithms.ranking.link_table import NO_FEATURES, LinkTable
from crawlers.algorithms.ranking.link_values import MOST_COMPARED
from crawlers.frontier.queues.bounded_queue import ALL
from crawlers.frontier.queues.learnt_queue import ENTRIES_SHARE, LOADED

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.link_relevance import LinkRelevance
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore
    from crawlers.frontier.queues.learnt_queue import KeptFeatures


class RelevanceQueue:
    """URLs of a site in memory with their features; the rest in the *store*. *held* has those that are leased or rest.

    Of the URLs, the `MOST_COMPARED` with the greatest scores are compared by their values, see `LinkRelevance`, or
    fewer if `push` and `fill` say so; of equals, those that were found first. So which ones these are depends on
    nothing but what waits. Everything up to the *spill_limit*, a (negative score, page), is in memory, and everything
    behind it in the store only.
    """

    def __init__(
        self,
        site_id: int,
        queue: int,
        kept: KeptFeatures,
        relevance: LinkRelevance,
        store: ScoredFrontierStore,
        held: Collection[int],
        spill_limit: tuple[float, int] = ALL,
    ) -> None:
        self._site_id = site_id
        self._queue = queue
        self._kept = kept
        self._relevance = relevance
        self._scores = relevance.scores
        self._store = store
        self._held = held
        self._spill_limit = spill_limit
        self._most = MOST_COMPARED
        self._links = LinkTable()
        self._entries: dict[int, QueueEntry] = {}
        self._risen: set[int] = set()  # pages that rose over the spill limit; their features are in the store
        # The first URL, as long as nothing is queued or learnt: how much was learnt, and minus its value and its id.
        self._first: tuple[int, tuple[float, int]] | None = None

    def __len__(self) -> int:
        """Return the number of URLs in memory."""
        return len(self._links)

    @property
    def has_more(self) -> bool:
        """Whether the store may hold waiting URLs that are not in memory."""
        return self._spill_limit is not ALL

    @property
    def is_empty(self) -> bool:
        """Whether no URL is in memory."""
        return not (self._links or self._risen)

    @property
    def first(self) -> tuple[float, int] | None:
        """Minus the value and the id of the URL that comes first; None if none is in memory."""
        if self._risen:
            self._take_risen()
        if self.has_more and len(self._links) < self._most:
            self.refill(self._most + self._most // 2)
        if not self._links:
            return None
        if self._first is None or self._first[0] != self._relevance.learnt:
            ids, values = self._compared()
            best = values == values.max()
            self._first = self._relevance.learnt, (-float(values.max()), int(ids[best].min()))
        return self._first[1]

    def _compared(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the ids of the URLs that are compared, and their values."""
        ids, features = self._links.ids, self._links.features
        if len(ids) > self._most:
            found = _best(ids, self._scores.scores(ids), self._most)
            ids, features = ids[found], features[found]
        return ids, self._relevance.values(ids, features)

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; *most* URLs are compared from now on, at most twice as many are in memory."""
        self._most = min(most, MOST_COMPARED)
        if self.has_more and (-self._scores.score(entry.id), entry.id) > self._spill_limit:
            self._kept.take(entry.id)
            return
        self._add(entry)
        if len(self._links) > 2 * self._most:
            self._spill()
        self._trim_entries()

    def rise(self, page_id: int, most: int) -> bool:
        """Note that the score of a waiting page grew; return False: its value has to be computed, see `first`."""
        self._first = None
        is_near = self.has_more and (-self._scores.score(page_id), page_id) <= self._spill_limit
        if is_near and page_id not in self._links:
            self._risen.add(page_id)
        return False

    def _take_risen(self) -> None:
        """Take the pages that rose over the spill limit into memory."""
        risen = sorted(self._risen)
        self._risen.clear()
        self._store.flush()  # they may have been found just now
        self._kept.read(risen)
        for entry in self._store.entries(risen):
            self._add(entry)
        if len(self._links) > 2 * self._most:
            self._spill()
        self._trim_entries()

    def _add(self, entry: QueueEntry) -> None:
        self._first = None
        self._risen.discard(entry.id)
        self._entries[entry.id] = entry
        features = self._kept.take(entry.id)
        self._links.add(entry.id, NO_FEATURES if features is None else features)

    def _spill(self) -> None:
        """Leave the URLs with the least scores to the store."""
        most = self._most + self._most // 2  # more than are compared: the store is not read soon
        ids, scores = self._links.ids, self._scores.scores(self._links.ids)
        kept = _best(ids, scores, most)
        last = kept[-1]
        self._spill_limit = (-float(scores[last]), int(ids[last]))
        self._links.keep(kept)

    def _trim_entries(self) -> None:
        most = LOADED + int(ENTRIES_SHARE * self._most)
        if len(self._entries) > 2 * most:
            self._entries = {one: self._entries[one] for one in self._next(most) if one in self._entries}

    def discard(self, page_id: int) -> None:
        """Remove a URL, if it is in memory; it is pushed again as another variant, or with another level."""
        self._remove(page_id)
        self._entries.pop(page_id, None)

    def _remove(self, page_id: int) -> None:
        self._first = None
        self._risen.discard(page_id)
        features = self._links.remove(page_id)
        if features is not None and features.any():
            self._kept.keep(page_id, features)

    def refill(self, limit: int) -> None:
        """Read the best *limit* URLs from the store; everything pushed must have been submitted to it."""
        self._store.flush()
        while True:
            entries = self._store.best(self._scores.table, self._site_id, self._queue, limit)
            free = [entry.id for entry in entries if entry.id not in self._held]
            if len(entries) < limit or len(free) >= min(limit, self._most):
                break
            limit *= 2  # rare: few pages of a queue are held at a time
        self._kept.read(free)
        self.fill(entries, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the best *limit* URLs in the store, without those that are held."""
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL
        self._links, self._entries = LinkTable(), {}
        self._risen.clear()
        for entry in entries:
            if entry.id not in self._held:
                self._add(entry)
        self._trim_entries()

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        first = self.first
        assert first is not None
        page_id = first[1]
        if page_id not in self._entries:
            missing = [one for one in self._next(LOADED) if one not in self._entries]
            self._entries.update((found.id, found) for found in self._store.entries(missing))
        self._remove(page_id)
        return self._entries.pop(page_id)

    def _next(self, most: int) -> list[int]:
        """Return the ids of the *most* URLs that come first."""
        ids, values = self._compared()
        numbers: list[int] = ids[_best(ids, values, most)].tolist()
        return numbers


def _best(ids: NDArray[np.int64], values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the places of the *most* greatest *values*, the greatest first; of equals, the least of *ids*."""
    best = np.arange(len(ids))
    if most < len(ids):  # all that are as good as the last of them: sorting everything takes forty times as long
        best = np.flatnonzero(values >= np.partition(values, -most)[-most])
    found: NDArray[np.int64] = best[np.lexsort((ids[best], -values[best]))][:most]
    return found
