"""Conditions on texts that mean the same in SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import String, func, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


class by_code_points(GenericFunction[str]):
    """A text that is compared and folded by code points; PostgreSQL would do it by the language of the database."""

    type = String()
    inherit_cache = True


@compiles(by_code_points)
def _plain(element: by_code_points, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(by_code_points, "postgresql")
def _collated(element: by_code_points, compiler: Any, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)} COLLATE "C")'


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return whether *text* is part of the column, whatever the case of ASCII letters (SQLite knows no others)."""
    folded = text.encode("utf-8", "replace").lower().decode()  # ASCII letters only
    return func.lower(by_code_points(column)).contains(folded, autoescape=True)


def is_host(column: ColumnElement[Any], host: str) -> ColumnElement[bool]:
    """Return whether the column, scheme://host[:port], is on *host* or a host below it, at any port.

    With a scheme, *host* is the only site that meets the condition.
    """
    if "://" in host:
        return column == host
    address = column + ":"
    return or_(contains(address, f"://{host}:"), contains(address, f".{host}:"))
