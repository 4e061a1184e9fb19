"""Keeps the scores of an order: tells it what was found and read, queues what rose, writes down what changed."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlers.algorithms.ranking.news_scores import FRESH, SOON, NewsScores
from crawlers.algorithms.ranking.page_scores import GONE, REVISIT
from crawlers.algorithms.ranking.page_values import PageValues
from crawlers.frontier.protocols import BEFORE_ALL
from crawlers.frontier.queues.scored_queue import ScoredQueue
from crawlers.items import QueueSlot
from crawlers.storage.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from crawlers.algorithms.ranking.page_scores import PageScores
    from crawlers.frontier.frontier_store import QueueEntry, ScoredFrontierStore
    from crawlers.frontier.protocols import Position
    from crawlers.frontier.site_queue import SiteQueue

SLICE_PAGES = 500  # 5 ms, between two other things that the crawl does


class Scoring:
    """The scores of all pages of *sites*. *held* has the pages that are leased, or rest."""

    def __init__(
        self,
        scores: PageScores,
        store: ScoredFrontierStore,
        sites: Mapping[int, SiteQueue],
        held: Collection[int],
    ) -> None:
        self.scores = scores
        self.news = scores if isinstance(scores, NewsScores) else None  # whose pages have a place of their own
        self._store = store
        self._sites = sites
        self._held = held
        self._site_of = PageValues(array("i", [0]))
        self._changed: dict[int, None] = {}  # pages whose record changed since it was written, in order
        self._recalled: dict[int, Counter[int]] = {}  # how many pages are in each queue, by site
        self._due: dict[int, list[tuple[QueueEntry, float]]] = {}  # pages that come back, by site, until it is opened
        self._recall()

    def _recall(self) -> None:
        """Take up all pages of the crawl as they were, also of sites that today's list leaves out."""
        scores = self.scores
        totals = self._store.totals()
        if totals is None:
            return
        scores.recall_totals(totals)
        for page in self._store.scored(scores.table, scores.columns):
            scores.recall(page.id, page.queue, page.record)
            self._site_of[page.id] = page.site_id
            if page.queue != GONE:
                self._recalled.setdefault(page.site_id, Counter())[page.queue] += 1
        if scores.rebase():
            self._changed.update((page.id, None) for page in self._store.scored(scores.table, scores.columns))
        if self.news is not None:
            for site_id, entry, due_at in self._store.due():
                self._due.setdefault(site_id, []).append((entry, due_at))
        # Limits of level moved, or a site that was not available is tried again.
        for page_id, site_id, level, waits in self._store.unscored(scores.table):
            if waits:
                self.found(site_id, page_id, level)
                self._recalled.setdefault(site_id, Counter())[scores.queue(page_id)] += 1
            else:
                self._recalled[site_id][scores.queue(page_id)] -= 1
                self.gone(page_id)

    @property
    def has_changes(self) -> bool:
        """Whether there is something to `write`."""
        return bool(self._changed)

    def head(self, site_id: int, queue: int, spill_limit: tuple[float, int]) -> ScoredQueue:
        """A head of one queue of a site."""
        return ScoredQueue(site_id, queue, self.scores, self._store, self._held, self._write_again, spill_limit)

    def recalled(self, site_id: int) -> tuple[list[int], int]:
        """The queues in which pages of a site wait, and how many will be fetched again."""
        waiting = self._recalled.pop(site_id, Counter())
        return [queue for queue in sorted(waiting) if waiting[queue]], waiting[REVISIT]

    def due(self, site_id: int) -> list[tuple[QueueEntry, float]]:
        """The pages of a site that come back, with their times; asked once."""
        return self._due.pop(site_id, [])

    def found(self, site_id: int, page_id: int, level: int, place: QueueSlot | None = None) -> None:
        """A page may be fetched, or was found nearer; it belongs to *place*, if the order has places."""
        self._site_of[page_id] = site_id
        self.scores.found(page_id, level)
        if place is not None:
            self.placed(page_id, place)
        self._changed[page_id] = None

    def placed(self, page_id: int, place: QueueSlot) -> None:
        """A page that waits, or rests, belongs to *place* now."""
        if self.news is not None and self.scores.queue(page_id) not in (GONE, REVISIT):
            self.news.placed(page_id, place)
            self._changed[page_id] = None

    def place(self, page_id: int) -> QueueSlot | None:
        """Where a page waits, or waited; None if the order has no places."""
        return None if self.news is None else QueueSlot(self.news.queue(page_id), self.news.record(page_id)[0])

    def place_again(
        self, site_id: int, site: str, place_of: Callable[[str, str], QueueSlot], after: Position
    ) -> Position | None:
        """Ask *place_of*, by site and URL, where the next `SLICE_PAGES` of a site that wait behind *after* belong now.

        What is fresh stays that, and so do sitemaps. Returns the last one; None if there are no more.
        """
        if after == BEFORE_ALL:
            self._store.flush()  # what is found from now on is placed by the same rules
        entries = self._store.waiting(site_id, 0, after, SLICE_PAGES)
        for entry in entries:
            before = self.place(entry.id)
            if before is not None and before.queue != FRESH and before.value != SOON.value:
                place = place_of(site, entry.url)
                if place != before:
                    self.placed(entry.id, place)
        return (entries[-1].priority, entries[-1].id) if len(entries) == SLICE_PAGES else None

    def fetch_again(self, page_id: int) -> bool:
        """A page that was over is to be fetched once more, as soon as possible; whether it was over."""
        is_known = self._site_of[page_id] > 0
        if self.news is None or not is_known or page_id in self._held or self.scores.queue(page_id) != GONE:
            return False
        self.news.revisiting(page_id)
        self._changed[page_id] = None
        return True

    def returns(self, page_id: int) -> None:
        """A page that was read comes back."""
        if self.news is not None:
            self.news.revisiting(page_id)

    def read(self, page_id: int, links: Mapping[int, float]) -> None:
        """A page was read; *links* has what each of its links is worth."""
        changed = self.scores.fetched(page_id, links)
        self._changed[page_id] = None
        self._changed.update(dict.fromkeys(changed))

    def moved(self, page_id: int, target: int) -> None:
        """A page is but another address of *target*."""
        changed = self.scores.moved(page_id, target)
        self._changed[page_id] = None
        self._changed.update(dict.fromkeys(changed))

    def gone(self, page_id: int) -> None:
        """A page will not be fetched (again)."""
        self.scores.gone(page_id)
        self._changed[page_id] = None

    def write(self, changes: ChangeSet, head_urls: int) -> list[SiteQueue]:
        """Add the rows that changed to *changes* and requeue pages whose score rose; the sites with a better page."""
        scores, sites, held, site_of = self.scores, self._sites, self._held, self._site_of
        bettered: dict[int, SiteQueue] = {}
        for page_id in self._changed:
            queue = scores.queue(page_id)
            if queue == GONE or page_id in held:
                continue
            site = sites.get(site_of[page_id])
            if site is not None and site.rise(queue, page_id, head_urls):
                bettered[site.id] = site
        getattr(changes, scores.table).extend(self._rows(self._changed))
        changes.order_totals.append([self._store.crawl_id, json.dumps(scores.totals())])
        self._changed.clear()
        return list(bettered.values())

    def _write_again(self, pages: Iterable[int]) -> None:
        changes = ChangeSet()
        getattr(changes, self.scores.table).extend(self._rows(pages))
        self._store.submit(changes)

    def _rows(self, pages: Iterable[int]) -> Iterable[list[Any]]:
        scores, site_of = self.scores, self._site_of
        for page in pages:
            yield [page, site_of[page], scores.queue(page), scores.score(page), *scores.record(page)]
