"""Reads YAML that people write: PyYAML's nodes, and problems by line.

Every scalar is read as text; otherwise the keyword `no` would be a truth value, and 2024-13-01 an error. Aliases are
rejected and nesting is limited, so that a short file yields few values.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import yaml
from yaml.composer import Composer, ComposerError

from crawlers.errors import ConfigError
from crawlers.files.text_file import place_of, quoted, said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")
Node: TypeAlias = yaml.Node

DEEPEST = 100  # lists and mappings within each other; libyaml's time grows with the square of the depth

_ENTRY_DEPTH = 2  # an entry is in a list, which is in the file's mapping
_REMEDY = "check colons and indentation, and put texts with special characters, such as [ { \\ #, between single quotes"


class Problem(Exception):
    """A problem and its line; None if it concerns no single line."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line

    def at(self, origin: str) -> str:
        """Return the message with the file *origin* ("": a text without a name) and the line."""
        return said_of(origin, str(self)) if self.line is None else f"{place_of(origin, self.line)}: {self}"


class Unreadable(Problem):
    """A syntax error after which the text cannot be parsed."""


class Item(NamedTuple):
    """The text of a scalar, and its line."""

    line: int
    text: str


class Field(NamedTuple):
    """The field *name* of a mapping, and the node after its colon."""

    name: str
    line: int
    node: Node


class _Composer(Composer):  # type: ignore[misc]
    """Composes nodes from the events of libyaml; `yaml.compose` follows aliases and crashes on deep nesting.

    *entry* replaces each entry of a list in the file's mapping as soon as it is complete, because a file of 100,000
    sources takes gigabytes as nodes.
    """

    def __init__(self, text: str, entry: Callable[[Node], object] | None) -> None:
        super().__init__()
        parser = yaml.CBaseLoader(text)
        self.check_event, self.peek_event, self.get_event = parser.check_event, parser.peek_event, parser.get_event
        self._entry = entry
        self._depth = 0

    def resolve(self, *_: object) -> None:
        """Return no tag: all scalars are text."""

    def compose_node(self, parent: Node | None, index: object) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.ScalarEvent):
            node = yaml.ScalarNode(None, self.get_event().value.strip(), event.start_mark, event.end_mark)
        elif isinstance(event, yaml.AliasEvent):
            raise Unreadable(line_of(event), "aliases (*name) are not supported; write the value itself")
        elif self._depth == DEEPEST:
            raise Unreadable(line_of(event), f"more than {DEEPEST} nested lists or mappings; expected a value")
        else:
            self._depth += 1
            is_list = isinstance(event, yaml.SequenceStartEvent)
            node = self.compose_sequence_node(None) if is_list else self.compose_mapping_node(None)  # without anchors
            self._depth -= 1
        return self._entry(node) if self._entry and self._depth == _ENTRY_DEPTH else node


def read_fields(text: str, names: Sequence[str]) -> dict[str, Field]:
    """Return the fields of a file that is one mapping; see `fields_of`. Raises `Problem`.

    >>> items_of(read_fields("roots: [a.example, b.example]", ["roots"])["roots"])
    [Item(line=1, text='a.example'), Item(line=1, text='b.example')]
    """
    root = _compose(_with_newlines(text))
    if not isinstance(root, yaml.MappingNode):
        raise Problem(None, f"expected fields such as `{names[0]}:`, each on its own line")
    return fields_of(root, names)


def read_entries(text: str, name: str, read: Callable[[Node], T]) -> list[tuple[int, T | Problem]]:
    """Return the line of each entry in the list *name*, the only field of a file, and the result of *read* for it.

    *read* may raise `Problem`, which then replaces the result. A syntax error spoils only its own entry, provided
    that each entry begins with a dash on its own line. Raises `Problem` if there is no such list.

    >>> read_entries("sites:\\n- a.example\\n- b.example", "sites", lambda node: node.value)
    [(2, 'a.example'), (3, 'b.example')]
    """
    expected = f"expected `{name}:`, followed by a list: each entry on its own line, after a dash"

    def entry(node: Node) -> tuple[int, T | Problem]:
        try:
            return line_of(node), read(node)
        except Problem as problem:
            return problem.line or line_of(node), problem

    def entries(text: str) -> list[tuple[int, T | Problem]]:
        root = _compose(text, entry)
        if not isinstance(root, yaml.MappingNode):
            raise Problem(None, expected)
        field = fields_of(root, [name]).get(name)
        if field and not isinstance(field.node, yaml.SequenceNode):
            raise Problem(field.line, expected)
        return list(field.node.value) if field else []

    text = _with_newlines(text)
    try:
        return entries(text)
    except Unreadable as unreadable:
        found: list[tuple[int, T | Problem]] = []
        for lines_before, piece in _pieces(text, name):
            try:
                found += [(line + lines_before, one) for line, one in entries(piece)]
            except Problem as problem:
                found.append(((problem.line or 1) + lines_before, problem))
        if not found:
            raise unreadable from None
        return found


def fields_of(node: Node, names: Sequence[str]) -> dict[str, Field]:
    """Return the fields of a mapping that have a value; raises `Problem` for fields other than *names*."""
    fields: dict[str, Field] = {}
    for key, value in node.value:
        line, name = item_of(key)
        if name not in names:
            near = get_close_matches(name, names, 1)
            remedy = f"did you mean {near[0]}?" if near else f"choose one of: {' '.join(names)}"
            raise Problem(line, f"unknown field {quoted(name)}; {remedy}")
        if name in fields:
            raise Problem(line, f"duplicate field {name}; keep one of the two")
        fields[name] = Field(name, line, value)
    return {name: field for name, field in fields.items() if field.node.value}


def nodes_of(field: Field) -> list[Node]:
    """Return the nodes of a list, or a list with the only node."""
    return list(field.node.value) if isinstance(field.node, yaml.SequenceNode) else [field.node]


def items_of(field: Field) -> list[Item]:
    """Return the scalars of a list, or a list with the only scalar; raises `Problem`."""
    if isinstance(field.node, yaml.MappingNode):
        raise Problem(field.line, f"{field.name} is a mapping, expected a list; write each value after a dash")
    return [item_of(node) for node in nodes_of(field)]


def item_of(node: Node) -> Item:
    """Return *node* as a scalar; raises `Problem` if it is empty or not a scalar."""
    if not isinstance(node, yaml.ScalarNode):
        raise Problem(line_of(node), "expected a single value here, not a list or mapping")
    if not node.value:
        raise Problem(line_of(node), "missing value; write it, or remove the line")
    return Item(line_of(node), node.value)


def converted(item: Item, read: Callable[[str], T]) -> T:
    """Return what *read* makes of the text of *item*; raises `Problem` for a `ConfigError`."""
    try:
        return read(item.text)
    except ConfigError as error:
        raise Problem(item.line, str(error)) from None


def optional(fields: Mapping[str, Field], name: str, read: Callable[[str], T], otherwise: T) -> T:
    """Return what *read* makes of the scalar of a field, or *otherwise* if it is missing; raises `Problem`."""
    return converted(item_of(fields[name].node), read) if name in fields else otherwise


def line_of(node: Node | yaml.Event) -> int:
    """Return the line where *node* begins, counted from 1."""
    return int(node.start_mark.line) + 1


def _compose(text: str, entry: Callable[[Node], object] | None = None) -> Node | None:
    """Return the root node of *text*, None if it is empty; raises `Problem`."""
    try:
        return _Composer(text, entry).get_single_node()
    except ComposerError as error:  # no other cause is possible: nodes have no anchors
        line = error.problem_mark.line + 1
        raise Problem(line, "a second document begins here; keep one, without ---") from None
    except yaml.reader.ReaderError as error:
        at = yaml.reader.Reader.NON_PRINTABLE.search(text).start()
        line = text.count("\n", 0, at) + 1
        raise Unreadable(line, f"not valid YAML ({error.reason}); save it as plain text") from None
    except yaml.MarkedYAMLError as error:
        mark, last = error.problem_mark, text.rstrip("\n").count("\n")
        if mark.line > last and error.context_mark:
            mark = error.context_mark  # the start of an unterminated quotation or list, rather than the end of the file
        raise Unreadable(min(mark.line, last) + 1, f"not valid YAML ({error.problem}); {_REMEDY}") from None


def _pieces(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Yield each entry of an invalid file as a separate file, with the number of lines before it."""
    head = re.search(rf"^{name}[ \t]*:[ \t]*(?:#.*)?$", text, re.MULTILINE)
    dash = head and re.compile(r"^ *-(?=\s|\Z)", re.MULTILINE).search(text, head.end())
    if dash:
        lines_before = text.count("\n", 0, dash.start()) - 1
        for piece in re.split(rf"^(?={dash[0]}(?:\s|\Z))", text[dash.start() :], flags=re.MULTILINE)[1:]:
            yield lines_before, f"{name}:\n{piece}"
            lines_before += piece.count("\n")


def _with_newlines(text: str) -> str:
    """Return *text* with the line ends of editors and YAML 1.2; PyYAML also breaks lines at U+0085 and U+2028."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\x85\u2028\u2029]", " ", text)
