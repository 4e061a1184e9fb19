"""The fields of a YAML file, each with its line: a mapping of scalars, lists of scalars, and mappings of scalars.

All scalars stay texts, without blanks around them: else the keyword `no` would be a truth value, and 2024-13-01 an
error. There are no aliases, so a short file is a short list of values.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

import yaml

from crawlers.algorithms.hosts_file import TEXT_SHOWN

if TYPE_CHECKING:
    from collections.abc import Collection

DEEPEST = 2  # lists and mappings within each other: the mapping of the fields, and a field's own


class Wrong(Exception):
    """What is wrong, and in which line; None: in none."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line


class Field(NamedTuple):
    """The field *name*, and what is behind its colon."""

    name: str
    line: int
    value: yaml.Node


class Item(NamedTuple):
    """A scalar, never empty."""

    line: int
    text: str


def fields_of(text: str, names: Collection[str]) -> dict[str, Field]:
    """Return those of the fields with *names* that are there and say something.

    Raises `Wrong`, also for other names, and `yaml.YAMLError`.

    >>> items_of(fields_of("roots: [a.example, b.example]", ["roots"])["roots"])
    [Item(line=1, text='a.example'), Item(line=1, text='b.example')]
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent):
            raise Wrong(_line(event), "aliases (*name) are not supported; write the value itself")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Wrong(
                _line(event),
                "expected a single value here, not a list or mapping; write each value on a line of its own",
            )
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    if not isinstance(root, yaml.MappingNode):
        raise Wrong(None, "expected fields such as `keywords: [unicode]`, each on a line of its own")
    fields: dict[str, Field] = {}
    for key, value in root.value:
        line, name = item_of(key)
        if name not in names:
            near = get_close_matches(name, names, 1)
            remedy = f"did you mean {near[0]}?" if near else f"write one of: {' '.join(names)}"
            raise Wrong(line, f"there is no field {shown(name)}; {remedy}")
        if name in fields:
            raise Wrong(line, f"{name} is here for the second time; keep one of the two")
        fields[name] = Field(name, line, value)
    return {name: field for name, field in fields.items() if field.value.value}


def items_of(field: Field) -> list[Item]:
    """Return the scalars of a list, or of a single scalar as if it were a list; raises `Wrong`."""
    if isinstance(field.value, yaml.MappingNode):
        raise Wrong(field.line, f"{field.name} is a mapping, expected a list; write each value behind a dash")
    nodes = field.value.value if isinstance(field.value, yaml.SequenceNode) else [field.value]
    return [item_of(node) for node in nodes]


def item_of(node: yaml.Node) -> Item:
    """Return the scalar that *node* is; raises `Wrong`."""
    line = _line(node)
    if not isinstance(node, yaml.ScalarNode):
        raise Wrong(line, "expected a single value here, not a list or mapping")
    if not node.value.strip():
        raise Wrong(line, "a value is missing here; write it, or leave out the line")
    return Item(line, node.value.strip())


def _line(place: yaml.Node | yaml.Event) -> int:
    return int(place.start_mark.line) + 1


def shown(text: str) -> str:
    """Return a value as messages quote it."""
    return repr(shortened(text))


def shortened(text: str) -> str:
    """Return the beginning of a value."""
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"
