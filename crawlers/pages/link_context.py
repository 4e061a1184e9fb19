"""The context of a link: its text, the surrounding text, and its part of the page.

They are computed on demand, since most are never needed. Every walk visits a bounded number of nodes, and everything
that can be long (a text, a chain of ancestors) is examined once per page, so that querying all links of a page takes
time linear in the page.
"""

from __future__ import annotations

import re
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from selectolax.lexbor import LexborNode

ANCHOR_CHARS = 200
CONTEXT_CHARS = 100  # on each side

# A link of 200 characters in more than 100 pieces contains a whole page; a block with fewer than 100
# characters in the 40 nodes next to a link is markup, not text.
_ANCHOR_NODES = 100
_CONTEXT_NODES = 40

_SPACES = re.compile(r"\s+")
_SILENT = frozenset({"script", "style", "iframe", "noframes", "noembed", "template", "head"})
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre"
    " section summary table tbody td tfoot th thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_WRAPPERS = frozenset({"b", "code", "em", "i", "span", "strong", "tt"})  # common ones, which say nothing of a text
_LANDMARKS = frozenset({"nav", "header", "footer", "main", "aside"})
_ROLES = {"navigation": "nav", "banner": "header", "contentinfo": "footer", "main": "main"}

_AFTER = (attrgetter("next"), attrgetter("first_child"))
_BEFORE = (attrgetter("prev"), attrgetter("last_child"))


def collapse(text: str) -> str:
    """Return *text* with each run of whitespace replaced by one space, and trimmed."""
    return " ".join(text.split())


class LinkTexts(NamedTuple):
    """The texts of a link, and where it is."""

    anchor: str  # its text, at most 200 characters; for an image, its alternative text
    context: str  # the anchor with up to 100 characters of its block on each side
    position: str  # part of the page: nav, header, footer, main or aside; "" if none is marked up
    rel: str  # words of that attribute in lower case, separated by single spaces
    tag: str


class Surroundings:
    """Lookups shared by the links of one page, cached as long as the page exists."""

    __slots__ = ("_positions", "_texts")

    def __init__(self) -> None:
        self._positions: dict[int, str] = {}
        self._texts: dict[int, tuple[str, str]] = {}

    def texts(self, link: LexborNode) -> LinkTexts:
        """Return everything about *link*."""
        (anchor,) = self.anchors([link])
        rel = " ".join((link.attributes.get("rel") or "").lower().split())
        return LinkTexts(anchor, self._context(link, anchor), self._position(link), rel, link.tag or "")

    def anchors(self, links: Iterable[LexborNode]) -> list[str]:
        """Return `anchor` of each of *links*; most contain nothing but a short text, if in an element of its own."""
        found = []
        for link in links:
            child = link.first_child if link.tag == "a" else None
            while child is not None and child.next is None and child.tag in _WRAPPERS:
                child = child.first_child
            text = child.text_content if child is not None and child.next is None else None
            found.append(" ".join(text.split()) if text and len(text) <= ANCHOR_CHARS else self.anchor(link))
        return found

    def anchor(self, link: LexborNode) -> str:
        """Return the text within *link*, or the first image's *alt* if there is no text."""
        if link.tag != "a":
            alt = link.attributes.get("alt") if link.tag == "area" else None
            return collapse(alt or "")[:ANCHOR_CHARS]
        parts: list[str] = []
        size = 0
        alt = silent = ""
        for node in islice(link.traverse(include_text=True), 1, _ANCHOR_NODES):
            tag = node.tag or ""
            if tag == "-text":
                if silent:
                    silent = ""
                    continue
                text = node.text_content or ""
                if len(text) > ANCHOR_CHARS:
                    text = self._ends(node, text)[0]
                parts.append(text)
                size += len(" ".join(text.split()))  # as of `collapse`, without a call per node
                if size >= ANCHOR_CHARS:
                    break
                continue
            silent = tag if tag in _SILENT else ""
            if tag == "br" or tag in _BLOCKS:
                parts.append(" ")
            elif tag == "img" and not alt:
                alt = node.attributes.get("alt") or ""
        return (collapse("".join(parts)) or collapse(alt))[:ANCHOR_CHARS].rstrip()

    def _position(self, link: LexborNode) -> str:
        """Return the nearest landmark around *link*."""
        climbed: list[int] = []
        found = ""
        node = link.parent
        while node is not None:
            known = self._positions.get(node.mem_id)
            if known is not None:
                found = known
                break
            climbed.append(node.mem_id)
            role, tag = node.attributes.get("role"), node.tag
            found = (role and _ROLES.get(role.strip().lower())) or (tag if tag in _LANDMARKS else "")
            if found:
                break
            node = node.parent
        self._positions.update(dict.fromkeys(climbed, found))
        return found

    def _context(self, link: LexborNode, anchor: str) -> str:
        before = "".join(reversed(self._beside(link, _BEFORE, 1)))
        after = "".join(self._beside(link, _AFTER, 0))
        behind, gap = (" " if text.isspace() else "" for text in (before[-1:], after[:1]))
        following = (gap + " ".join(after.split()))[:CONTEXT_CHARS]
        return collapse(" ".join(before.split())[-CONTEXT_CHARS:] + behind + anchor + following)

    def _beside(self, link: LexborNode, ways: tuple[Callable[..., LexborNode | None], ...], end: int) -> list[str]:
        """Return texts next to *link* in one direction, nearest first, until they suffice."""
        beside, inside = ways
        parts: list[str] = []
        size = 0
        node: LexborNode | None = link
        enter = False
        for _ in range(_CONTEXT_NODES):
            if node is None or size >= CONTEXT_CHARS:
                break
            following = (inside(node) if enter else None) or beside(node)
            if following is None:
                node, enter = node.parent, False
                if node is None or node.tag in _BLOCKS:
                    break
                continue
            node = following
            tag = node.tag
            if tag == "-text":
                text = node.text_content or ""
                if len(text) > ANCHOR_CHARS:
                    text = self._ends(node, text)[end]
                parts.append(text)
                size += len(" ".join(text.split()))
            elif tag in _BLOCKS:
                break
            elif tag == "br":
                parts.append(" ")
            enter = tag not in _SILENT
        return parts

    def _ends(self, node: LexborNode, text: str) -> tuple[str, str]:
        """Return the first 200 and the last 200 characters of the long *text* of a node, with spaces collapsed."""
        known = self._texts.get(node.mem_id)
        if known is None:
            text = _SPACES.sub(" ", text)
            known = self._texts[node.mem_id] = text[:ANCHOR_CHARS], text[-ANCHOR_CHARS:]
        return known
