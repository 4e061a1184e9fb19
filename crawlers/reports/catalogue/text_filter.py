"""Conditions on texts that mean the same in SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import or_

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return whether *text* is part of the column, whatever the case of ASCII letters (SQLite knows no others)."""
    return column.icontains(text, autoescape=True)


def is_host(column: ColumnElement[Any], host: str) -> ColumnElement[bool]:
    """Return whether the column, scheme://host[:port], is on *host* or a host below it, at any port."""
    address = column + ":"
    return or_(contains(address, f"://{host}:"), contains(address, f".{host}:"))
