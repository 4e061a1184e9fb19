"""What an order that learns needs of links, and the waiting URLs of one site by what was learnt of the links to them.

What is learnt changes with each page that is read anywhere, so values are computed when the best URL of the site is
asked for, see `SiteSchedule.value_again`. That costs 0.1 to 0.2 µs for each URL, without a heap.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from crawlers.frontier.site_queue import PageQueue
from crawlers.frontier.values import ALL
from crawlers.items import LinkPlace
from crawlers.ranking.link_features import link_features
from crawlers.ranking.link_values import MOST_COMPARED, NO_FEATURES, LinkTable, best_places, text_of
from crawlers.store.schema.tables import LinkFeaturesRow
from crawlers.store.writing.pulls import read_features

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from crawlers.frontier.scoring import ScoredRows
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import Origin, QueueEntry
    from crawlers.items import Target
    from crawlers.ranking.link_values import Features, Rows
    from crawlers.ranking.page_orders import LinkLearner
    from crawlers.store.writing.pulls import Pull


NO_PLACE = LinkPlace("", "", "")
_FEATURES = "SELECT page_id, features FROM link_features WHERE page_id"


def stored_features(store: SqlFrontierStore, page_ids: Collection[int]) -> dict[int, Features]:
    """Return the features of the links by which these pages were found, as far as they have any."""
    rows = store.read(_FEATURES + store.among, ids=json.dumps(list(page_ids)))
    return {page_id: read_features(features, store.database.name) for page_id, features in rows}


class LinkLearning:
    """The features of the links to all pages that wait or are leased, and their *values*.

    Those of a page are in its site's queue while it waits there, else in this object. Home pages have none.
    """

    def __init__(self, values: LinkLearner, store: SqlFrontierStore, rows: ScoredRows | None = None) -> None:
        self.compared = MOST_COMPARED  # waiting URLs of a site whose values are compared, at most
        self.scores, self.close = values.page_scores, values.close
        self.learnt = 0  # downloads; as long as it is the same, what is learnt changes no value
        self.rows = rows  # if the order has scores
        self._values = values
        self._store = store
        self.features: dict[int, Features] = {}  # of pages that are in no queue; home pages have none
        self._reported = 0

    def compare(self, urls: int) -> int:
        """Compare that many waiting URLs of a site from now on, or the nearest possible number; return it."""
        self.compared = min(MOST_COMPARED, urls)
        return self.compared

    def values(self, pages: NDArray[np.int64], features: Rows) -> NDArray[np.float64]:
        """Return the values of links to *pages*, one for each row of *features*."""
        return self._values.compared(pages, features)

    def add_link(self, page_id: int, site: str, target: Target, origin: Origin) -> list[LinkFeaturesRow]:
        """Note the link to *target* by which a page was found that waits now; return its row.

        The target of a redirect has the features of the page that redirects to it, which is leased. Home pages, and the
        targets of their redirects, have none.
        """
        if origin.follows is not None:
            features = self.features.get(origin.follows)
        elif origin.level > 0:
            place, found_on = origin.places.get(target.key, NO_PLACE), origin.found_on or 0
            features = np.array(link_features(site, target.url, origin.level, found_on, place), np.uint32)
        else:
            features = None
        if features is None:
            return []
        self.features[page_id] = features
        return [LinkFeaturesRow(page_id, text_of(features))]

    def load_features(self, page_ids: Collection[int]) -> None:
        """Read the features of pages that wait from the store."""
        self.features.update(stored_features(self._store, page_ids))

    def learn_reward(self, page_id: int, reward: float) -> None:
        """Learn the *reward* of a download of a leased page."""
        features = self.features.get(page_id)
        self.learnt += 1
        self._values.learn([] if features is None else features.tolist(), reward)

    def has_learnt(self) -> bool:
        """Return whether anything was learnt since the last call."""
        has_learnt, self._reported = self.learnt > self._reported, self.learnt
        return has_learnt

    def forget(self, page_ids: Iterable[int]) -> None:
        """Forget the features of pages that will not be requested (again) by this worker."""
        for page_id in page_ids:
            self.features.pop(page_id, None)

    def learn(self, pulls: Iterable[Pull]) -> Iterator[Pull]:
        """Learn from *pulls* of earlier runs and of other workers; yield each of them. Raises `StoreError`."""
        for pull in pulls:
            self.learnt += 1
            features = [] if pull.features is None else read_features(pull.features, "the store").tolist()
            self._values.learn(features, pull.reward)
            yield pull


ENTRIES_SHARE = 0.1  # of the URLs, the best ones, whose entries are in memory, too; others are read from the store
LOADED = 20  # entries read from the store at a time when that of the first page is not in memory


class ValueQueue(PageQueue):
    """URLs of a site in memory with their features; the rest in the *store*. *held* has those that are leased or rest.

    Of the URLs, as many as *learning* says are compared by their values: those with the greatest scores, if the order
    has any, and of equals those that were found first. So which ones these are depends on nothing but what waits: a
    crawl that was killed chooses among the same ones. Everything up to the *spill_limit*, a (negative score, page), is
    in memory, and everything behind it in the store only. Without scores, the home page comes before all others.
    """

    def __init__(
        self,
        site_id: int,
        number: int,
        learning: LinkLearning,
        store: SqlFrontierStore,
        held: Collection[int],
        spill_limit: tuple[float, int] = ALL,
    ) -> None:
        super().__init__(site_id, store, held, spill_limit)
        self._number = number
        self._scores = learning.scores
        self._learning = learning
        self._links = LinkTable()
        self._homes: list[int] = []
        self._raised: set[int] = set()  # pages that rose over the spill limit; their features are in the store
        self._popped: set[int] = set()  # pages that are held, or ended a moment ago: the store may call them waiting
        # The first URL, as long as nothing is queued or learnt: what that depends on, and minus its value and its id.
        self._first: tuple[tuple[int, int], tuple[float, int]] | None = None

    def __len__(self) -> int:
        """Return the number of URLs in memory."""
        return len(self._links) + len(self._homes)

    @property
    def is_empty(self) -> bool:
        """Whether no URL is in memory."""
        return not (self._links or self._homes or self._raised)

    @property
    def needs_refill(self) -> bool:
        """Whether fewer URLs are in memory than are compared, while the store may hold more."""
        return self.has_more and len(self) < self._learning.compared

    @property
    def first(self) -> tuple[float, int] | None:
        """Minus the value and id of the best URL in memory, which comes first unless a refill is needed; or None."""
        if self._raised:
            self._read_raised()
        if self._homes:
            return float("-inf"), min(self._homes)
        if not self._links:
            return None
        known = self._learning.learnt, self._learning.compared
        if self._first is None or self._first[0] != known:
            ids, values = self._values()
            self._first = known, (-float(values.max()), int(self._best(ids, values).min()))
        return self._first[1]

    def _values(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the ids of the URLs that are compared, and their values."""
        ids, features = self._links.ids, self._links.features
        if len(ids) > self._learning.compared:
            places = self._foremost(self._learning.compared)
            ids, features = ids[places], features[places]
        return ids, self._learning.values(ids, features)

    def _foremost(self, most: int) -> NDArray[np.intp]:
        """Return the places of the *most* URLs with the greatest scores, the last of them at the end."""
        if self._scores is None:
            return np.argpartition(self._links.ids, most - 1)[:most]
        return best_places(self._links.ids, self._scores.scores(self._links.ids), most)

    def _best(self, ids: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return those of *ids* with nearly the greatest of *values*, of which the oldest comes first."""
        greatest = values.max()
        best: NDArray[np.int64] = ids[(values > greatest - self._learning.close) | (values == greatest)]
        return best

    def _next(self, most: int) -> list[int]:
        """Return the ids of up to *most* of the URLs that come next, the first one at the beginning."""
        found = sorted(self._homes)
        if self._links:
            ids, values = self._values()
            found += np.sort(self._best(ids, values))[:most].tolist()
            found += ids[best_places(ids, values, most)].tolist()
        return list(dict.fromkeys(found))[:most]

    def _limit(self, page_id: int) -> tuple[float, int]:
        return 0.0 if self._scores is None else -self._scores.score(page_id), page_id

    def push(self, entry: QueueEntry, most: int) -> None:
        """Queue *entry*; at most twice as many URLs as are compared are in memory."""
        self._popped.discard(entry.id)
        features = self._learning.features.pop(entry.id, None)
        if self.has_more and self._limit(entry.id) > self._spill_limit:
            return
        if features is None and entry.level > 0:  # its features are in the store only
            self._first = None
            self._raised.add(entry.id)
        else:
            self._add(entry, features)
            self._bound()

    def raise_page(self, page_id: int, most: int) -> bool:
        """Note that the score of a waiting page grew; return False: its value has to be computed, see `first`."""
        self._first = None
        if self.has_more and self._limit(page_id) <= self._spill_limit and page_id not in self._links:
            self._raised.add(page_id)
        return False

    def _read_raised(self) -> None:
        """Read the pages that rose over the spill limit into memory."""
        raised = sorted(self._raised)
        self._raised.clear()
        entries = self._store.entries(raised)  # waits for those of them that were found just now
        self._learning.load_features(raised)
        for entry in entries:
            self._add(entry, self._learning.features.pop(entry.id, None))
        self._bound()

    def _add(self, entry: QueueEntry, features: Features | None) -> None:
        self._first = None
        self._raised.discard(entry.id)
        self._entries[entry.id] = entry
        if features is None and self._scores is None:
            self._homes.append(entry.id)
        else:
            self._links.add(entry.id, NO_FEATURES if features is None else features)

    def _bound(self) -> None:
        """Keep what is in memory within its bounds, and leave the URLs behind these to the store."""
        compared = self._learning.compared
        if len(self._links) > 2 * compared:
            places = self._foremost(compared + compared // 2)  # more than are compared: the store is not read soon
            self._spill_limit = self._limit(int(self._links.ids[places[-1]]))
            self._links.keep(places)
        self._trim_entries()

    def _trim_entries(self) -> None:
        most = LOADED + int(ENTRIES_SHARE * self._learning.compared)
        if len(self._entries) > 2 * most:
            self._entries = {one: self._entries[one] for one in self._next(most) if one in self._entries}

    def discard(self, page_id: int) -> None:
        """Remove a URL, if it is in memory; it is pushed again as another variant, or with another level."""
        self._remove(page_id)
        self._entries.pop(page_id, None)

    def _remove(self, page_id: int) -> None:
        """Remove a URL from memory, and keep its features."""
        self._first = None
        self._raised.discard(page_id)
        if page_id in self._homes:
            self._homes.remove(page_id)
        elif (features := self._links.remove(page_id)) is not None and features.any():
            self._learning.features[page_id] = features

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store; everything pushed must have been committed to it."""
        entries = self._read(self._spill_limit, limit)
        self._learning.load_features({entry.id for entry in entries} - self._popped)
        self._append(entries, limit)

    def fill(self, entries: list[QueueEntry], limit: int) -> None:
        """Begin with the foremost *limit* URLs in the store, without those that are held."""
        self._links, self._homes, self._entries = LinkTable(), [], {}
        self._raised.clear()
        self._append(entries, limit)

    def _read(self, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        if self._learning.rows is None:
            return super()._read(after, limit)
        return self._learning.rows.best(self._site_id, self._number, after, limit)

    def _append(self, entries: list[QueueEntry], limit: int) -> None:
        """Add up to *limit* entries that the store has behind the spill limit; fewer are all that it has."""
        self._spill_limit = (entries[-1].priority, entries[-1].id) if len(entries) == limit else ALL
        for entry in entries:
            if not (entry.id in self._held or entry.id in self._popped or entry.id in self._homes):
                self._add(entry, self._learning.features.pop(entry.id, None))
        self._bound()

    def pop(self) -> QueueEntry:
        """Remove and return the `first`."""
        first = self.first
        assert first is not None
        page_id = first[1]
        if page_id not in self._entries:
            next_ones = [one for one in self._next(LOADED) if one not in self._entries and one != page_id]
            self._entries.update((found.id, found) for found in self._store.entries([page_id], next_ones))
        self._remove(page_id)
        self._popped.intersection_update(self._held)  # a refill waits for the others, which ended before it
        self._popped.add(page_id)
        return self._entries.pop(page_id)
