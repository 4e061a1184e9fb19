"""The waiting URLs of one site by their scores and by what was learnt of the links to them.

What is learnt changes with each page that is read anywhere, so values are computed when the best URL of the site is
asked for: see `SiteSchedule.value_again`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_table import NO_FEATURES, LinkTable, best_places
from crawlers.frontier.queues.bounded_queue import ALL
from crawlers.frontier.queues.learnt_queue import ENTRIES_SHARE, LOADED

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.link_features import Features
    from crawlers.algorithms.ranking.link_relevance import LinkRelevance
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore
    from crawlers.frontier.queues.learnt_queue import KeptFeatures

MOST_YOUNG = 1_000  # URLs; a page has fewer new links, and those that rise do so before the next page is recorded


class RelevanceQueue:
    """URLs of a site in memory with their features; the rest in the *store*. *held* has those that are leased or rest.

    Of the URLs, those with the greatest scores are compared by their values, see `LinkRelevance`, as many as *kept*
    says; of equals, those that were found first. So which ones these are depends on nothing but what waits. Everything
    up to the *spill_limit*, a (negative score, page), is in memory, and everything behind it in the store only.
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
        self._links = LinkTable()
        self._entries: dict[int, QueueEntry] = {}
        self._risen: set[int] = set()  # pages that rose over the spill limit; their features are in the store
        self._spilled: set[int] = set()  # likewise pages that were discarded, and are pushed again at once
        # Pages behind the spill limit that were pushed last: most of them rise at once, by the text of their link.
        self._young: dict[int, tuple[QueueEntry, Features | None]] = {}
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
        self._young.clear()
        self._spilled.clear()
        if self._risen:
            self._take_risen()
        if self.has_more and len(self._links) < self._kept.compared:
            self.refill(self._kept.compared)
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
        if len(ids) > self._kept.compared:
            found = best_places(ids, self._scores.scores(ids), self._kept.compared)
            ids, features = ids[found], features[found]
        return ids, self._relevance.values(ids, features)

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; at most twice as many URLs as are compared are in memory."""
        was_spilled = entry.id in self._spilled
        self._spilled.discard(entry.id)
        if self.has_more and (-self._scores.score(entry.id), entry.id) > self._spill_limit:
            if not was_spilled:
                self._young[entry.id] = entry, self._kept.take(entry.id)
                if len(self._young) > MOST_YOUNG:
                    del self._young[next(iter(self._young))]
            return
        if was_spilled:
            self._risen.add(entry.id)
            self._first = None
            return
        self._add(entry, self._kept.take(entry.id))
        self._trim()

    def rise(self, page_id: int, most: int) -> bool:
        """Note that the score of a waiting page grew; return False: its value has to be computed, see `first`."""
        self._first = None
        is_near = self.has_more and (-self._scores.score(page_id), page_id) <= self._spill_limit
        if is_near and page_id not in self._links:
            if page_id in self._young:
                self._add(*self._young.pop(page_id))
                self._trim()
            else:
                self._risen.add(page_id)
        return False

    def _take_risen(self) -> None:
        """Take the pages that rose over the spill limit into memory."""
        risen = sorted(self._risen)
        self._risen.clear()
        entries = self._store.entries(risen)  # waits for those of them that were found just now
        self._kept.read(risen)
        for entry in entries:
            self._add(entry, self._kept.take(entry.id))
        self._trim()

    def _add(self, entry: QueueEntry, features: Features | None) -> None:
        self._first = None
        self._risen.discard(entry.id)
        self._entries[entry.id] = entry
        self._links.add(entry.id, NO_FEATURES if features is None else features)

    def _trim(self) -> None:
        """Keep what is in memory within its bounds."""
        if len(self._links) > 2 * self._kept.compared:
            self._spill()
        self._trim_entries()

    def _spill(self) -> None:
        """Leave the URLs with the least scores to the store."""
        most = self._kept.compared + self._kept.compared // 2  # more than are compared: the store is not read soon
        ids, scores = self._links.ids, self._scores.scores(self._links.ids)
        kept = best_places(ids, scores, most)
        last = kept[-1]
        self._spill_limit = (-float(scores[last]), int(ids[last]))
        self._links.keep(kept)

    def _trim_entries(self) -> None:
        most = LOADED + int(ENTRIES_SHARE * self._kept.compared)
        if len(self._entries) > 2 * most:
            self._entries = {one: self._entries[one] for one in self._next(most) if one in self._entries}

    def discard(self, page_id: int) -> None:
        """Remove a URL, if it is in memory; it is pushed again as another variant, or with another level."""
        if page_id in self._young:
            features = self._young.pop(page_id)[1]
            if features is not None:
                self._kept.keep(page_id, features)
        elif not self._remove(page_id):
            self._spilled.add(page_id)
        self._entries.pop(page_id, None)

    def _remove(self, page_id: int) -> bool:
        """Remove a URL from memory, and keep its features; return whether it was there."""
        self._first = None
        self._risen.discard(page_id)
        features = self._links.remove(page_id)
        if features is not None and features.any():
            self._kept.keep(page_id, features)
        return features is not None

    def refill(self, limit: int) -> None:
        """Read the best URLs from the store, more than are compared: it is not read again soon."""
        self._store.flush()  # URLs that are not written yet must not be skipped
        limit += limit // 2
        while True:
            entries = self._store.best(self._scores.table, self._site_id, self._queue, limit)
            free = [entry.id for entry in entries if entry.id not in self._held]
            if len(entries) < limit or len(free) >= self._kept.compared:
                break
            limit *= 2  # rare: few pages of a queue are held at a time
        self._kept.read(free)
        self.fill(entries, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the best *limit* URLs in the store, without those that are held."""
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL
        self._links, self._entries = LinkTable(), {}
        self._risen.clear()
        self._young.clear()
        for entry in entries:
            if entry.id not in self._held:
                self._add(entry, self._kept.take(entry.id))
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
        numbers: list[int] = ids[best_places(ids, values, most)].tolist()
        return numbers
