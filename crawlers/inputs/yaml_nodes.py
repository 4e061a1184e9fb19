"""What a YAML file says: texts, lists and mappings, each with its line.

All scalars are texts, without blanks around them: else the keyword `no` would be a truth value, and 2024-13-01 an
error. There are no aliases, so a short file is a short list of values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml's is twenty times as fast
DEEPEST = 100  # what is nested more deeply is not read to its end: libyaml takes the square of the depth

_UNREADABLE = (yaml.YAMLError, ValueError, OverflowError)  # the latter: PyYAML asks chr() for what an escape names
_RESOLVER: Any = yaml.resolver.Resolver()
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_REMEDY = "check colons and indentation, and put texts with other signs, such as [ { \\ #, between single quotes"


class Wrong(Exception):
    """What is wrong, and in which line; None: in none."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line


class Unreadable(Wrong):
    """What is no YAML, so that the text behind it can't be read either."""


class Item(NamedTuple):
    """A scalar."""

    line: int
    text: str


class Listing(NamedTuple):
    """A list."""

    line: int
    nodes: list[Any]  # Node: mypy knows no recursive types in named tuples


class Mapping(NamedTuple):
    """A mapping; keys may be there twice."""

    line: int
    pairs: list[tuple[Any, Any]]


Node: TypeAlias = Item | Listing | Mapping


def events_of(text: str, before: int = 0) -> Iterator[yaml.Event]:
    """Yield what PyYAML finds in *text*, before which the file has some lines; raises `Unreadable`."""
    try:
        yield from yaml.parse(text, Loader=LOADER)
    except _UNREADABLE as error:
        raise _unreadable(error, text, before) from None


def is_text(scalar: str) -> bool:
    """Return whether YAML takes a *scalar* without quotes for a text, not for a number, truth value, date or null.

    >>> [is_text(scalar) for scalar in ("5", "1.5", "12:30", "yes", "2024-12-31", "~", "127.0.0.1:80", "a.example")]
    [False, False, False, False, False, False, True, True]
    """
    tag = _RESOLVER.resolve(yaml.ScalarNode, scalar, (True, False))
    return bool(tag == _RESOLVER.DEFAULT_SCALAR_TAG)


def line_of(event: yaml.Event, before: int = 0) -> int:
    """Return the line, counted from 1, where *event* begins."""
    return int(event.start_mark.line) + 1 + before


def next_node(events: Iterator[yaml.Event], deepest: int, before: int = 0) -> Node | Wrong | None:
    """Return the next node of *events*, or what is wrong in it; None where a list or mapping ends.

    All its events are taken, so that one may go on behind what is wrong. Wrong are aliases, and more than *deepest*
    lists and mappings within each other. Raises `Unreadable`.
    """
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return Item(event.start_mark.line + 1 + before, event.value.strip())
    if isinstance(event, yaml.CollectionEndEvent):
        return None
    line = line_of(event, before)
    if isinstance(event, yaml.AliasEvent):
        return Wrong(line, "aliases (*name) are not supported; write the value itself")
    if deepest == 0:
        _skip(events, before)
        return Wrong(line, "expected a single value here, not a list or mapping; write each value on a line of its own")
    nodes: list[Any] = []
    while (node := next_node(events, deepest - 1, before)) is not None:
        nodes.append(node)
    for node in nodes:
        if isinstance(node, Wrong):
            return node
    if isinstance(event, yaml.SequenceStartEvent):
        return Listing(line, nodes)
    return Mapping(line, list(zip(nodes[::2], nodes[1::2], strict=True)))


def _skip(events: Iterator[yaml.Event], before: int) -> None:
    """Go to the end of a list or mapping that has begun."""
    depth = 1
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Unreadable(
                line_of(event, before), f"more than {DEEPEST} lists are within each other; expected a single value here"
            )


def _unreadable(error: Exception, text: str, before: int) -> Unreadable:
    if isinstance(error, yaml.MarkedYAMLError):
        mark, last = error.problem_mark, text.rstrip("\n").count("\n")
        if mark and error.context_mark and mark.line > last:
            mark = error.context_mark  # not the end of the file, but what has no end, such as a quotation
        line = min(mark.line, last) + 1 + before if mark else None
        return Unreadable(line, f"this is no YAML ({error.problem}); {_REMEDY}")
    if isinstance(error, yaml.reader.ReaderError):
        at = _UNSHOWN.search(text)
        line = text.count("\n", 0, at.start()) + 1 + before if at else None
        return Unreadable(line, f"this is no YAML ({error.reason}); save it as plain text")
    return Unreadable(before + 1, f"an escape after a \\ names no character ({error}); write the character")
