"""The frontier in the database that holds the results: a page and its acknowledgement are one
transaction, and many pages one commit."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.frontier.core import QueuedFrontier
from crawlers.frontier.interning import ARBITRARY_SPELLING
from crawlers.frontier.journal import Entry, Known
from crawlers.items import State
from crawlers.storage.crawls import TOO_DEEP, reserve_page_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlers.algorithms.page_orders import PageOrder
    from crawlers.algorithms.site_rules import SiteRule
    from crawlers.frontier.base import Counts
    from crawlers.storage.database import Database
    from crawlers.storage.unit import Unit
    from crawlers.storage.writer import Writer

ID_BLOCK = 10_000  # a reservation is a commit of its own; a killed process wastes at most so many numbers

_KNOWN = f"""
    SELECT key, id, level, hops, spelling, state = {int(State.WAITING)},
        state = {int(State.REJECTED)} AND reason LIKE '{TOO_DEEP}%',
        CASE WHEN state IN ({int(State.WAITING)}, {int(State.REJECTED)}) AND spelling = {ARBITRARY_SPELLING}
        THEN url END, link_group
    FROM page WHERE site_id = :site"""  # noqa: S608 - constants of ours
_KEYS = {
    "sqlite": " AND key IN (SELECT value FROM json_each(:keys))",
    "postgresql": " AND key IN (SELECT value::bigint FROM json_array_elements_text(CAST(:keys AS json)))",
}
_WAITING = f"""
    SELECT priority, id, key, url, level, hops, attempts, request, link_group FROM page
    WHERE site_id = :site AND link_group = :group AND state = {int(State.WAITING)} AND (priority, id) > (:priority, :id)
    ORDER BY priority, id LIMIT :limit"""  # noqa: S608
_GROUPS = "SELECT name FROM link_group WHERE site_id = :site ORDER BY number"
_WAITING_GROUPS = f"""
    SELECT DISTINCT link_group FROM page WHERE site_id = :site AND state = {int(State.WAITING)} ORDER BY 1"""  # noqa: S608
_COUNTS = "SELECT state, count(*) FROM page WHERE site_id = :site GROUP BY state"

# SQLAlchemy takes a statement apart once an object: making them anew would cost more than a query.
_text = cache(text)


class SqlJournal:
    """Writes through the one writer, reads what is committed."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer
        self._ids: Iterator[int] = iter(())

    def new_id(self) -> int:
        page_id = next(self._ids, None)
        if page_id is None:
            self._ids = iter(reserve_page_ids(self._database, ID_BLOCK))
            page_id = next(self._ids)
        return page_id

    def known(self, site_id: int, keys: Iterable[int] | None) -> list[Known]:
        if keys is None:
            rows = self._read(_KNOWN, site=site_id)
        else:
            dialect = self._database.engine.dialect.name
            rows = self._read(_KNOWN + _KEYS[dialect], site=site_id, keys=json.dumps(list(keys)))
        return [Known(*row) for row in rows]

    def waiting(self, site_id: int, group: int, after: tuple[float, int], limit: int) -> list[Entry]:
        priority, page_id = after
        if priority == float("-inf"):
            priority = -1e300  # JSON-like drivers don't agree on infinities
        rows = self._read(_WAITING, site=site_id, group=group, priority=priority, id=page_id, limit=limit)
        return [Entry(*row) for row in rows]

    def groups(self, site_id: int) -> list[str]:
        return [name for (name,) in self._read(_GROUPS, site=site_id)]

    def waiting_groups(self, site_id: int) -> list[int]:
        return [group for (group,) in self._read(_WAITING_GROUPS, site=site_id)]

    def counts(self, site_id: int) -> Counts:
        return {State(state): number for state, number in self._read(_COUNTS, site=site_id)}

    def _read(self, statement: str, **values: Any) -> Iterable[Any]:
        with self._database.read() as connection:
            return connection.execute(_text(statement), values).fetchall()

    def submit(self, unit: Unit) -> None:
        self._writer.submit(unit)

    def flush(self) -> None:
        self._writer.flush()


class SqlFrontier(QueuedFrontier):
    """A frontier whose URLs are rows of the store. Takes the keyword arguments of `QueuedFrontier`."""

    def __init__(self, database: Database, writer: Writer, rule: SiteRule, order: PageOrder, **limits: Any) -> None:
        super().__init__(SqlJournal(database, writer), rule, order, **limits)
