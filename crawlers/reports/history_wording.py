"""Formats times, pages and long texts for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHOWN = 5  # of a list; more are counted


def when(seconds: float) -> str:
    """Return a time, given in seconds since 1970, as text.

    >>> when(1e9)
    '2001-09-09 01:46:40+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def cut(text: str, most: int) -> str:
    """Return *text*, cut to *most* characters.

    >>> cut("http://example.org/", 10)
    'http://ex…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def url_of(connection: Connection, page_id: int) -> str:
    """Return the URL of a page, or its number if its row was deleted."""
    return str(connection.execute(select(page.c.url).where(page.c.id == page_id)).scalar() or f"page {page_id}")
