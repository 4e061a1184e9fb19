"""Splits URLs into the tokens of rules: segments and parameter values, each of a kind.

The kind of a text is the first one in `KINDS` whose expression it matches. The expressions are also valid for RE2, so
they have no lookaheads.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

_PLAIN = "[^/?&=._-]"  # a character of a word in a title; includes %D0%BF
_PIECE = "[^/?&=.]"  # a character of a title
_LETTER = "[^/?&=.0-9_-]"  # that no date has

KINDS = {
    "empty": "",
    "day": "[0-9]{1,2}",  # also a month, or a page number
    "year": "(?:19|20)[0-9]{2}",
    "date8": "(?:19|20)[0-9]{6}",
    "number": "[0-9]{3,}",
    "word": "[A-Za-z]+",
    "alnum": "(?:[0-9]+[A-Za-z]|[A-Za-z]+[0-9])[A-Za-z0-9]*",
    "odd": f"[A-Za-z0-9]*[^/?&=._A-Za-z0-9-]{_PLAIN}*",  # a word of another alphabet, or with special characters
    "date": "[0-9]+[-_][0-9_-]*",  # 2024-05-01
    "idslug": f"(?:[0-9]{{4,}}[-_][0-9_-]*{_LETTER}{_PIECE}*|[0-9_-]*{_LETTER}{_PIECE}*[-_][0-9]{{4,}})",
    "pair": f"{_PLAIN}*[-_]{_PLAIN}*",  # two words: a section, or a title
    "slug": f"{_PLAIN}*[-_]{_PLAIN}*[-_]{_PIECE}*",
}
OTHER = "other"  # all other texts

# Kinds of which the expressions match texts of earlier kinds, too.
HIDES = {
    "number": frozenset({"year", "date8"}),
    "pair": frozenset({"date", "idslug"}),
    "slug": frozenset({"date", "idslug"}),
}

# A word with a number: /article123456 and /gallery123456 differ, /article123456 and /article123457 do not.
NUMBERED = "#"  # replaces the number; no path or query contains this character
NUMBER = "[0-9]{4,}"
_WITH_NUMBER = re.compile(f"([A-Za-z]{{1,20}}[-_]?){NUMBER}")

# A word with a UUID (RFC 9562), likewise: /article_0b5e..., /video_0b5e...
IDENTIFIED = "##"  # replaces the UUID
UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_WITH_UUID = re.compile(f"([A-Za-z]{{1,20}}[-_]){UUID}")
_SOME_UUID = "a0000000-0000-0000-0000-00000000000a"

_KIND = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in KINDS.items()))


class Token(NamedTuple):
    """A segment of the path (the last one without its extension), or the value of a parameter."""

    text: str  # article# article# for article123456
    kind: str


class Shape(NamedTuple):
    """The common shape of the URLs of a rule: number of segments, extension, and names of parameters in order."""

    segments: int
    extension: str  # with its dot, or ""
    parameters: tuple[str, ...] | None  # "id=" for id=5, "" for a value without a name; None without a query


class UrlTokens(NamedTuple):
    """The tokens of a URL: those of its segments, then those of the values of its parameters."""

    shape: Shape
    tokens: tuple[Token, ...]


def kind_of(text: str) -> str:
    """Return the kind of *text*, one of `KINDS` or `OTHER`; *text* may be that of a `Token`.

    >>> [kind_of(text) for text in ("2024", "17", "politics", "who-won-the-cup", "cup-123456", "v1.2")]
    ['year', 'day', 'word', 'slug', 'idslug', 'other']
    """
    match = _KIND.fullmatch(text.replace(IDENTIFIED, _SOME_UUID).replace(NUMBERED, "0000"))
    return match.lastgroup or OTHER if match else OTHER


def target_of_url(url: str) -> str:
    """Return path and query of *url*, against which rules are matched.

    >>> target_of_url("https://example.com/story.php?id=5#top")
    '/story.php?id=5'
    """
    parts = urlsplit(url)
    query = "?" + parts.query if "?" in url.partition("#")[0] else ""
    return f"{parts.path or '/'}{query}"


def tokens_of(target: str) -> UrlTokens | None:
    """Return the tokens of *target*, a path and query; None for URLs from which no rules are learnt.

    Those are URLs with an empty segment, or with an extension without a name.

    >>> tokens_of("/news/who-won-it.html").shape
    Shape(segments=2, extension='.html', parameters=None)
    """
    path, mark, query = target.partition("?")
    texts = path.split("/")[1:]
    if texts and not texts[-1]:
        texts = texts[:-1]  # a slash at the end
    if not all(texts):
        return None
    extension = ""
    if texts and "." in texts[-1]:
        texts[-1], dot, suffix = texts[-1].rpartition(".")
        extension = dot + suffix
        if not texts[-1]:
            return None
    pairs = [one.partition("=") if "=" in one else ("", "", one) for one in query.split("&")] if mark else []
    shape = Shape(len(texts), extension, tuple(name + equals for name, equals, _ in pairs) if mark else None)
    return UrlTokens(shape, tuple(map(_token, [*texts, *(value for _, _, value in pairs)])))


def _token(text: str) -> Token:
    kind = kind_of(text)
    if match := _WITH_NUMBER.fullmatch(text):
        return Token(match[1] + NUMBERED, kind)
    if kind == "slug" and (match := _WITH_UUID.fullmatch(text)):  # a UUID may end with a number, but seldom does
        return Token(match[1] + IDENTIFIED, kind)
    return Token(text, kind)
