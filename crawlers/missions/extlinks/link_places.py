"""The places of the links of a page, from which orders learn what similar links led to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.items import LinkPlace, Target

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from crawlers.errors import BadUrl
    from crawlers.items import Page
    from crawlers.pages.html import ParsedPage

ANCESTORS = 6  # of a link that make its path; those of a list have three or four
ID_CHARS = 30
CLASS_CHARS = 300  # in which the first class is looked for
# Elements whose ids name parts of a page; those of others are often different on each page.
PARTS = frozenset({"div", "nav", "section", "table", "ul", "aside"})
_ENDS = frozenset({"body", "html", None})
_DIGITS = re.compile(r"\d+")


class PageLinkPlaces(Mapping[int, LinkPlace]):
    """The places of links, see `link_features`; *targets* are by raw href."""

    in_feeds = None  # as facts of a page

    def __init__(self, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> None:
        self._parsed = parsed
        self._first = {  # the number of each link among those of the page; earlier ones take the place of later ones
            found.key: index
            for index, href in zip(range(len(parsed.hrefs) - 1, -1, -1), reversed(parsed.hrefs), strict=True)
            if isinstance(found := targets[href], Target)
        }
        self._places: dict[int, tuple[str, str]] = {}  # position and path, by parent

    def __contains__(self, key: object) -> bool:
        return key in self._first

    def __iter__(self) -> Iterator[int]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, key: int) -> LinkPlace:
        index = self._first[key]
        parent = self._parsed.node(index).parent
        if parent is None:
            return LinkPlace("", "", self._parsed.anchor(index))
        if parent.mem_id not in self._places:
            self._places[parent.mem_id] = position(parent), path(parent)
        return LinkPlace(*self._places[parent.mem_id], self._parsed.anchor(index))


def position(parent: LexborNode) -> str:
    """Return the position of the links in *parent*: `grandparent/parent.class`, with the first of several classes.

    Longer paths, or the class of the link itself, do not distinguish groups better.
    """
    grandparent = parent.parent
    return f"{grandparent.tag if grandparent is not None else ''}/{parent.tag}{_first_class(parent)}"


def path(parent: LexborNode) -> str:
    """Return the path of the links in *parent*: up to `ANCESTORS` elements within the body, the outermost first.

    Each with its first class, and those in `PARTS` with their ids, in which numbers are replaced by 0.
    """
    names: list[str] = []
    node: LexborNode | None = parent
    while node is not None and len(names) < ANCESTORS and node.tag not in _ENDS:
        name = (node.attributes.get("id") or "")[:ID_CHARS] if node.tag in PARTS else ""
        names.append(f"{node.tag}{'#' if name else ''}{_DIGITS.sub('0', name)}{_first_class(node)}")
        node = node.parent
    return "/".join(reversed(names))


def _first_class(node: LexborNode) -> str:
    classes = (node.attributes.get("class") or "")[:CLASS_CHARS].split()
    return f".{classes[0]}" if classes else ""


def with_places(page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> Page:
    """Return *page* with the places of its links as facts: the `analysis` of missions whose orders learn from links."""
    return replace(page, facts=PageLinkPlaces(parsed, targets))
