"""The entries of a list in a YAML file, one by one, so that a faulty entry does not spoil the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import yaml

from crawlers.inputs.yaml_fields import check_end, unknown_field
from crawlers.inputs.yaml_nodes import Unreadable, Wrong, events_of, line_of, next_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlers.inputs.yaml_nodes import Node

DEEPEST = 3  # lists and mappings within each other in an entry: its fields, a field's list, a mapping in that

T = TypeVar("T")


def read_entries(text: str, name: str, read: Callable[[Node], T]) -> list[T | Wrong]:
    """Return what *read* makes of each entry of the list *name*, the only field of a file, or what is wrong with it.

    What is no YAML spoils only the entry in which it stands, as long as each begins with a dash on a line of its own.
    Raises `Wrong` if there is no such list. *read* may raise it as well.

    >>> read_entries("sites:\\n- a.example\\n- b.example", "sites", lambda node: node.text)
    ['a.example', 'b.example']
    """

    def made(entry: Node | Wrong) -> T | Wrong:
        try:
            return entry if isinstance(entry, Wrong) else read(entry)
        except Wrong as wrong:
            return wrong

    try:
        return [made(entry) for entry in _entries(text, name, 0)]
    except Unreadable as wrong:
        unreadable = wrong
    pieces = _pieces(text, name)
    if not pieces:
        raise unreadable
    return [made(entry) for before, piece in pieces for entry in _piece(piece, name, before)]


def _entries(text: str, name: str, before: int) -> Iterator[Node | Wrong]:
    """The entries of *text*, before which the file has some lines."""
    events = events_of(text, before)
    next(events)  # the stream begins
    next(events, None)  # a document begins
    expected = f"expected `{name}:`, and below it a list: each entry on a line of its own, behind a dash"
    if not isinstance(next(events, None), yaml.MappingStartEvent):
        raise Wrong(None, expected)
    is_known = False
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            break
        line = line_of(key, before)
        if not isinstance(key, yaml.ScalarEvent) or key.value != name:
            raise unknown_field(line, getattr(key, "value", "a list or mapping"), [name])
        if is_known:
            raise Wrong(line, f"{name} is here for the second time; keep one of the two")
        is_known = True
        value = next(events)
        if isinstance(value, yaml.SequenceStartEvent):
            while (entry := next_node(events, DEEPEST, before)) is not None:
                yield entry
        elif not isinstance(value, yaml.ScalarEvent) or value.value:
            raise Wrong(line, expected)
    if not is_known:
        raise Wrong(None, expected)
    next(events)  # the document ends
    check_end(next(events), before)


def _pieces(text: str, name: str) -> list[tuple[int, str]]:
    """The entries of a file that is no YAML as a whole, each as a file of its own, with the lines before it."""
    lines = text.split("\n")
    head = next((n for n, line in enumerate(lines) if re.fullmatch(rf"{name}\s*:\s*(#.*)?", line)), len(lines))
    dash = next((match[0] for line in lines[head + 1 :] if (match := re.match(r" *-(?=\s|$)", line))), "-")
    begins = re.compile(rf"{dash}(?=\s|$)").match
    starts = [n for n in range(head + 1, len(lines)) if begins(lines[n])]
    ends = [*starts[1:], len(lines)]
    return [
        (start - 1, "\n".join([f"{name}:", *lines[start:end], ""])) for start, end in zip(starts, ends, strict=False)
    ]


def _piece(text: str, name: str, before: int) -> Iterator[Node | Wrong]:
    try:
        yield from _entries(text, name, before)
    except Wrong as wrong:
        yield wrong
