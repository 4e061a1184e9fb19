"""The text of an article with one line per paragraph: from elements, and from machine-readable data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree, html

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LINES = frozenset(
    b"address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main"
    b" nav ol p pre section table td th tr ul".decode().split()
)
_UNSEEN = frozenset(["script", "style", "noscript", "template", "iframe", "svg", "button", "form", "head"])
_MARKUP = re.compile(r"</?(?:p|br|div|h[1-6]|li|ul|a|b|i|em|strong|span)\b[^>]*>", re.I)
_CUT_OFF = re.compile(r"(?:…|\.\.\.|\[\+?\d* ?\w*\])\s*\Z")
_WORD = re.compile(r"\w+")

_MIN_RATIO = 2.0  # of the lengths: on most pages with both, the visible text is the better one
_MIN_COMMON = 0.5  # of the visible words: otherwise it is a different text


def lines_of(node: HtmlElement) -> str:
    """Return the visible text of *node*, one paragraph per line."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end", "comment", "pi"))
    for event, part in walk:
        if part.tag in _LINES:
            parts.append("\n")
        if event != "start":
            text = None if part is node else part.tail
        elif part.tag in _UNSEEN:
            walk.skip_subtree()
            text = None
        else:
            text = part.text
        # Line breaks in the source are blanks.
        parts.append(" ".join(text.split("\n")) if text else "")
    return as_lines("".join(parts))


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
