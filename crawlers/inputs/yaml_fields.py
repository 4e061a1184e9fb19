"""The fields of a mapping in a YAML file: scalars, lists of scalars, and mappings."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

import yaml

from crawlers.inputs.hosts_file import TEXT_SHOWN
from crawlers.inputs.yaml_nodes import Item, Listing, Mapping, Wrong, events_of, line_of, next_node

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlers.inputs.yaml_nodes import Node

DEEPEST = 2  # lists and mappings within each other in a file: the mapping of the fields, and a field's own


class Field(NamedTuple):
    """The field *name*, and what is behind its colon."""

    name: str
    line: int
    value: Node


def fields_of(text: str, names: Collection[str]) -> dict[str, Field]:
    """Return the fields of a file that is one mapping; as `fields_of_node` does, also raising `Unreadable`.

    >>> items_of(fields_of("roots: [a.example, b.example]", ["roots"])["roots"])
    [Item(line=1, text='a.example'), Item(line=1, text='b.example')]
    """
    events = events_of(text)
    next(events)  # the stream begins
    root = next_node(events, DEEPEST) if isinstance(next(events), yaml.DocumentStartEvent) else None
    if isinstance(root, Wrong):
        raise root
    if not isinstance(root, Mapping):
        raise Wrong(None, "expected fields such as `keywords: [unicode]`, each on a line of its own")
    next(events)  # the document ends
    check_end(next(events))
    return fields_of_node(root, names)


def check_end(event: yaml.Event, before: int = 0) -> None:
    """Raise `Wrong` unless the file ends with this *event* behind its document."""
    if not isinstance(event, yaml.StreamEndEvent):
        raise Wrong(line_of(event, before), "a second document begins here; keep one, without ---")


def fields_of_node(node: Mapping, names: Collection[str]) -> dict[str, Field]:
    """Return those of the fields with *names* that are there and say something.

    Raises `Wrong`, also for other names.
    """
    fields: dict[str, Field] = {}
    for key, value in node.pairs:
        line, name = item_of(key)
        if name not in names:
            raise unknown_field(line, name, names)
        if name in fields:
            raise Wrong(line, f"{name} is here for the second time; keep one of the two")
        fields[name] = Field(name, line, value)
    return {name: field for name, field in fields.items() if _says_something(field.value)}


def unknown_field(line: int, name: str, names: Collection[str]) -> Wrong:
    """Return what to say of a field that is none of those with *names*."""
    near = get_close_matches(name, names, 1)
    remedy = f"did you mean {near[0]}?" if near else f"write one of: {' '.join(names)}"
    return Wrong(line, f"there is no field {shown(name)}; {remedy}")


def items_of(field: Field) -> list[Item]:
    """Return the scalars of a list, or of a single scalar as if it were a list; raises `Wrong`."""
    if isinstance(field.value, Mapping):
        raise Wrong(field.line, f"{field.name} is a mapping, expected a list; write each value behind a dash")
    return [item_of(node) for node in nodes_of(field)]


def nodes_of(field: Field) -> list[Node]:
    """Return what is in a list, or whatever else there is as if it were in one."""
    return field.value.nodes if isinstance(field.value, Listing) else [field.value]


def item_of(node: Node) -> Item:
    """Return the scalar that *node* is, and that says something; raises `Wrong`."""
    if not isinstance(node, Item):
        raise Wrong(node.line, "expected a single value here, not a list or mapping")
    if not node.text:
        raise Wrong(node.line, "a value is missing here; write it, or leave out the line")
    return node


def _says_something(node: Node) -> bool:
    _, content = node  # a text, nodes, or pairs
    return bool(content)


def shown(text: str) -> str:
    """Return a value as messages quote it."""
    return repr(shortened(text))


def shortened(text: str) -> str:
    """Return the beginning of a value."""
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"
