r"""Is a regular expression safe to match with URLs that strangers write?

Python's `re` goes back when a match fails: with a loop in a loop, as in `(a+)+b`, its time doubles with each letter,
and with three loops that can take the same letters, as in `.*-.*-.*`, it grows with the third power of their number.
Refused are those, and a few that would be harmless.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

REGEX_MAX = 500
COMPETING_MAX = 2  # loops over the same letters: quadratic, some 10 ms for the longest URL
LOOP_MIN = 16  # a repetition that may be longer is a loop
WAYS_MAX = 64  # through the alternatives
_ALPHABET = [*map(chr, range(33, 127)), "é"]
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*)(,?)(\d*)\})[?+]?")
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((\?(?:[:>]|[aimsux]*(?:-[imsx]+)?:|<?[=!]))?")
_NO_WIDTH = ("^", "$", r"\b", r"\B", r"\A", r"\Z")


class _Item(NamedTuple):
    letters: frozenset[str]
    is_needed: bool = True
    is_loop: bool = False


_Way = tuple[_Item, ...]  # through the alternatives of an expression


def check_regex(text: str) -> None:
    """Raise `ConfigError`, which says why, if *text* is no expression that a rule may have.

    >>> check_regex("/news/[^/?]+-[0-9]+/?")
    >>> check_regex("/(?:[a-z]+-?)+/")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    crawlers.errors.ConfigError: '/(?:[a-z]+-?)+/': (?:[a-z]+-?)+ repeats what has repetitions or alternatives ...
    """
    if len(text) > REGEX_MAX:
        raise ConfigError(f"{text[:80]!r}…: has {len(text)} characters, write at most {REGEX_MAX}.")
    try:
        re.compile(text)
        re.compile(f"(?:{text})")  # as one of several
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigError(f"{text!r}: is no regular expression ({error}), correct it.") from None
    for way in _Parser(text).ways():
        _check_way(text, way)


class _Parser:
    """Reads an expression that compiles."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def ways(self) -> list[_Way]:
        """The ways through all alternatives up to the end of this group, or of the text."""
        found: list[_Way] = []
        parts: list[list[_Way]] = []
        while self._at < len(self._text) and self._text[self._at] != ")":
            if self._text[self._at] == "|":
                self._at += 1
                found += self._joined(parts)
                parts = []
            else:
                parts.append(self._quantified())
        return found + self._joined(parts)

    def _joined(self, parts: list[list[_Way]]) -> list[_Way]:
        count = 1
        for ways in parts:
            count *= len(ways)
            if count > WAYS_MAX:
                self._refuse("has too many alternatives with repetitions in them: make it several rules")
        return [tuple(item for way in ways for item in way) for ways in product(*parts)]

    def _quantified(self) -> list[_Way]:
        start = self._at
        ways = self._atom()
        match = _QUANTIFIER.match(self._text, self._at)
        if match is None or match[0] in ("{}", "{,}"):
            return ways
        self._at = match.end()
        sign, least, comma, most = match.groups()
        low = int(sign == "+") if sign else int(least or 0)
        high = 1 if sign == "?" else None if sign or (comma and not most) else int(most or least)
        if high is not None and high <= 1:
            if low > 0:
                return ways
            return [*ways, ()] if len(ways) > 1 else [tuple(item._replace(is_needed=False) for item in ways[0])]
        if self._text[start] == "(" and (
            len(ways) > 1
            or any(item.is_loop or not item.is_needed for item in ways[0])
            or "|" in self._text[start : self._at]
        ):
            self._refuse(
                f"{self._text[start : self._at]} repeats what has repetitions or alternatives in it, "
                "which can take for ever: write the parts one after the other"
            )
        letters = frozenset().union(*(item.letters for item in ways[0]))
        is_loop = high is None or high > LOOP_MIN
        return [(_Item(letters, is_needed=low > 0, is_loop=is_loop),)]

    def _atom(self) -> list[_Way]:
        text = self._text
        if text[self._at] == "(":
            return self._group()
        match = (
            _ESCAPE if text[self._at] == "\\" else _SET if text[self._at] == "[" else re.compile(".", re.DOTALL)
        ).match(text, self._at)
        assert match
        self._at = match.end()
        if match[0] in _NO_WIDTH:
            return [()]
        if match[0][0] == "\\" and match[0][1].isdigit():
            self._refuse(f"{match[0]} is a reference to a group or a character by number: write the text itself")
        return [(_Item(_letters(match[0])),)]

    def _group(self) -> list[_Way]:
        match = _GROUP.match(self._text, self._at)
        assert match
        if match[1] is None and self._text[match.end() :].startswith("?"):
            self._refuse("has a group with a name, a comment or a condition: write (?:…)")
        self._at = match.end()
        ways = self.ways()
        self._at += 1
        if match[1] and match[1][-1] in "=!":
            for way in ways:
                _check_way(self._text, way)
            return [()]
        if any(item.is_loop for way in ways for item in way):
            return ways
        # Without loops, what matters to those around it are the letters that it may have.
        letters = frozenset().union(*(item.letters for way in ways for item in way))
        return (
            [(_Item(letters),)]
            if all(any(item.is_needed for item in way) for way in ways)
            else [(_Item(letters, is_needed=False),)]
        )

    def _refuse(self, why: str) -> None:
        raise ConfigError(f"{self._text!r}: {why}.")


def _check_way(text: str, way: _Way) -> None:
    """Refuse *way* if too many of its loops can take the same letters, one after the other."""
    longest: dict[int, int] = {}
    for place, item in enumerate(way):
        if item.is_loop:
            longest[place] = 1 + max((longest[one] for one in longest if _compete(way, one, place)), default=0)
            if longest[place] > COMPETING_MAX:
                raise ConfigError(
                    f"{text!r}: has {longest[place]} repetitions that can take the same characters, which takes long: "
                    "write [^/?]* for .*, or [^/?-]* before a hyphen."
                )


def _compete(way: _Way, first: int, second: int) -> bool:
    common = way[first].letters & way[second].letters
    return bool(common) and all(item.letters & common for item in _needed(way[first + 1 : second]))


def _needed(items: _Way) -> Iterator[_Item]:
    return (item for item in items if item.is_needed)


@lru_cache(maxsize=1_024)
def _letters(atom: str) -> frozenset[str]:
    regex = re.compile(atom, re.DOTALL | re.IGNORECASE)  # (?i:…) may stand around it
    return frozenset(letter for letter in _ALPHABET if regex.fullmatch(letter))
