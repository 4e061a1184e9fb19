"""Maintains the scores of an order: reports found and read pages to it, requeues risen pages, writes changes.

Priorities change while URLs wait: they are minus the scores. The heap of a queue holds them as of their last decrease.
A priority that decreases again gets a second item in the heap; one that grew is detected when its item reaches the top.
So a change costs at most one push, and the queue still returns the best URL.
"""

from __future__ import annotations

import heapq
import json
from array import array
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.frontier.site_queue import PageQueue, SiteQueue
from crawlers.frontier.sql_store import ENTRY, MAX_SCORE, by_site
from crawlers.frontier.values import ALL, NONE, Mismatch, QueueEntry, ScoredPage
from crawlers.items import GONE, REVISIT, State
from crawlers.ranking.page_values import PageValues
from crawlers.store.reading.importance import parts_of
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.tables import SCORE_ROWS, EndedTotals, OrderTotalsRow, SiteBase, metadata
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import Retry
    from crawlers.items import Hint
    from crawlers.ranking.page_scores import PageScores
    from crawlers.store.reading.importance import StoredPart
    from crawlers.store.schema.rows import Row


_BEST = f"""
    SELECT -s.score, {ENTRY.format(queue="s.queue")} FROM (
        SELECT * FROM (SELECT * FROM {{table}} WHERE site_id = :site AND queue = :queue AND score = :score
            AND page_id > :id ORDER BY page_id LIMIT :limit) AS tied
        UNION ALL
        SELECT * FROM (SELECT * FROM {{table}} WHERE site_id = :site AND queue = :queue AND score < :score
            ORDER BY score DESC, page_id LIMIT :limit) AS lower
    ) AS s JOIN page AS p ON p.id = s.page_id ORDER BY s.score DESC, s.page_id LIMIT :limit"""  # noqa: S608
# The index has all columns of the inner query, so that only the best pages are read.
_BEST_OF = f"""
    SELECT s.site_id, s.queue, -s.score, {ENTRY.format(queue="s.queue")}
    FROM (SELECT site_id, queue, score, page_id,
            row_number() OVER (PARTITION BY site_id, queue ORDER BY score DESC, page_id) AS place
        FROM {{table}} WHERE site_id{{among}} AND queue >= 0) AS s
    JOIN page AS p ON p.id = s.page_id
    WHERE s.place <= :limit ORDER BY s.site_id, s.queue, s.place"""  # noqa: S608
_SCORED = """
    SELECT s.page_id, s.site_id, s.queue, {columns} FROM {table} AS s JOIN site ON site.id = s.site_id
    WHERE site.crawl_id = :crawl"""
_UNSCORED = f"""
    SELECT p.id, p.site_id, p.level, p.state = {int(State.WAITING)}
    FROM page AS p JOIN site ON site.id = p.site_id LEFT JOIN {{table}} AS s ON s.page_id = p.id
    WHERE site.crawl_id = :crawl {{of_sites}} AND (
        p.state = {int(State.WAITING)} AND (s.queue IS NULL OR s.queue < 0)
        OR p.state = {int(State.REJECTED)} AND s.queue >= 0 AND s.queue != {REVISIT})
    ORDER BY p.id"""  # noqa: S608
_DUE = f"""
    SELECT v.site_id, v.due_at, v.due_at - v.polled_at, 0.0, p.id,
        p.key, p.url, p.level, p.hops, 0, p.request, {REVISIT}
    FROM {{visits}} AS v JOIN page AS p ON p.id = v.page_id
    JOIN {{table}} AS s ON s.page_id = p.id AND s.queue = {REVISIT}
    WHERE v.site_id{{among}} ORDER BY v.due_at, p.id"""  # noqa: S608
_BASES = "SELECT id, base FROM site WHERE crawl_id = :crawl AND base IS NOT NULL"


class ScoredRows:
    """The rows of the pages of an order with scores, in its *table* with the *columns* of a record.

    What was submitted to the *store* is read as soon as it is committed.
    """

    def __init__(self, store: SqlFrontierStore, table: str, columns: Sequence[str]) -> None:
        self._store = store
        self._table = table
        self._columns = columns
        self._best = _BEST.format(table=table)
        self._best_of = _BEST_OF.format(table=table, among="{among}")

    def best(self, site_id: int, queue: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the best URLs of a site's queue behind (priority, id) *after*, by their written scores.

        The priority is minus the score.
        """
        score, page_id = min(-after[0], MAX_SCORE), after[1]
        rows = self._store.read(self._best, site=site_id, queue=queue, score=score, id=page_id, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def best_of(self, site_ids: Collection[int], limit: int) -> dict[int, dict[int, list[QueueEntry]]]:
        """Return what `best` does, for all queues of each of these sites, by site and queue."""
        found: dict[int, dict[int, list[QueueEntry]]] = {}
        for site_id, queue, *entry in self._store.read_of(self._best_of, site_ids, limit=limit):
            found.setdefault(site_id, {}).setdefault(queue, []).append(QueueEntry(*entry))
        return found

    def scored(self, site_ids: Collection[int] | None = None) -> Iterator[ScoredPage]:
        """Return all pages of the crawl, or of these sites, that have a row."""
        among, of_crawl = self._of(site_ids)
        statement = _SCORED.format(table=self._table, columns=", ".join(f"s.{name}" for name in self._columns)) + among
        with self._store.database.read() as connection:
            rows = connection.execution_options(yield_per=10_000).execute(text(statement), of_crawl)
            for page_id, of, queue, *record in rows:
                yield ScoredPage(page_id, of, queue, tuple(record))

    def unscored(self, site_ids: Collection[int] | None = None) -> list[Mismatch]:
        """Return the pages of the crawl, or of these sites, whose state changed without the order.

        They wait although their row says otherwise or is missing, or they are rejected although their row waits.
        """
        among, of_crawl = self._of(site_ids)
        statement = _UNSCORED.format(table=self._table, of_sites=among)
        return [Mismatch(*row) for row in self._store.read(statement, **of_crawl)]

    def due(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that have a scheduled revisit."""
        visits = metadata.tables[self._table].info[VISITS]
        return by_site(self._store.read_of(_DUE.format(table=self._table, visits=visits, among="{among}"), site_ids))

    def bases(self, site_ids: Collection[int] | None = None) -> dict[int, list[float]]:
        """Return the numbers to which the records of sites are relative that their workers gave up, by site."""
        among, of_crawl = self._of(site_ids)
        rows = self._store.read(_BASES + among, **of_crawl)
        return {number: json.loads(base) for number, base in rows}

    def _of(self, site_ids: Collection[int] | None) -> tuple[str, dict[str, Any]]:
        """Return the condition on the table `site`, empty if all sites are meant, and the parameters of a query."""
        of_crawl = {"crawl": self._store.crawl_id}
        if site_ids is None:
            return "", of_crawl
        return f" AND site.id{self._store.among}", {**of_crawl, "ids": json.dumps(list(site_ids))}


LOADED = 50  # entries read from the store at a time when that of the best page is not in memory


class ScoredQueue(PageQueue):
    """The waiting pages of the queue with a *number* of a site, by the scores of *scoring*.

    Everything behind the spill limit is in the store only, by the score that was written last. For a page whose score
    rose over the spill limit, the heap contains only the number; its entry is read when the page is popped.
    """

    __slots__ = ("_number", "_scores", "_scoring")

    def __init__(self, site_id: int, number: int, scoring: Scoring, spill_limit: tuple[float, int] = ALL) -> None:
        super().__init__(site_id, scoring.store, scoring.held, spill_limit)
        self._number = number
        self._scores = scoring.scores
        self._scoring = scoring

    @property
    def first(self) -> tuple[float, int] | None:
        """The priority and id of the best page; None if it must be read from the store."""
        heap = self._heap
        while heap:
            priority, page = heap[0]
            if not self._waits(page) or (now := self._priority(page)) < priority:
                heapq.heappop(heap)  # it no longer waits, or it has another item
            elif now > priority:
                heapq.heapreplace(heap, (now, page))
            else:
                return heap[0] if heap[0] <= self._spill_limit else None  # it fell: the store may have a better one
        return None

    def _priority(self, page: int) -> float:
        return -self._scores.score(page)

    def _waits(self, page: int) -> bool:
        return page not in self._held and self._scores.queue(page) == self._number

    def write_fallen(self) -> None:
        """Write the rows of the pages in memory that have fallen over the spill limit, before a `refill`."""
        if fallen := self._fallen():
            self._scoring.rewrite(fallen)

    def _fallen(self) -> set[int]:
        return {page for _, page in self._heap if self._waits(page)}

    def refill(self, limit: int) -> None:
        """Read the next *limit* URLs from the store; everything pushed must have been committed to it."""
        fallen = self._fallen()
        self._spill_limit = NONE  # scores may have fallen behind the limit
        super().refill(limit)
        if self._heap and fallen.issuperset(self._entries):
            # All were written just now. A store that rounds must not make them appear to have fallen again, endlessly.
            self._spill_limit = max(self._spill_limit, max(self._heap))

    def _read(self, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        return self._scoring.rows.best(self._site_id, self._number, after, limit)

    def pop(self) -> QueueEntry:
        """Remove and return the `first`, which must not be None."""
        page = heapq.heappop(self._heap)[1]
        if page not in self._entries:
            next_ones = [p for _, p in self._heap[:LOADED] if p not in self._entries and self._waits(p)]
            self._entries.update((found.id, found) for found in self._store.entries([page], next_ones))
        return self._entries.pop(page)


NOTHING_READY = (float("inf"), 0)


class ScoredSite(SiteQueue):
    """A site whose next page is the one with the greatest of the *scores*, unless shares divide its downloads.

    Further arguments are those of any `SiteQueue`.
    """

    def __init__(self, scores: PageScores, *of_site: Any) -> None:
        super().__init__(*of_site)
        self._scores = scores
        # Minus the best page's score, and its queue, as of when it was asked for; None: not since the last `refresh`.
        self._best: tuple[float, int] | None = None

    def _number_of(self, page_id: int) -> int:
        return self._scores.queue(page_id)

    def raise_page(self, number: int, page_id: int, head_urls: int) -> bool:
        """Queue the number of a page whose score grew; return whether it is now the best of the site."""
        if not self._grown(number).raise_page(page_id, self.queue_limit(head_urls)):
            return False
        if self._best is None:  # whoever asks for it will see this page
            return True
        found = (self._offset(number) - self._scores.score(page_id), number)
        if found >= self._best:
            return False
        self._best = found
        return True

    def refresh(self) -> None:
        """Look for the best page again: scores may have fallen in the meantime, and values changed."""
        self._best = None

    def _best_page(self) -> tuple[float, int]:
        """Return minus the score of the best page, and its queue."""
        if self._best is None:
            firsts = [(queue.first, number) for number, queue in self.queues.items()]
            found = [(first[0] + self._offset(number), number) for first, number in firsts if first is not None]
            self._best = min(found, default=NOTHING_READY)
        return self._best

    def _offset(self, number: int) -> float:
        """Return the offset that makes scores of a queue comparable with queue 0; it only grows, see `PageScores`."""
        return self._scores.offset(0) - self._scores.offset(number) if number else 0.0

    def pop(self) -> QueueEntry:
        """Remove and return the next URL; the site must be ready."""
        if self.shares is None:
            number = self._best_page()[1]
        else:
            number = self.shares.choose(number for number, queue in self.queues.items() if queue.first is not None)
        return self.queues[number].pop()._replace(queue=number)

    @property
    def value(self) -> float:
        """The score of the best page, comparable between sites; the site must be ready."""
        return -self._best_page()[0]

    @property
    def base(self) -> float:
        """The offset of queue 0, which `value` leaves out."""
        return self._scores.offset(0)


class Scoring:
    """The scores of all pages of *sites*. *held* contains the pages that are leased or rest.

    If the crawl *is_divided*, the pages of a site are recalled when it is opened, see `open_site`; otherwise all are
    recalled now. Those of orders that share nothing always come with their sites.
    """

    def __init__(
        self,
        scores: PageScores,
        store: SqlFrontierStore,
        sites: Mapping[int, ScoredSite],
        held: Collection[int],
        worker_id: int = 0,
        *,
        is_divided: bool = False,
    ) -> None:
        self.scores = scores
        self._worker_id = worker_id
        self.is_divided = is_divided or not scores.is_shared
        self._rows_to_write: list[Row] = []  # of other tables, with the next change set
        self.store = store
        self.rows = ScoredRows(store, scores.table, scores.columns)
        self._sites = sites
        self.held = held
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
                self._rows_to_write += [EndedTotals(self.store.crawl_id, number) for number in ended]
            return
        parts, bases = self._parts(), self.rows.bases()
        if not parts:
            return
        (first, *others), was_divided = parts.values(), False
        if others or any(base != first.base for base in bases.values()):
            self.scores.begin_part({number: stored.part for number, stored in parts.items()})
            was_divided = True
        else:
            scores.recall_totals(first.part.totals)
        for page in self.rows.scored():
            if was_divided:
                base = bases.get(page.site_id, self.scores.base())
                self.scores.add_page(page.id, page.queue, page.record, base)
                self._changed[page.id] = None
            else:
                scores.recall(page.id, page.queue, page.record)
            self._site_of[page.id] = page.site_id
            if page.queue != GONE:
                self._recalled[page.site_id][page.queue] += 1
        crawl_id = self.store.crawl_id
        self._rows_to_write += [EndedTotals(crawl_id, number) for number in parts if number != self._worker_id]
        self._rows_to_write += [SiteBase(site_id, None) for site_id in bases]
        if scores.rebase():
            self._changed.update((page.id, None) for page in self.rows.scored())
        # The level limit changed, or an unavailable site is tried again.
        self._apply_states(self.rows.unscored())

    def _parts(self) -> dict[int, StoredPart]:
        """Return the totals of the order by worker; none if nothing was written yet."""
        with self.store.database.read() as connection:
            return parts_of(connection, self.store.crawl_id)

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
        is_gone = self._site_of[page_id] > 0 and page_id not in self.held and self.scores.queue(page_id) == GONE
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
        return OrderTotalsRow(self.store.crawl_id, self._worker_id, totals, base)

    def queue(self, site_id: int, number: int, spill_limit: tuple[float, int]) -> ScoredQueue:
        """Return the queue with a *number* of a site."""
        return ScoredQueue(site_id, number, self, spill_limit)

    def write(self, changes: ChangeSet, head_urls: int) -> list[SiteQueue]:
        """Add changed rows to *changes*, and requeue pages whose score rose; return the sites with a better page."""
        scores, sites, held, site_of = self.scores, self._sites, self.held, self._site_of
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
        self.store.submit(ChangeSet(*self._rows(pages)))

    def _rows(self, pages: Iterable[int]) -> Iterable[Row]:
        scores, site_of, row = self.scores, self._site_of, SCORE_ROWS[self.scores.table]
        for page in pages:
            yield row(page, site_of[page], scores.queue(page), scores.score(page), *scores.record(page))
