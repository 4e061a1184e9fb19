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

_MIN_SHARE = 0.8  # of the length of the visible text: a shorter machine-readable text is only its beginning
_MIN_COMMON = 0.5  # of its words: otherwise it is a different text
_LINE_HEAD = 40  # characters that identify a line: the rest may differ in blanks
_MIN_LEAD = 80  # characters: long enough for a sentence, too long for a name or date


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


def whole_text(declared: str, seen: str) -> str | None:
    """Return the machine-readable text *declared* in the paragraphs of the text *seen*; None if it is incomplete.

    Machine-readable text contains no boxes and links between paragraphs, but often no paragraphs either. Behind
    paywalls, or to be short, it is only the beginning of the article.
    """
    if _MARKUP.search(declared):
        declared = lines_of(html.fragment_fromstring(declared, create_parent="div"))
    declared = as_lines(declared)
    if not declared or len(declared) < _MIN_SHARE * len(seen) or _CUT_OFF.search(declared):
        return None
    words = set(_WORD.findall(seen.lower()))
    if words and len(words & set(_WORD.findall(declared.lower()))) < _MIN_COMMON * len(words):
        return None
    return _in_paragraphs(declared, seen)


def _in_paragraphs(declared: str, seen: str) -> str:
    """Return *declared*, broken where a line of *seen* begins or ends, after the lead that precedes it there."""
    breaks: set[int] = set()
    before: list[str] = []
    start = 0
    for line in seen.splitlines():
        found = declared.find(line[:_LINE_HEAD], start)
        if found >= 0:
            breaks.add(found)
            start = found + len(line[:_LINE_HEAD])
            if declared.startswith(line, found):
                start = found + len(line)
                breaks.add(start)
        elif not breaks and len(line) >= _MIN_LEAD:
            before.append(line)
    ends = sorted(breaks - {0, len(declared)})
    parts = [declared[one:other] for one, other in zip([0, *ends], [*ends, len(declared)], strict=True)]
    return as_lines("\n".join([*(before if breaks else ()), *parts]))
