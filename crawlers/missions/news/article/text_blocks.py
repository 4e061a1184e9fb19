"""Divides a page into blocks of text: paragraphs, headings, items, cells of tables; and texts into lines."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree, html

from crawlers.pages.html import thin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement


class Kind(IntEnum):
    """What the elements around a block say about it, by their names, classes and IDs: bits, to be added up."""

    ITEM = 1 << 0
    FORM = 1 << 1
    FOOTER = 1 << 2
    HIDDEN = 1 << 3
    COMMENT = 1 << 4
    PROMOTION = 1 << 5
    BYLINE = 1 << 6
    ARTICLE = 1 << 7
    CAPTION = 1 << 8


class TextBlock(NamedTuple):
    """A run of text between the beginnings and ends of block elements."""

    text: str  # not empty, blanks collapsed
    link_chars: int  # of its text, in links
    tag: str
    look: str  # the same for blocks that look the same: tag and class
    around: str  # the same for the element around its own
    containers: tuple[int, ...]  # numbers of the elements around it, the outermost first; the last is its own
    kind: int  # the sum of its kinds


_FIRST, _LAST = 0x300, 0x1FFF  # behind are those of symbols and of rare scripts

# To be put into a class of a regular expression: `\w` lacks them, and would cut "हिन्दी" into three.
COMBINING_MARKS = "".join(
    one for one in map(chr, range(_FIRST, _LAST + 1)) if unicodedata.category(one) in {"Mn", "Mc"}
)


_MARKUP = re.compile(r"</?(?:p|br|div|h[1-6]|li|ul|a|b|i|em|strong|span)\b[^>]*>", re.I)
_CUT_OFF = re.compile(r"(?:…|\.\.\.|\[\+?\d* ?\w*\])\s*\Z")
_WORD = re.compile(r"\w+")
_NO_LETTERS = re.compile(r"[\W_]+")

_MIN_RATIO = 2.0  # of the lengths: on most pages with both, the visible text is the better one
_MIN_COMMON = 0.5  # of the visible words: otherwise it is a different text


def lines_of(node: HtmlElement) -> str:
    """Return the text of *node* without its buttons and forms, one paragraph per line."""
    return "\n".join(block.text for block in text_blocks(node) if not block.kind & Kind.FORM)


def letters_of(text: str) -> str:
    """Return the letters and digits of *text*, whatever their case."""
    return _NO_LETTERS.sub("", text).casefold()


def as_lines(text: str) -> str:
    """Return *text* with blanks collapsed and empty lines removed."""
    return "\n".join(line for raw in text.splitlines() if (line := " ".join(raw.split())))


def hidden_text(declared: str, seen: str) -> str | None:
    """Return the machine-readable text *declared*, one paragraph per line, if the page shows only some of it, *seen*.

    None if the page shows at least half of it, if *declared* is only the beginning of the article, as it often is to be
    short, or if it is a different text.
    """
    if len(declared) < _MIN_RATIO * len(seen):
        return None
    if _MARKUP.search(declared):
        declared = lines_of(html.fragment_fromstring(declared, create_parent="div"))
    declared = as_lines(declared)
    if not declared or len(declared) < _MIN_RATIO * len(seen) or _CUT_OFF.search(declared):
        return None
    words = set(_WORD.findall(seen.lower()))
    if len(words & set(_WORD.findall(declared.lower()))) < _MIN_COMMON * len(words):
        return None
    return declared


MAX_ELEMENTS = 50_000  # of a page, that are read
MAX_BLOCKS = 5_000  # long pages with comments have 2,000
MAX_LEVELS = 32  # containers of a block, the innermost; others matter little
NAME_CHARS = 200  # of a class or an id that are looked at

_WRAPPER = 0.3  # of the text of the page: an element with more of it is what is around the article
_UNSEEN = frozenset(
    "script style noscript template iframe svg head select option textarea object audio video canvas map".split()  # noqa: SIM905
)
_BLOCKS = frozenset(
    "address article aside blockquote body br button center dd details div dl dt fieldset figcaption figure footer form"  # noqa: SIM905
    " h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td th thead tr ul".split()
)
_KIND_OF_TAG = {
    "li": Kind.ITEM, "dd": Kind.ITEM, "dt": Kind.ITEM, "form": Kind.FORM, "button": Kind.FORM,
    "footer": Kind.FOOTER, "article": Kind.ARTICLE, "main": Kind.ARTICLE,
}  # fmt: skip
# Of names in lower case, behind a blank: so each pattern has few first characters, which `re` looks for quickly.
_COMMENT = re.compile(r"comment|disqus|repl(?:y|ies)|respond|forum|kommentar")
_PROMOTION = re.compile(
    r"[\s_-](?:ads?(?![a-z])|adv|banner|cookie|consent|gdpr|login|menu|nav|newsletter|outbrain|pag(?:er|ination)"
    r"|paywall|popup|promo|recommend|recirc|related|rss|shop|sidebar|sign-?up|sponsor|subscri|taboola|teaser|toolbar"
    r"|trending|widget|most|more|read-?more|infobox|toc|overlay|modal|donat|legal|copyright|foot|masthead|breadcrumb"
    r"|poll|survey|rating|next|prev)",
)
_BYLINE = re.compile(
    r"[\s_-](?:byline|auth?or|bio|profile|caption|credit|meta|shar(?:e|ing)|social|tags?|topics?|date|time"
    r"|publish|kicker|copyright|source|label)",
)
_CAPTION = re.compile(r"caption|image|img|photo|foto|gallery|video|media|figure|picture|player|credit")
_NAMES = (
    (_COMMENT, Kind.COMMENT), (_PROMOTION, Kind.PROMOTION), (_BYLINE, Kind.BYLINE), (_CAPTION, Kind.CAPTION),
)  # fmt: skip


_PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)


def page_tree(utf8: bytes) -> HtmlElement | None:
    """Return the tree of the page *utf8*; None if it has no elements.

    libxml2 limits its depth to 256, so the page need not be flattened as for Lexbor.
    """
    try:
        return html.document_fromstring(thin(utf8), parser=_PARSER)
    except etree.ParserError:
        return None


def text_blocks(tree: HtmlElement) -> list[TextBlock]:
    """Return the blocks of text in the body of the page *tree*, at most `MAX_BLOCKS`, in their order."""
    walk = _Walk()
    body = tree.find("body")
    walk.read(tree if body is None else body)
    return _with_kinds(walk.blocks, walk.kinds)


class _Walk:
    """The way through a page, element by element."""

    def __init__(self) -> None:
        self.blocks: list[TextBlock] = []
        self.kinds: list[int] = []  # of the elements, by their numbers
        self._open: list[tuple[int, str, str]] = []  # number, tag and class of the block elements around
        self._parts: list[str] = []  # of the current block
        self._link_chars = 0
        self._links = 0  # open <a>

    def read(self, root: HtmlElement) -> None:
        self._enter(root)
        elements = 0
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, node in walk:
            if event == "start":
                elements += 1
                if elements > MAX_ELEMENTS or len(self.blocks) >= MAX_BLOCKS:
                    break
                if node.tag in _UNSEEN:
                    walk.skip_subtree()
                    continue
                if node is not root:
                    self._begin(node)
                self._add(node.text)
            elif node is not root:
                if event == "end" and node.tag not in _UNSEEN:
                    self._end(node.tag)
                self._add(node.tail)
        self._flush()

    def _begin(self, node: HtmlElement) -> None:
        if node.tag in _BLOCKS:
            self._flush()
            if node.tag != "br":
                self._enter(node)
        elif node.tag == "a":
            self._links += 1

    def _end(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._flush()
            if tag != "br":
                self._open.pop()
        elif tag == "a":
            self._links -= 1

    def _enter(self, node: HtmlElement) -> None:
        names = (node.get("class") or "")[:NAME_CHARS]
        kind = _KIND_OF_TAG.get(node.tag, 0) | _kind_of_names(f" {names} {(node.get('id') or '')[:NAME_CHARS]}".lower())
        style = node.get("style")
        if node.get("hidden") is not None or (style and "display:none" in style.replace(" ", "").lower()):
            kind |= Kind.HIDDEN
        self._open.append((len(self.kinds), str(node.tag), names))
        self.kinds.append(kind)

    def _add(self, text: str | None) -> None:
        if text:
            self._parts.append(text)
            if self._links:
                self._link_chars += len(text.strip())

    def _flush(self) -> None:
        """End the current block, if it has text."""
        text = " ".join("".join(self._parts).split()) if self._parts else ""
        if text:
            _, tag, names = self._open[-1]
            containers = tuple(number for number, _, _ in self._open[-MAX_LEVELS:])
            look = f"{tag} {names}"
            around = " ".join(self._open[-2][1:]) if len(self._open) > 1 else ""
            link_chars = min(self._link_chars, len(text))
            self.blocks.append(TextBlock(text, link_chars, tag, look, around, containers, 0))
        self._parts.clear()
        self._link_chars = 0


@lru_cache(maxsize=4096)
def _kind_of_names(names: str) -> int:
    return sum(kind for pattern, kind in _NAMES if pattern.search(names))


def _with_kinds(blocks: Sequence[TextBlock], kinds: Sequence[int]) -> list[TextBlock]:
    """Return *blocks* with the kinds of their containers.

    Elements with much of the text of the page say little about it, except that it is an article: many pages have
    a <nav> or a <header> that is never closed, or an outer element with a class for the side bar.
    """
    chars = [0] * len(kinds)
    for block in blocks:
        for container in block.containers:
            chars[container] += len(block.text)
    limit = _WRAPPER * sum(len(block.text) for block in blocks)
    kinds = [kind if size < limit else kind & Kind.ARTICLE for kind, size in zip(kinds, chars, strict=True)]
    found = []
    for block in blocks:
        kind = 0
        for container in block.containers:
            kind |= kinds[container]
        found.append(block._replace(kind=kind))
    return found
