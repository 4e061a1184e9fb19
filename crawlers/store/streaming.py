"""What queries have in common: lists of values as one parameter, sorted text, and the URLs of page numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import cast, literal, select, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement, Connection, CursorResult
    from sqlalchemy.sql.compiler import SQLCompiler


AMONG = {  # of text that is written by hand: the parameter *ids* is a list of numbers, as JSON
    "sqlite": " IN (SELECT value FROM json_each(:ids))",
    "postgresql": " IN (SELECT value::bigint FROM json_array_elements_text(CAST(:ids AS json)))",
}


def among(column: ColumnElement[Any], values: Iterable[Any]) -> ColumnElement[bool]:
    """Return whether *column* has one of the *values*, numbers or texts, of which there may be any number."""
    listed = _Listed(literal(json.dumps(list(values), ensure_ascii=False))).table_valued("value")
    return column.in_(select(cast(listed.c.value, column.type)))


class _Listed(FunctionElement[Any]):
    inherit_cache = True


@compiles(_Listed, "sqlite")
def _in_sqlite(element: _Listed, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Listed, "postgresql")
def _in_postgresql(element: _Listed, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS json))"


ROWS_AT_ONCE = 2000
# A statement may contain {c}, the collation by which text is sorted: that of code points. PostgreSQL would use the
# database's language. Its planner knows the length of an array, and does not read all links for those of a few pages.
_COLLATION = {"sqlite": "", "postgresql": 'COLLATE "C"'}
_LISTED = {"sqlite": AMONG["sqlite"], "postgresql": " = ANY(CAST(:ids AS bigint[]))"}


def streamed(connection: Connection, statement: str, **values: Any) -> Iterable[Any]:
    """Return the rows of *statement*, some at a time; {c} in it is a collation, and {ids} a list of numbers, *ids*."""
    return execute(connection.execution_options(yield_per=ROWS_AT_ONCE), statement, **values)


def execute(connection: Connection, statement: str, **values: Any) -> CursorResult[*tuple[Any, ...]]:
    """Return the result of *statement*, in which {c} and {ids} stand for the same."""
    dialect = connection.dialect.name
    if "ids" in values:
        ids = list(values["ids"])
        values["ids"] = json.dumps(ids) if dialect == "sqlite" else ids
    return connection.execute(text(statement.format(c=_COLLATION[dialect], ids=_LISTED[dialect])), values)


def urls_of(connection: Connection, page_ids: Iterable[int]) -> dict[int, str]:
    """Return the URLs of pages by number."""
    rows = streamed(connection, "SELECT id, url FROM page WHERE id {ids}", ids=set(page_ids))
    return {page_id: url for page_id, url in rows}
