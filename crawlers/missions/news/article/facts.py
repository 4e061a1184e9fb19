"""Cleans what pages say about an article for machines: its description and its keywords."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_KEYWORDS = 50
MAX_KEYWORD = 100  # characters

_MAX_READ = 10_000  # characters of a text
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # databases refuse some of them
_BETWEEN = re.compile(r"[,;|،、，；\n]")


def plain_text(text: str, limit: int) -> str:
    """Return *text* without markup on one line, at most *limit* characters long.

    >>> plain_text(" A <b>storm</b>\\n&amp; a calm ", 100)
    'A storm & a calm'
    """
    text = _TAG.sub("", unescape(text[:_MAX_READ]))
    return " ".join(_UNWRITABLE.sub(" ", text).split())[:limit].rstrip()


def keywords(declared: Sequence[str]) -> tuple[str, ...]:
    """Return the keywords in *declared*, distinct, at most `MAX_KEYWORDS`: a single text is a list of them.

    >>> keywords(["storm, sea, Storm"]), keywords(["Lee, Ann", "storm"])
    (('storm', 'sea'), ('Lee, Ann', 'storm'))
    """
    words = _BETWEEN.split(declared[0][:_MAX_READ]) if len(declared) == 1 else declared
    found: dict[str, str] = {}
    for word in words:
        keyword = plain_text(word, MAX_KEYWORD)
        if keyword and len(found) < MAX_KEYWORDS:
            found.setdefault(keyword.casefold(), keyword)
    return tuple(found.values())
