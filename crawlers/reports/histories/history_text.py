"""Histories as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reports.histories.history import Count, Moment, Said, Url, Urls
from crawlers.reports.history_wording import when

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.reports.histories.history import Fact, History, Line, Part


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
