"""Where on its page a link stands, as a short text; asked for the new links of a page only."""

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
    """The groups of one page's links, by where each target is linked to first. *targets* by raw href."""

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._targets = targets
        self._first: dict[int, int] | None = None  # target's key -> index of its first link
        self._places: dict[int, str] = {}  # of parents met, since a list has many links

    def group_of(self, target: Target) -> str:
        """The name of the group that a link to *target* belongs to; see `link_groups.group_name`."""
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
    """Where the links in *parent* stand: `grandparent/parent.class`, of several classes the first.

    Longer paths, or the link's own class, tell no more apart that would matter.
    """
    grandparent = parent.parent
    classes = (parent.attributes.get("class") or "")[:NAME_CHARS].split()
    name = f"{parent.tag}.{classes[0]}" if classes else f"{parent.tag}"
    return f"{grandparent.tag if grandparent is not None else ''}/{name}"
