"""Histories as text for a terminal; and how times, pages and long texts are written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.reports.histories.history import Count, Moment, Said, Url, Urls
from crawlers.storage.schema.tables import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.reports.histories.history import Fact, History, Line, Part

SHOWN = 5  # of a list; more are counted


def history_lines(history: History) -> list[str]:
    """Return the URL, the facts, and the events with their times."""
    lines = [history.url, *fact_lines(history.facts)]
    for event in history.events:
        first, *further = _lines(event.line, 1)
        lines += [f"  {when(event.at)} {first.strip()}", *further]
    return lines


def fact_lines(facts: Sequence[Fact]) -> list[str]:
    """Return *facts*, those that belong to another one indented below it."""
    return [text for fact in facts for text in _lines(fact.line, 1)]


def sentence(said: Said) -> str:
    """Return *said* in English.

    >>> from crawlers.reports.histories.history import counted_pages, said
    >>> sentence(said("moved to %(url)s, %(pages)s", url=Url("http://a.example/"), pages=counted_pages(1)))
    'moved to http://a.example/, 1 page'
    """
    return said.template % {name: _text(part) for name, part in said.parts.items()}


def _lines(line: Line, depth: int) -> Iterator[str]:
    yield "  " * depth + sentence(line.said)
    for further in line.further:
        yield from _lines(further, depth + 1)


def _text(part: Part) -> str:
    if isinstance(part, Url):
        return part.url
    if isinstance(part, Urls):
        more = part.total - len(part.urls)
        return ", ".join(part.urls) + (f" and {more:,} more" if more else "")
    if isinstance(part, Moment):
        return when(part.seconds)
    if isinstance(part, Count):
        return (part.one if part.number == 1 else part.many) % {"number": f"{part.number:,}"}
    if isinstance(part, Said):
        return sentence(part)
    if isinstance(part, float):
        return f"{part:.6g}"
    return str(part)


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
