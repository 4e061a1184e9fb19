"""The frontier in the database of the results.

A page and its acknowledgement are one transaction, and many share a commit.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.frontier.url_cache import ARBITRARY_VARIANT, PACKED_SQL, REVIVABLE, TAKEN
from crawlers.frontier.values import PreviousVisit, QueueEntry, Retry, UrlRows
from crawlers.items import State
from crawlers.reasons import REVIVABLE_REASONS
from crawlers.store.reader_threads import is_in_event_loop
from crawlers.store.schema.tables import EndedPage, NewPage, PageUpdate, UnchangedPage, WaitingPage, page
from crawlers.store.streaming import AMONG
from crawlers.store.writing.reserved_ids import ReservedIds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
ENTRY = "p.id, p.key, p.url, p.level, p.hops, CASE WHEN {queue} > 0 THEN 0 ELSE p.attempts END, p.request, {queue}"
_ENTRIES = f"""
    SELECT 0.0, {ENTRY.format(queue=f"CASE WHEN p.state = {int(State.WAITING)} THEN 0 ELSE 1 END")} FROM page AS p
    WHERE p.id"""  # noqa: S608
_PREVIOUS = "SELECT state, status, content_hash, fetched_at, etag, last_modified FROM page WHERE id = :page"
_LINKS = "SELECT {0}, {1} FROM link WHERE source_id = :page"
_NUMBERS = """
    SELECT p.key, p.id FROM page AS p JOIN site ON site.id = p.site_id
    WHERE site.crawl_id = :crawl AND site.site = :name AND p.key"""

# SQLAlchemy parses a statement once per object: creating it for each query would cost more than the query.
_text = cache(text)


class SqlFrontierStore:
    """The storage of a frontier: writes through the single writer, reads committed rows.

    Reading methods see submitted changes after `flush`. Those that need sites, and no page numbers, may be called in
    any thread. Sites without rows are missing from dicts. With *looks_back*, `entries` and `previous` wait until the
    pages that they are asked for are committed.
    """

    def __init__(self, database: Database, writer: Writer, crawl_id: int, *, looks_back: bool) -> None:
        self.crawl_id = crawl_id
        self._looks_back = looks_back
        self.database = database
        self._writer = writer
        dialect = database.engine.dialect.name
        self.among = AMONG[dialect]
        self._links = _LINKS.format(*(_LIST[dialect].format(name) for name in ("target_id", "count")))
        lists = ", ".join(_LIST[dialect].format(name) for name in ("key", "packed", "state", "url"))
        known = f"SELECT max(is_root), {lists}, max(site_id) FROM ({_KNOWN}{{0}}) AS k"  # noqa: S608
        self._known_among = known.format(f"site_id = :site AND key{self.among}")
        self._known_from = {column: known.format(condition) for column, condition in _FROM_OF.items()}
        self._known_of = known.format(f"site_id{self.among} ORDER BY site_id, key") + " GROUP BY site_id"
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
        ((first, last),) = self.read("SELECT min(id), max(id) FROM page WHERE site_id = :site", site=site_id)
        return first or 0, last or 0

    def _lists(self, statement: str, **values: Any) -> UrlRows:
        ((*lists, _),) = self.read(statement, **values)
        return _known_rows(*lists)

    def numbers_known(self, site_ids: Collection[int]) -> dict[int, int]:
        """Return how many URLs of each of these sites were found before."""
        return dict(tuple(row) for row in self.read_of(_NUMBERS_KNOWN, site_ids))

    def known_of(self, site_ids: Collection[int]) -> dict[int, UrlRows]:
        """Return all URLs of each of these sites, in ascending order of keys."""
        rows = self.read(self._known_of, ids=json.dumps(list(site_ids)))
        return {site_id: _known_rows(*lists) for *lists, site_id in rows}

    def waiting(self, site_id: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        """Return the waiting URLs of the site behind (priority, id) *after*, in order."""
        priority, page_id = after
        rows = self.read(_WAITING, site=site_id, priority=max(priority, -MAX_SCORE), id=page_id, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def retries(self, site_ids: Collection[int]) -> dict[int, list[Retry]]:
        """Return the pages of each of these sites that wait for another attempt."""
        return by_site(self.read_of(_RETRIES, site_ids))

    def entries(self, page_ids: Collection[int], others: Iterable[int] = ()) -> list[QueueEntry]:
        """Return the entries of these pages, with priority 0, and those of *others* that are committed.

        All must have been submitted.
        """
        self._wait_for(page_ids)
        committed = self._writer.committed
        page_ids = [*page_ids, *(page_id for page_id in others if self._changed.get(page_id, 0) <= committed)]
        return [QueueEntry(*row) for row in self.read(_ENTRIES + self.among, ids=json.dumps(list(page_ids)))]

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
            rows = self.read(_NUMBERS + self.among, crawl=self.crawl_id, name=name, ids=json.dumps(keys))
            found.update((key, number) for key, number in rows)
        return found

    def read_of(self, statement: str, site_ids: Collection[int], **values: Any) -> Sequence[Any]:
        """Return the rows of *statement*, in which {among} stands for the numbers of sites."""
        return self.read(statement.format(among=self.among), ids=json.dumps(list(site_ids)), **values)

    def read(self, statement: str, **values: Any) -> Sequence[Any]:
        """Return the rows of *statement*."""
        return self.database.rows(_text(statement), **values)

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


def by_site(rows: Iterable[Any]) -> dict[int, list[Retry]]:
    """Return the pages of *rows* by site; a row has the site, the time, the wait, and the columns of a `QueueEntry`."""
    found: dict[int, list[Retry]] = {}
    for site_id, due_at, wait_s, *entry in rows:
        found.setdefault(site_id, []).append(Retry(QueueEntry(*entry), due_at, wait_s))
    return found
