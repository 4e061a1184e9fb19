"""Lists of values in queries: one parameter, whatever their length."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import cast, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement
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
