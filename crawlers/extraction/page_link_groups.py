"""The groups of a page's links, by their positions on the page; computed for the new links only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_groups import NAME_CHARS, group_name
from crawlers.items import Target

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from crawlers.errors import BadUrl
    from crawlers.extraction.html import ParsedPage


class PageLinkGroups(Mapping[int, str]):
    """The names of groups by the keys of targets; the first link to each target decides. See `link_groups.group_name`.

    *targets* are by raw href. A name is computed when it is looked up: of some 70 links of a page, 6 are new.
    """

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._targets = targets
        self._first: dict[int, tuple[int, str]] | None = None  # index and URL of the first link, by key
        self._positions: dict[int, str] = {}  # by parent, since a list has many links

    def __getitem__(self, key: int) -> str:
        index, url = self._links()[key]
        parent = self._parsed.node(index).parent
        if parent is None:
            return group_name("", url)
        if parent.mem_id not in self._positions:
            self._positions[parent.mem_id] = position(parent)
        return group_name(self._positions[parent.mem_id], url)

    def __iter__(self) -> Iterator[int]:
        return iter(self._links())

    def __len__(self) -> int:
        return len(self._links())

    def _links(self) -> dict[int, tuple[int, str]]:
        if self._first is None:
            self._first = {}
            for href, index in sorted(self._parsed.first().items(), key=lambda one: one[1]):
                found = self._targets[href]
                if isinstance(found, Target):
                    self._first.setdefault(found.key, (index, found.url))
        return self._first


def position(parent: LexborNode) -> str:
    """Return the position of the links in *parent*: `grandparent/parent.class`, with the first of several classes.

    Longer paths, or the class of the link itself, do not distinguish groups better.
    """
    grandparent = parent.parent
    classes = (parent.attributes.get("class") or "")[:NAME_CHARS].split()
    name = f"{parent.tag}.{classes[0]}" if classes else f"{parent.tag}"
    return f"{grandparent.tag if grandparent is not None else ''}/{name}"
