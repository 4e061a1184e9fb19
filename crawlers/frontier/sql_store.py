"""The frontier in the database of the results.

A page and its acknowledgement are one transaction, and many share a commit.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.frontier.url_cache import ARBITRARY_VARIANT, PACKED_SQL, REVIVABLE, TAKEN
from crawlers.frontier.values import Mismatch, PreviousVisit, QueueEntry, Retry, ScoredPage, UrlRows
from crawlers.items import REVISIT, State
from crawlers.reasons import REVIVABLE_REASONS
from crawlers.store.reader_threads import is_in_event_loop
from crawlers.store.schema.rows import VISITS
from crawlers.store.schema.tables import EndedPage, NewPage, PageUpdate, UnchangedPage, WaitingPage, metadata, page
from crawlers.store.streaming import AMONG
from crawlers.store.writing.pulls import read_features
from crawlers.store.writing.reserved_ids import ReservedIds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlers.ranking.link_values import Features
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.writer import Writer

MIN_CHANGED = 100_000  # pages remembered as not committed before those that are committed are looked for
MAX_SCORE = 1e300  # drivers do not agree on infinities
ID_BLOCK = 10_000  # a reservation is a separate commit

_WAITS = f"state = {int(State.WAITING)}"
_HAS_REVIVABLE_REASON = " OR ".join(f"reason LIKE '{reason}%'" for reason in sorted(REVIVABLE_REASONS))
_IS_REVIVABLE = f"state = {int(State.REJECTED)} AND ({_HAS_REVIVABLE_REASON})"
_FLAGS = f"CASE WHEN {_WAITS} THEN 0 WHEN {_IS_REVIVABLE} THEN {REVIVABLE} ELSE {TAKEN} END"
_KNOWN = f"""
    SELECT site_id, key, {PACKED_SQL.format(flags=_FLAGS)} AS packed, state,
        CASE WHEN variant >= {ARBITRARY_VARIANT} AND ({_WAITS} OR {_IS_REVIVABLE}) THEN url END AS url,
        CASE WHEN level = 0 AND state = {int(State.DONE)} THEN 1 ELSE 0 END AS is_root
    FROM page WHERE """  # noqa: S608 - constants of ours
# As JSON: with a row per URL, a thread that reads would need the interpreter for each, and waits for it every time.
_LIST = {"sqlite": "json_group_array({0})", "postgresql": "CAST(json_agg({0}) AS text)"}
# The sign keeps SQLite from looking for each URL by its key.
_FROM = "site_id = :site AND {0} BETWEEN :first AND :last ORDER BY {0} LIMIT :limit"
_FROM_OF = {"key": _FROM.format("key"), "id": f"+{_FROM.format('id')}"}
_NUMBERS_KNOWN = "SELECT site_id, count(*) FROM page WHERE site_id{among} GROUP BY site_id"
_WAITING = f"""
    SELECT priority, id, key, url, level, hops, attempts, request FROM page
    WHERE site_id = :site AND state = {int(State.WAITING)} AND (priority, id) > (:priority, :id)
    ORDER BY priority, id LIMIT :limit"""  # noqa: S608
_RETRIES = f"""
    SELECT site_id, retry_at, retry_at - state_at, priority, id, key, url, level, hops, attempts, request
    FROM page WHERE site_id{{among}} AND state = {int(State.WAITING)} AND retry_at IS NOT NULL ORDER BY id"""  # noqa: S608
_ENTRY = "p.id, p.key, p.url, p.level, p.hops, CASE WHEN {queue} > 0 THEN 0 ELSE p.attempts END, p.request, {queue}"
_BEST = f"""
    SELECT -s.score, {_ENTRY.format(queue="s.queue")} FROM (
        SELECT * FROM (SELECT * FROM {{table}} WHERE site_id = :site AND queue = :queue AND score = :score
            AND page_id > :id ORDER BY page_id LIMIT :limit) AS tied
        UNION ALL
        SELECT * FROM (SELECT * FROM {{table}} WHERE site_id = :site AND queue = :queue AND score < :score
            ORDER BY score DESC, page_id LIMIT :limit) AS lower
    ) AS s JOIN page AS p ON p.id = s.page_id ORDER BY s.score DESC, s.page_id LIMIT :limit"""  # noqa: S608
# The index has all columns of the inner query, so that only the best pages are read.
_BEST_OF = f"""
    SELECT s.site_id, s.queue, -s.score, {_ENTRY.format(queue="s.queue")}
    FROM (SELECT site_id, queue, score, page_id,
            row_number() OVER (PARTITION BY site_id, queue ORDER BY score DESC, page_id) AS place
        FROM {{table}} WHERE site_id{{among}} AND queue >= 0) AS s
    JOIN page AS p ON p.id = s.page_id
    WHERE s.place <= :limit ORDER BY s.site_id, s.queue, s.place"""  # noqa: S608
_ENTRIES = f"""
    SELECT 0.0, {_ENTRY.format(queue=f"CASE WHEN p.state = {int(State.WAITING)} THEN 0 ELSE 1 END")} FROM page AS p
    WHERE p.id"""  # noqa: S608
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
_PREVIOUS = "SELECT state, status, content_hash, fetched_at, etag, last_modified FROM page WHERE id = :page"
_LINKS = "SELECT {0}, {1} FROM link WHERE source_id = :page"
_NUMBERS = """
    SELECT p.key, p.id FROM page AS p JOIN site ON site.id = p.site_id
    WHERE site.crawl_id = :crawl AND site.site = :name AND p.key"""
_LINK_FEATURES = "SELECT page_id, features FROM link_features WHERE page_id"
_BASES = "SELECT id, base FROM site WHERE crawl_id = :crawl AND base IS NOT NULL"

# SQLAlchemy parses a statement once per object: creating it for each query would cost more than the query.
_text = cache(text)


class SqlFrontierStore:
    """The storage of a frontier: writes through the single writer, reads committed rows.

    Reading methods see submitted changes after `flush`. Those that need sites, and no page numbers, may be called in
    any thread. Sites without rows are missing from dicts. With *looks_back*, `entries` and `previous` wait until the
    pages that they are asked for are committed. Orders with scores have a *table*.
    """

    def __init__(self, database: Database, writer: Writer, crawl_id: int, *, looks_back: bool) -> None:
        self.crawl_id = crawl_id
        self._looks_back = looks_back
        self.database = database
        self._writer = writer
        dialect = database.engine.dialect.name
        self._among = AMONG[dialect]
        self._links = _LINKS.format(*(_LIST[dialect].format(name) for name in ("target_id", "count")))
        lists = ", ".join(_LIST[dialect].format(name) for name in ("key", "packed", "state", "url"))
        known = f"SELECT max(is_root), {lists}, max(site_id) FROM ({_KNOWN}{{0}}) AS k"  # noqa: S608
        self._known_among = known.format(f"site_id = :site AND key{self._among}")
        self._known_from = {column: known.format(condition) for column, condition in _FROM_OF.items()}
        self._known_of = known.format(f"site_id{self._among} ORDER BY site_id, key") + " GROUP BY site_id"
        self._changed: dict[int, int] = {}  # pages with rows that may not be committed; numbers of their change sets
        self._most_changed = MIN_CHANGED
        self.page_ids = ReservedIds(writer, page, ID_BLOCK)
        self.page_ids.reserve(ID_BLOCK)

    def known_urls(self, site_id: int, keys: Iterable[int]) -> UrlRows:
        """Return the URLs of these keys that were found before."""
        return self._lists(self._known_among, site=site_id, ids=json.dumps(list(keys)))

    def known_from(self, site_id: int, column: str, first: int, last: int, limit: int) -> UrlRows:
        """Return the next *limit* URLs of the site whose "key", or whose number ("id"), is in a range, in order.

        By their numbers they are read in the order in which they lie in the store, with those of sites between them.
        """
        return self._lists(self._known_from[column], site=site_id, first=first, last=last, limit=limit)

    def range_of(self, site_id: int) -> tuple[int, int]:
        """Return the least and the greatest number of the URLs of a site; 0 if it has none."""
        ((first, last),) = self._read("SELECT min(id), max(id) FROM page WHERE site_id = :site", site=site_id)
        return first or 0, last or 0

    def _lists(self, statement: str, **values: Any) -> UrlRows:
        ((*lists, _),) = self._read(statement, **values)
        return _known_rows(*lists)

    def numbers_known(self, site_ids: Collection[int]) -> dict[int, int]:
        """Return how many URLs of each of these sites were found before."""
        return dict(tuple(row) for row in self._read_of(_NUMBERS_KNOWN, site_ids))

    def known_of(self, site_ids: Collection[int]) -> dict[int, UrlRows]:
        """Return all URLs of each of these sites, in ascending order of keys."""
        rows = self._read(self._known_of, ids=json.dumps(list(site_ids)))
        return {site_id: _known_rows(*lists) for *lists, site_id in rows}

    def waiting(self, site_id: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the waiting URLs of the site behind (priority, id) *after*, in order."""
        priority, page_id = after
        rows = self._read(_WAITING, site=site_id, priority=max(priority, -MAX_SCORE), id=page_id, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def retries(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that wait for another attempt."""
        return _by_site(self._read_of(_RETRIES, site_ids))

    def best(self, table: str, site_id: int, queue: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the best URLs of a site's queue behind (priority, id) *after*, by their written scores.

        The priority is minus the score.
        """
        score, page_id = min(-after[0], MAX_SCORE), after[1]
        rows = self._read(_BEST.format(table=table), site=site_id, queue=queue, score=score, id=page_id, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def best_of(self, table: str, site_ids: Collection[int], limit: int) -> dict[int, dict[int, list[QueueEntry]]]:
        """Return what `best` does, for all queues of each of these sites, by site and queue."""
        found: dict[int, dict[int, list[QueueEntry]]] = {}
        for site_id, queue, *entry in self._read_of(_BEST_OF, site_ids, table=table, limit=limit):
            found.setdefault(site_id, {}).setdefault(queue, []).append(QueueEntry(*entry))
        return found

    def entries(self, page_ids: Collection[int], others: Iterable[int] = ()) -> list[QueueEntry]:
        """Return the entries of these pages, with priority 0, and those of *others* that are committed.

        All must have been submitted.
        """
        self._wait_for(page_ids)
        committed = self._writer.committed
        page_ids = [*page_ids, *(page_id for page_id in others if self._changed.get(page_id, 0) <= committed)]
        return [QueueEntry(*row) for row in self._read(_ENTRIES + self._among, ids=json.dumps(list(page_ids)))]

    def link_features(self, page_ids: Collection[int]) -> dict[int, Features]:
        """Return the features of the links by which these pages were found, as far as they have any."""
        rows, origin = self._read(_LINK_FEATURES + self._among, ids=json.dumps(list(page_ids))), self.database.name
        return {page_id: read_features(features, origin) for page_id, features in rows}

    def previous(self, page_id: int) -> PreviousVisit:
        """Return the previous visit to a page; it must have been submitted."""
        self._wait_for([page_id])
        with self.database.read() as connection:
            (last_visit,) = connection.execute(_text(_PREVIOUS), {"page": page_id})
            ((targets, counts),) = connection.execute(_text(self._links), {"page": page_id})
        links = zip(json.loads(targets or "[]"), json.loads(counts or "[]"), strict=True)
        return PreviousVisit(dict(links), *last_visit)

    def numbers(self, targets: Iterable[tuple[str, int]]) -> dict[int, int]:
        """Return the numbers by key of those *targets* (name of the site, key) that the store has committed."""
        by_site: dict[str, list[int]] = {}
        for name, key in targets:
            by_site.setdefault(name, []).append(key)
        found: dict[int, int] = {}
        for name, keys in by_site.items():
            rows = self._read(_NUMBERS + self._among, crawl=self.crawl_id, name=name, ids=json.dumps(keys))
            found.update((key, number) for key, number in rows)
        return found

    def scored(
        self, table: str, columns: Sequence[str], site_ids: Collection[int] | None = None
    ) -> Iterator[ScoredPage]:
        """Return all pages of the crawl, or of these sites, that have a row."""
        among, of_sites = self._of(site_ids)
        statement = _SCORED.format(table=table, columns=", ".join(f"s.{name}" for name in columns)) + among
        for page_id, of, queue, *record in self._streamed(statement, crawl=self.crawl_id, **of_sites):
            yield ScoredPage(page_id, of, queue, tuple(record))

    def unscored(self, table: str, site_ids: Collection[int] | None = None) -> list[Mismatch]:
        """Return the pages of the crawl, or of these sites, whose state changed without the order.

        They wait although their row says otherwise or is missing, or they are rejected although their row waits.
        """
        among, of_sites = self._of(site_ids)
        statement = _UNSCORED.format(table=table, of_sites=among)
        return [Mismatch(*row) for row in self._read(statement, crawl=self.crawl_id, **of_sites)]

    def due(self, table: str, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that have a scheduled revisit."""
        visits = metadata.tables[table].info[VISITS]
        return _by_site(self._read_of(_DUE.format(table=table, visits=visits, among="{among}"), site_ids))

    def bases(self, site_ids: Collection[int] | None = None) -> dict[int, list[float]]:
        """Return the numbers to which the records of sites are relative that their workers gave up, by site."""
        among, of_sites = self._of(site_ids)
        rows = self._read(_BASES + among, crawl=self.crawl_id, **of_sites)
        return {number: json.loads(base) for number, base in rows}

    def _of(self, site_ids: Collection[int] | None) -> tuple[str, dict[str, str]]:
        """Return the condition on the table `site`, and its parameter; none if all sites are meant."""
        return ("", {}) if site_ids is None else (f" AND site.id{self._among}", {"ids": json.dumps(list(site_ids))})

    def _read_of(self, statement: str, site_ids: Collection[int], table: str = "", **values: Any) -> Sequence[Any]:
        return self._read(statement.format(among=self._among, table=table), ids=json.dumps(list(site_ids)), **values)

    def _read(self, statement: str, **values: Any) -> Sequence[Any]:
        return self.database.rows(_text(statement), **values)

    def _streamed(self, statement: str, **values: Any) -> Iterator[Any]:
        with self.database.read() as connection:
            yield from connection.execution_options(yield_per=10_000).execute(_text(statement), values)

    def submit(self, changes: ChangeSet) -> None:
        """Queue *changes* to be written atomically, after all earlier ones."""
        self._writer.submit(changes)
        if self._looks_back:
            updates: tuple[PageUpdate, ...] = (*changes[WaitingPage], *changes[EndedPage], *changes[UnchangedPage])
            number = self._writer.submitted
            self._changed.update((row.id, number) for row in (*changes[NewPage], *updates))
            if len(self._changed) > self._most_changed:
                committed = self._writer.committed
                self._changed = {page: number for page, number in self._changed.items() if number > committed}
                self._most_changed = max(MIN_CHANGED, 2 * len(self._changed))

    @property
    def submitted(self) -> int:
        """The number of the change set that was submitted last."""
        return self._writer.submitted

    def has_committed(self, number: int) -> bool:
        """Return whether the first *number* change sets are committed, which is hastened.

        Only outside of an event loop, this waits until they are.
        """
        if is_in_event_loop():
            return self._writer.is_committed(number)
        self._writer.wait_for(number)
        return True

    def _wait_for(self, page_ids: Iterable[int]) -> None:
        """Wait until the rows of these pages are committed, but not for later ones."""
        self._writer.wait_for(max((self._changed.get(page_id, 0) for page_id in page_ids), default=0))

    def flush(self) -> None:
        """Return when everything submitted is committed. Raises `StoreError` if that fails."""
        self._writer.flush()
        self._changed.clear()


def _known_rows(have_root: int, *lists: str | None) -> UrlRows:
    keys, packed, states, urls = (json.loads(one or "[]") for one in lists)
    return UrlRows(keys, packed, states, urls, bool(have_root))


def _by_site(rows: Iterable[Any]) -> dict[int, list[Retry]]:
    found: dict[int, list[Retry]] = {}
    for site_id, due_at, wait_s, *entry in rows:
        found.setdefault(site_id, []).append(Retry(QueueEntry(*entry), due_at, wait_s))
    return found
