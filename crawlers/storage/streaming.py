"""What tables and reports read in the same way: sorted text, lists of numbers, and the URLs of page numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.storage.value_lists import AMONG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection, CursorResult

ROWS_AT_ONCE = 2000
# A statement may contain {c}, the collation by which text is sorted: that of code points. PostgreSQL would use the
# database's language.
_COLLATION = {"sqlite": "", "postgresql": 'COLLATE "C"'}


def streamed(connection: Connection, statement: str, **values: Any) -> Iterator[Any]:
    """Yield the rows of *statement*, in which {c} stands for a collation and {ids} for a list of numbers, *ids*."""
    dialect = connection.dialect.name
    if "ids" in values:
        values["ids"] = json.dumps(list(values["ids"]))
    sql = text(statement.format(c=_COLLATION[dialect], ids=AMONG[dialect]))
    yield from connection.execution_options(yield_per=ROWS_AT_ONCE).execute(sql, values)


def execute(connection: Connection, statement: str, *, rows_at_once: int = 0, **values: Any) -> CursorResult[Any]:
    """Return the result of *statement*, in which {c} stands for a collation; streamed if *rows_at_once* is given."""
    sql = text(statement.format(c=_COLLATION[connection.dialect.name]))
    return connection.execute(sql, values, execution_options={"yield_per": rows_at_once} if rows_at_once else {})


def urls_of(connection: Connection, page_ids: Iterable[int]) -> dict[int, str]:
    """Return the URLs of pages by number."""
    rows = streamed(connection, "SELECT id, url FROM page WHERE id {ids}", ids=set(page_ids))
    return {page_id: url for page_id, url in rows}
