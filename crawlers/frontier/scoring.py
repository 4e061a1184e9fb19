"""Maintains the scores of an order: reports found and read pages to it, requeues risen pages, writes changes."""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from crawlers.items import GONE, REVISIT
from crawlers.ranking.page_values import PageValues
from crawlers.store.reading.importance import parts_of
from crawlers.store.schema.tables import SCORE_ROWS, EndedTotals, OrderTotalsRow, SiteBase
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import Mismatch, ScoredPage
    from crawlers.items import Hint
    from crawlers.ranking.page_scores import PageScores
    from crawlers.store.reading.importance import StoredPart
    from crawlers.store.schema.rows import Row


class Scoring:
    """The scores of all pages of *sites*. *held* contains the pages that are leased or rest.

    If the crawl *is_divided*, the pages of a site are recalled when it is opened, see `open_site`; otherwise all are
    recalled now. Those of orders that share nothing always come with their sites.
    """

    def __init__(
        self,
        scores: PageScores,
        store: SqlFrontierStore,
        sites: Mapping[int, SiteQueue],
        held: Collection[int],
        worker_id: int = 0,
        *,
        is_divided: bool = False,
    ) -> None:
        self.scores = scores
        self._worker_id = worker_id
        self.is_divided = is_divided or not scores.is_shared
        self._rows_to_write: list[Row] = []  # of other tables, with the next change set
        self._store = store
        self._sites = sites
        self._held = held
        self._site_of = PageValues(array("i", [0]))
        self._changed: dict[int, None] = {}  # pages whose record changed since it was written, in order
        self._recalled: defaultdict[int, Counter[int]] = defaultdict(
            Counter
        )  # how many pages are in each queue, by site
        self._recall()

    def _recall(self) -> None:
        """Load all pages of the crawl, including those of sites that the host list omits."""
        scores = self.scores
        if self.is_divided:
            self.scores.begin_part()
            self._rows_to_write.append(self._totals())  # others are given nothing until everybody's is known
            if not scores.is_shared:  # nobody needs those of workers that ended
                ended = (number for number, stored in self._parts().items() if not stored.part.is_active)
                self._rows_to_write += [EndedTotals(self._store.crawl_id, number) for number in ended]
            return
        parts, bases = self._parts(), self._store.bases()
        if not parts:
            return
        (first, *others), was_divided = parts.values(), False
        if others or any(base != first.base for base in bases.values()):
            self.scores.begin_part({number: stored.part for number, stored in parts.items()})
            was_divided = True
        else:
            scores.recall_totals(first.part.totals)
        for page in self._store.scored(scores.table, scores.columns):
            if was_divided:
                base = bases.get(page.site_id, self.scores.base())
                self.scores.add_page(page.id, page.queue, page.record, base)
                self._changed[page.id] = None
            else:
                scores.recall(page.id, page.queue, page.record)
            self._site_of[page.id] = page.site_id
            if page.queue != GONE:
                self._recalled[page.site_id][page.queue] += 1
        crawl_id = self._store.crawl_id
        self._rows_to_write += [EndedTotals(crawl_id, number) for number in parts if number != self._worker_id]
        self._rows_to_write += [SiteBase(site_id, None) for site_id in bases]
        if scores.rebase():
            self._changed.update((page.id, None) for page in self._store.scored(scores.table, scores.columns))
        # The level limit changed, or an unavailable site is tried again.
        self._apply_states(self._store.unscored(scores.table))

    def _parts(self) -> dict[int, StoredPart]:
        """Return the totals of the order by worker; none if nothing was written yet."""
        with self._store.database.read() as connection:
            return parts_of(connection, self._store.crawl_id)

    def _apply_states(self, unscored: Iterable[Mismatch]) -> None:
        """Let pages wait, or not, as their states say."""
        for page_id, site_id, level, waits in unscored:
            if waits:
                self.add_waiting(site_id, page_id, level)
                self._recalled[site_id][self.scores.queue(page_id)] += 1
            else:
                self._recalled[site_id][self.scores.queue(page_id)] -= 1
                self.scores.remove_page(page_id)
                self._changed[page_id] = None

    @property
    def has_changes(self) -> bool:
        """Whether there is something to `write`."""
        return bool(self._changed or self._rows_to_write)

    def recalled(self, site_id: int) -> tuple[list[int], int]:
        """Return the queues in which pages of a site wait, and the number of revisits."""
        waiting = self._recalled.pop(site_id, Counter())
        return [queue for queue in sorted(waiting) if waiting[queue]], waiting[REVISIT]

    def add_waiting(self, site_id: int, page_id: int, level: int, hint: Hint | None = None) -> None:
        """Note that a page may be fetched, or was found nearer; *hint* is a hint of the mission."""
        self._site_of[page_id] = site_id
        self.scores.add_waiting(page_id, level)
        if hint is not None:
            self.scores.take_hint(page_id, hint)
        self._changed[page_id] = None

    def note(self, pages: Iterable[int]) -> None:
        """Note that the records of *pages* changed."""
        self._changed.update(dict.fromkeys(pages))

    def queued(self, page_id: int, hint: Hint) -> None:
        """Move a page that waits or rests to *hint*."""
        if self.scores.take_hint(page_id, hint):
            self._changed[page_id] = None

    def fetch_again(self, page_id: int) -> bool:
        """Queue a finished page for one more fetch as soon as possible; return whether it was finished."""
        is_gone = self._site_of[page_id] > 0 and page_id not in self._held and self.scores.queue(page_id) == GONE
        is_queued = is_gone and self.scores.schedule_visit(page_id)
        if is_queued:
            self._changed[page_id] = None
        return is_queued

    # Pages of several workers ------------------------------------------------------------------------

    def holds(self, page_id: int) -> bool:
        """Return whether a page belongs to an open site."""
        return self._site_of[page_id] in self._sites

    def apply_parts(self, parts: Mapping[int, StoredPart]) -> None:
        """Take up what the workers of the crawl stored; their number includes this one."""
        if not self.scores.is_shared:
            return
        self.is_divided = True
        others = [one.part.totals for number, one in parts.items() if number != self._worker_id]
        own = parts.get(self._worker_id)
        self._changed.update(dict.fromkeys(self.scores.apply_totals(others, own.part.given if own else 0.0)))
        self._rows_to_write.append(self._totals())

    def open_site(
        self, site_id: int, pages: Iterable[ScoredPage], unscored: Iterable[Mismatch], base: Sequence[float] | None
    ) -> None:
        """Recall the pages of a site that is being opened, and whose records are relative to *base*.

        *unscored* are those whose state and record disagree.
        """
        scores = self.scores
        self._recalled.pop(site_id, None)
        for page in pages:
            scores.add_page(page.id, page.queue, page.record, base if base is not None else scores.base())
            self._site_of[page.id] = site_id
            if scores.is_shared:  # else the record is the same
                self._changed[page.id] = None
            if page.queue != GONE:
                self._recalled[site_id][page.queue] += 1
        self._apply_states(unscored)
        if base is not None:
            self._rows_to_write.append(SiteBase(site_id, None))

    def close_site(self, site_id: int) -> list[Row]:
        """Forget the pages of a site; return the rows by which another worker can recall them."""
        pages = [page_id for page_id, of in self._site_of.items() if of == site_id]
        base = SiteBase(site_id, json.dumps(self.scores.base()))
        self.scores.remove_pages(pages)
        for page_id in pages:
            self._site_of[page_id] = 0
        return [base, self._totals()] if self.scores.is_shared else []

    def _totals(self) -> OrderTotalsRow:
        scores = self.scores
        totals, base = json.dumps(scores.totals()), json.dumps(scores.base())
        return OrderTotalsRow(self._store.crawl_id, self._worker_id, totals, base)

    def write(self, changes: ChangeSet, head_urls: int) -> list[SiteQueue]:
        """Add changed rows to *changes*, and requeue pages whose score rose; return the sites with a better page."""
        scores, sites, held, site_of = self.scores, self._sites, self._held, self._site_of
        improved: dict[int, SiteQueue] = {}
        for page_id in self._changed:
            queue = scores.queue(page_id)
            if queue == GONE or page_id in held:
                continue
            site = sites.get(site_of[page_id])
            if site is not None and site.raise_page(queue, page_id, head_urls):
                improved[site.id] = site
        changes.add(*self._rows(self._changed))
        changes.add(*self._rows_to_write, self._totals())
        self._rows_to_write.clear()
        self._changed.clear()
        return list(improved.values())

    def rewrite(self, pages: Iterable[int]) -> None:
        """Write the rows of *pages*, whose scores fell since they were written."""
        self._store.submit(ChangeSet(*self._rows(pages)))

    def _rows(self, pages: Iterable[int]) -> Iterable[Row]:
        scores, site_of, row = self.scores, self._site_of, SCORE_ROWS[self.scores.table]
        for page in pages:
            yield row(page, site_of[page], scores.queue(page), scores.score(page), *scores.record(page))
