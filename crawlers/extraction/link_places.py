"""The position of a link on its page as a short text; computed for the new links of a page only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_groups import NAME_CHARS, group_name
from crawlers.items import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

    from crawlers.errors import BadUrl
    from crawlers.extraction.html import ParsedPage


class LinkPlaces:
    """The groups of one page's links, by the first link to each target. *targets* are by raw href."""

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._targets = targets
        self._first: dict[int, int] | None = None  # target's key -> index of its first link
        self._places: dict[int, str] = {}  # by parent, since a list has many links

    def group_of(self, target: Target) -> str:
        """Return the name of the group that a link to *target* belongs to; see `link_groups.group_name`."""
        if self._first is None:
            self._first = {}
            for href, index in sorted(self._parsed.first().items(), key=lambda one: one[1]):
                found = self._targets[href]
                if isinstance(found, Target):
                    self._first.setdefault(found.key, index)
        parent = self._parsed.node(self._first[target.key]).parent
        if parent is None:
            return group_name("", target.url)
        if parent.mem_id not in self._places:
            self._places[parent.mem_id] = place(parent)
        return group_name(self._places[parent.mem_id], target.url)


def place(parent: LexborNode) -> str:
    """Return the position of the links in *parent*: `grandparent/parent.class`, with the first of several classes.

    Longer paths, or the class of the link itself, do not distinguish groups better.
    """
    grandparent = parent.parent
    classes = (parent.attributes.get("class") or "")[:NAME_CHARS].split()
    name = f"{parent.tag}.{classes[0]}" if classes else f"{parent.tag}"
    return f"{grandparent.tag if grandparent is not None else ''}/{name}"
