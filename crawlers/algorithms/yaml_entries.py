"""The entries of a list in a YAML file, one by one, so that a faulty entry does not spoil the others."""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from crawlers.algorithms.yaml_fields import Field, Wrong, item_of, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

DEEPEST = 3  # lists and mappings within each other in an entry: its fields, a field's list, a mapping in that
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml's is twenty times as fast

Entry: TypeAlias = yaml.Node | Wrong  # an entry, or what is wrong with it

_UNREADABLE = (yaml.YAMLError, ValueError, OverflowError)  # the latter: PyYAML asks chr() for what an escape names
_QUOTES = "check colons and indentation, and put regular expressions and selectors between single quotes"


def entries_of(text: str, name: str) -> list[Entry]:
    """Return the entries of the list *name*, the only field of a file: their nodes, or what is wrong with them.

    What is no YAML spoils only the entry in which it stands, as long as each begins with a dash on a line of its own.
    Raises `Wrong` if there is no such list.

    >>> [item_of(node).text for node in entries_of("sites:\\n- a.example\\n- b.example", "sites")]
    ['a.example', 'b.example']
    """
    try:
        return list(_entries(text, name, 0))
    except _UNREADABLE as error:
        wrong = _unreadable(error, text, 0)
    pieces = _pieces(text, name)
    if not pieces:
        raise wrong
    return list(chain.from_iterable(_piece(piece, name, before) for before, piece in pieces))


def fields_of_node(node: yaml.Node, names: Collection[str]) -> dict[str, Field]:
    """Return those of the fields with *names* that are there and say something.

    Raises `Wrong`, also for other names.
    """
    fields: dict[str, Field] = {}
    for key, value in node.value:
        line, name = item_of(key)
        if name not in names:
            raise _unknown(line, name, names)
        if name in fields:
            raise Wrong(line, f"{name} is here for the second time; keep one of the two")
        fields[name] = Field(name, line, value)
    return {name: field for name, field in fields.items() if field.value.value}


def _entries(text: str, name: str, before: int) -> Iterator[Entry]:
    """The entries of *text*, before which the file has some lines."""
    events = yaml.parse(text, Loader=LOADER)
    parts = (event for event in events if not isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent)))
    next(parts, None)  # a document begins
    expected = f"expected `{name}:`, and below it a list: each entry on a line of its own, behind a dash"
    if not isinstance(next(parts, None), yaml.MappingStartEvent):
        raise Wrong(None, expected)
    is_known = False
    for key in parts:
        if isinstance(key, yaml.MappingEndEvent):
            break
        line = _line(key, before)
        if not isinstance(key, yaml.ScalarEvent) or key.value != name:
            raise _unknown(line, getattr(key, "value", "a list or mapping"), [name])
        if is_known:
            raise Wrong(line, f"{name} is here for the second time; keep one of the two")
        is_known = True
        value = next(parts)
        if isinstance(value, yaml.SequenceStartEvent):
            yield from _list(parts, before)
        elif not isinstance(value, yaml.ScalarEvent) or value.value:
            raise Wrong(line, expected)
    if not is_known:
        raise Wrong(None, expected)
    next(parts, None)  # the document ends
    for event in parts:
        raise Wrong(_line(event, before), "a second document begins here; keep one, without ---")


def _list(events: Iterator[yaml.Event], before: int) -> Iterator[Entry]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        whole = _whole(event, events)
        try:
            yield _node(iter(whole), before, 0)
        except Wrong as wrong:
            yield wrong


def _whole(event: yaml.Event, events: Iterator[yaml.Event]) -> list[yaml.Event]:
    """The events of one entry, to its end; of what is nested too deeply, only the beginning."""
    taken, depth = [event], _step(event)
    while depth:
        event = next(events)
        depth += _step(event)
        if depth <= DEEPEST + 1:
            taken.append(event)
    return taken


def _step(event: yaml.Event) -> int:
    return isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def _node(events: Iterator[yaml.Event], before: int, depth: int) -> Any:
    """The next node of *events*; None where a list or mapping ends."""
    event = next(events)
    if isinstance(event, yaml.CollectionEndEvent):
        return None
    line = _line(event, before)
    mark = yaml.Mark(None, 0, line - 1, 0, None, None)
    if isinstance(event, yaml.ScalarEvent):
        return yaml.ScalarNode(event.tag, event.value, mark)
    if isinstance(event, yaml.AliasEvent):
        raise Wrong(line, "aliases (*name) are not supported; write the value itself")
    if depth == DEEPEST:
        raise Wrong(line, "expected a single value here, not a list or mapping")
    nodes = list(iter(lambda: _node(events, before, depth + 1), None))
    if isinstance(event, yaml.SequenceStartEvent):
        return yaml.SequenceNode(event.tag, nodes, mark)
    return yaml.MappingNode(event.tag, list(zip(nodes[::2], nodes[1::2], strict=True)), mark)


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


def _piece(text: str, name: str, before: int) -> list[Entry]:
    try:
        return list(_entries(text, name, before))
    except Wrong as wrong:
        return [wrong]
    except _UNREADABLE as error:
        return [_unreadable(error, text, before)]


def _unreadable(error: Exception, text: str, before: int) -> Wrong:
    if isinstance(error, yaml.MarkedYAMLError):
        mark, last = error.problem_mark, text.rstrip("\n").count("\n")
        if mark and error.context_mark and mark.line > last:
            mark = error.context_mark  # not the end of the file, but what has no end, such as a quotation
        return Wrong(
            min(mark.line, last) + 1 + before if mark else None, f"this is no YAML ({error.problem}); {_QUOTES}"
        )
    if isinstance(error, yaml.reader.ReaderError):
        at = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", text)
        line = text.count("\n", 0, at.start()) + 1 + before if at else None
        return Wrong(line, f"this is no YAML ({error.reason}); save it as plain text")
    return Wrong(before + 2, f"an escape after a \\ names no character ({error}); write the character")


def _unknown(line: int, name: str, names: Collection[str]) -> Wrong:
    near = get_close_matches(name, names, 1)
    remedy = f"did you mean {near[0]}?" if near else f"write one of: {' '.join(names)}"
    return Wrong(line, f"there is no field {shown(name)}; {remedy}")


def _line(event: yaml.Event, before: int) -> int:
    return int(event.start_mark.line) + 1 + before
