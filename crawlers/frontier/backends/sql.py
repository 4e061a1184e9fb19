"""The frontier in the database of the results: a page and its acknowledgement are one transaction, and many
pages share one commit."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.frontier.discovery import ARBITRARY_VARIANT
from crawlers.frontier.frontier import QueuedFrontier
from crawlers.frontier.frontier_store import KnownRows, PreviousVisit, QueueEntry, Retry, ScoredPage, Unscored
from crawlers.frontier.url_cache import PACKED_SQL, REVIVABLE, TAKEN
from crawlers.items import State
from crawlers.storage.order_parts import parts_of
from crawlers.storage.page_selection import REVIVABLE_REASONS
from crawlers.storage.pulls import pulls_of_site
from crawlers.storage.reserved_ids import ReservedIds
from crawlers.storage.schema.score_tables import OrderTotalsRow
from crawlers.storage.schema.tables import EndedPage, NewPage, PageUpdate, UnchangedPage, WaitingPage, page

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.order_parts import StoredPart
    from crawlers.storage.writer import Writer

MAX_CHANGED = 100_000  # pages remembered as not committed; beyond that, a flush is cheaper than the memory
ID_BLOCK = 10_000  # a reservation is a separate commit

_WAITS = f"state = {int(State.WAITING)}"
_HAS_REVIVABLE_REASON = " OR ".join(f"reason LIKE '{reason}%'" for reason in REVIVABLE_REASONS)
_IS_REVIVABLE = f"state = {int(State.REJECTED)} AND ({_HAS_REVIVABLE_REASON})"
_FLAGS = f"CASE WHEN {_WAITS} THEN 0 WHEN {_IS_REVIVABLE} THEN {REVIVABLE} ELSE {TAKEN} END"
_KNOWN = f"""
    SELECT key, {PACKED_SQL.format(flags=_FLAGS)} AS packed, state,
        CASE WHEN variant >= {ARBITRARY_VARIANT} AND ({_WAITS} OR {_IS_REVIVABLE}) THEN url END AS url,
        CASE WHEN level = 0 AND state = {int(State.DONE)} THEN 1 ELSE 0 END AS is_root,
        CASE WHEN {_WAITS} AND retry_at IS NOT NULL THEN 1 ELSE 0 END AS is_retry
    FROM page WHERE site_id = :site"""  # noqa: S608 - constants of ours
# As JSON: with a row per URL, a thread that reads would need the interpreter for each, and waits for it every time.
_IN_LISTS = {
    "sqlite": """
    SELECT max(is_root), max(is_retry),
        json_group_array(key), json_group_array(packed), json_group_array(state), json_group_array(url)
    FROM ({known}) AS k""",
    "postgresql": """
    SELECT max(is_root), max(is_retry),
        CAST(json_agg(key) AS text), CAST(json_agg(packed) AS text), CAST(json_agg(state) AS text),
        CAST(json_agg(url) AS text)
    FROM ({known}) AS k""",
}
_AMONG = {
    "sqlite": " IN (SELECT value FROM json_each(:keys))",
    "postgresql": " IN (SELECT value::bigint FROM json_array_elements_text(CAST(:keys AS json)))",
}
_WAITING = f"""
    SELECT priority, id, key, url, level, hops, attempts, request, link_group FROM page
    WHERE site_id = :site AND link_group = :group AND state = {int(State.WAITING)} AND (priority, id) > (:priority, :id)
    ORDER BY priority, id LIMIT :limit"""  # noqa: S608
_RETRIES = f"""
    SELECT retry_at, retry_at - state_at, priority, id, key, url, level, hops, attempts, request, link_group FROM page
    WHERE site_id = :site AND state = {int(State.WAITING)} AND retry_at IS NOT NULL ORDER BY id"""  # noqa: S608
_GROUPS = "SELECT name FROM link_group WHERE site_id = :site ORDER BY number"
_WAITING_GROUPS = f"""
    SELECT DISTINCT link_group FROM page WHERE site_id = :site AND state = {int(State.WAITING)} ORDER BY 1"""  # noqa: S608
_ENTRY = "p.id, p.key, p.url, p.level, p.hops, CASE WHEN {queue} > 0 THEN 0 ELSE p.attempts END, p.request, {queue}"
_BEST = f"""
    SELECT -s.score, {_ENTRY.format(queue="s.queue")} FROM {{table}} AS s JOIN page AS p ON p.id = s.page_id
    WHERE s.site_id = :site AND s.queue = :queue ORDER BY s.score DESC, s.page_id LIMIT :limit"""  # noqa: S608
_ENTRIES = f"""
    SELECT 0.0, {_ENTRY.format(queue=f"CASE WHEN p.state = {int(State.WAITING)} THEN 0 ELSE 1 END")} FROM page AS p
    WHERE p.id"""  # noqa: S608
_SCORED = """
    SELECT s.page_id, s.site_id, s.queue, {columns} FROM {table} AS s JOIN site ON site.id = s.site_id
    WHERE site.crawl_id = :crawl"""
_UNSCORED = f"""
    SELECT p.id, p.site_id, p.level, p.state = {int(State.WAITING)}
    FROM page AS p JOIN site ON site.id = p.site_id LEFT JOIN {{table}} AS s ON s.page_id = p.id
    WHERE site.crawl_id = :crawl {{of_site}} AND (
        p.state = {int(State.WAITING)} AND (s.queue IS NULL OR s.queue < 0)
        OR p.state = {int(State.REJECTED)} AND s.queue >= 0 AND s.queue != {REVISIT})
    ORDER BY p.id"""  # noqa: S608
_DUE = f"""
    SELECT poll.due_at, poll.due_at - poll.polled_at, 0.0, p.id, p.key, p.url, p.level, p.hops, 0, p.request, {REVISIT}
    FROM poll JOIN page AS p ON p.id = poll.page_id JOIN news_score AS s ON s.page_id = p.id AND s.queue = {REVISIT}
    WHERE poll.site_id = :site ORDER BY poll.due_at, p.id"""  # noqa: S608
_PREVIOUS = """
    SELECT l.target_id, l.count, p.state, p.status, p.content_hash, p.fetched_at, p.etag, p.last_modified
    FROM page AS p LEFT JOIN link AS l ON l.source_id = p.id WHERE p.id = :page"""
_NUMBERS = """
    SELECT p.key, p.id FROM page AS p JOIN site ON site.id = p.site_id
    WHERE site.crawl_id = :crawl AND site.site = :name AND p.key"""
_WAITING_ELSEWHERE = """
    SELECT p.id, site.site, p.key, p.url FROM page AS p JOIN {table} AS s ON s.page_id = p.id
    JOIN site ON site.id = p.site_id WHERE s.queue >= 0 AND p.id"""
_OF_SITE = " AND site.id = :site"
_BASES = "SELECT id, base FROM site WHERE crawl_id = :crawl AND base IS NOT NULL"

# SQLAlchemy parses a statement once per object: creating it for each query would cost more than the query.
_text = cache(text)


class SqlFrontierStore:
    """Writes through the single writer, reads committed rows."""

    def __init__(self, database: Database, writer: Writer, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self._database = database
        self._writer = writer
        dialect = database.engine.dialect.name
        self._among = _AMONG[dialect]
        self._known_among = _IN_LISTS[dialect].format(known=f"{_KNOWN} AND key{self._among}")
        self._known_from = _IN_LISTS[dialect].format(known=f"{_KNOWN} AND key >= :key ORDER BY key LIMIT :limit")
        self._changed: dict[int, int] = {}  # pages with rows that may not be committed; numbers of their change sets
        self._ids = ReservedIds(writer, page.c.id, ID_BLOCK)
        self._ids.reserve()

    def new_id(self) -> int:
        return self._ids.take()

    def known(self, site_id: int, keys: Iterable[int]) -> KnownRows:
        return self._lists(self._known_among, site=site_id, keys=json.dumps(list(keys)))

    def known_from(self, site_id: int, key: int, limit: int) -> KnownRows:
        return self._lists(self._known_from, site=site_id, key=key, limit=limit)

    def _lists(self, statement: str, **values: Any) -> KnownRows:
        ((have_root, have_retries, *lists),) = self._read(statement, **values)
        keys, packed, states, urls = (json.loads(one or "[]") for one in lists)
        return KnownRows(keys, packed, states, urls, bool(have_root), bool(have_retries))

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[QueueEntry]:
        priority, page_id = after
        if priority == float("-inf"):
            priority = -1e300  # JSON-like drivers don't agree on infinities
        rows = self._read(_WAITING, site=site_id, group=group, priority=priority, id=page_id, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def groups(self, site_id: int) -> list[str]:
        return [name for (name,) in self._read(_GROUPS, site=site_id)]

    def waiting_groups(self, site_id: int) -> list[int]:
        return [group for (group,) in self._read(_WAITING_GROUPS, site=site_id)]

    def retries(self, site_id: int) -> list[Retry]:
        rows = self._read(_RETRIES, site=site_id)
        return [Retry(QueueEntry(*entry), due_at, wait_s) for due_at, wait_s, *entry in rows]

    def pulls(self, site_id: int) -> Iterable[tuple[int, float]]:
        return pulls_of_site(self._database, site_id)

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        rows = self._read(_BEST.format(table=table), site=site_id, queue=queue, limit=limit)
        return [QueueEntry(*row) for row in rows]

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        self._wait_for(page_ids)
        return [QueueEntry(*row) for row in self._read(_ENTRIES + self._among, keys=json.dumps(list(page_ids)))]

    def previous(self, page_id: int) -> PreviousVisit:
        self._wait_for([page_id])
        rows = self._read(_PREVIOUS, page=page_id)
        first, _, *last_visit = rows[0]
        links: dict[int, int] = {} if first is None else {row[0]: row[1] for row in rows}
        return PreviousVisit(links, *last_visit)

    def numbers(self, targets: Iterable[tuple[str, int]]) -> dict[int, int]:
        by_site: dict[str, list[int]] = {}
        for name, key in targets:
            by_site.setdefault(name, []).append(key)
        found: dict[int, int] = {}
        for name, keys in by_site.items():
            rows = self._read(_NUMBERS + self._among, crawl=self.crawl_id, name=name, keys=json.dumps(keys))
            found.update((key, number) for key, number in rows)
        return found

    def waiting_elsewhere(self, table: str, page_ids: Collection[int]) -> list[tuple[int, str, int, str]]:
        statement = _WAITING_ELSEWHERE.format(table=table) + self._among
        return [tuple(row) for row in self._read(statement, keys=json.dumps(list(page_ids)))]

    def scored(self, table: str, columns: Sequence[str], site_id: int | None = None) -> Iterator[ScoredPage]:
        statement = _SCORED.format(table=table, columns=", ".join(f"s.{name}" for name in columns))
        of_site = {} if site_id is None else {"site": site_id}
        statement += _OF_SITE if of_site else ""
        for page_id, of, queue, *record in self._streamed(statement, crawl=self.crawl_id, **of_site):
            yield ScoredPage(page_id, of, queue, tuple(record))

    def unscored(self, table: str, site_id: int | None = None) -> list[Unscored]:
        of_site = {} if site_id is None else {"site": site_id}
        statement = _UNSCORED.format(table=table, of_site=_OF_SITE if of_site else "")
        return [Unscored(*row) for row in self._read(statement, crawl=self.crawl_id, **of_site)]

    def due(self, site_id: int) -> list[Retry]:
        rows = self._read(_DUE, site=site_id)
        return [Retry(QueueEntry(*entry), due_at, wait_s) for due_at, wait_s, *entry in rows]

    def parts(self) -> dict[int, StoredPart]:
        with self._database.read() as connection:
            return parts_of(connection, self.crawl_id)

    def bases(self, site_id: int | None = None) -> dict[int, list[float]]:
        statement = _BASES + (" AND id = :site" if site_id is not None else "")
        of_site = {} if site_id is None else {"site": site_id}
        return {number: json.loads(base) for number, base in self._read(statement, crawl=self.crawl_id, **of_site)}

    def _read(self, statement: str, **values: Any) -> Sequence[Any]:
        with self._database.read() as connection:
            return connection.execute(_text(statement), values).fetchall()

    def _streamed(self, statement: str, **values: Any) -> Iterator[Any]:
        with self._database.read() as connection:
            yield from connection.execution_options(yield_per=10_000).execute(_text(statement), values)

    def submit(self, changes: ChangeSet) -> None:
        self._writer.submit(changes)
        if changes[OrderTotalsRow]:  # only orders with scores look back
            updates: tuple[PageUpdate, ...] = (*changes[WaitingPage], *changes[EndedPage], *changes[UnchangedPage])
            number = self._writer.submitted
            self._changed.update((row.id, number) for row in (*changes[NewPage], *updates))
            if len(self._changed) > MAX_CHANGED:
                self._forget_committed()

    def _wait_for(self, page_ids: Iterable[int]) -> None:
        """Wait until the rows of these pages are committed, but not for later ones."""
        self._writer.wait_for(max((self._changed.get(page_id, 0) for page_id in page_ids), default=0))

    def _forget_committed(self) -> None:
        committed = self._writer.committed
        self._changed = {page_id: number for page_id, number in self._changed.items() if number > committed}
        if 2 * len(self._changed) > MAX_CHANGED:
            self.flush()

    def flush(self) -> None:
        self._writer.flush()
        self._changed.clear()


class SqlFrontier(QueuedFrontier):
    """A frontier whose URLs are rows of the store. Takes the keyword arguments of `QueuedFrontier`."""

    def __init__(
        self, database: Database, writer: Writer, crawl_id: int, rule: SiteRule, order: PageOrder, **limits: Any
    ) -> None:
        super().__init__(SqlFrontierStore(database, writer, crawl_id), rule, order, **limits)
