"""Expressions of URL rules, and of the URLs that a user selects: RE2 syntax, matched in linear time.

A rule may have exceptions: RE2 does not support lookaheads, and `/news/.* except /news/page/.*` says the same. URLs
contain no spaces, so ` except ` is unambiguous. A rule must match the whole part after the host, path and query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import re2

from crawlers.errors import ConfigError
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCEPT = " except "
SYNTAX = "see https://github.com/google/re2/wiki/Syntax"
MAX_SHOWN = 200  # characters of an expression in a reason
MEMORY_BYTES = 1 << 20  # limit per rule: a learnt one takes some 10 KB, a list of 500 directories 170 KB
_ANYTHING = "(?s).*"
_AT_MOST = re.compile(r"(?<!\\)\{(,[0-9]+)\}")  # literal text in RE2, a repetition in Python

_LOOKAHEAD = r"perl operator: \(\?[=!<]"  # RE2's message about one, or a lookbehind
_REMEDIES = (  # pattern of RE2's message, and our message
    (
        r"escape sequence: \\[1-9]|perl operator: \(\?P",
        "RE2 does not support backreferences; repeat the text or the expression",
    ),
    (r"escape sequence: \\Z", r"RE2 does not support \Z; write $, or nothing: a rule matches the whole path and query"),
    ("repetition size", "a repetition count is invalid or above 1,000; correct it, or write + or *"),
)


class UrlExpressions:
    """Several expressions that are matched at once; raises `ConfigError` if one is invalid or too large.

    >>> UrlExpressions(["/news/.* except /news/page/.*", "/.*[0-9]"]).matching("/news/page/2")
    [1]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._set = re2.Set.FullMatchSet(options(MEMORY_BYTES * max(len(texts), 1)))
        self._set.Add(_ANYTHING)  # so a result without a match means that RE2 ran out of memory
        numbers: dict[str, int] = {}  # of the parts of expressions, in the set
        self._rules: dict[int, list[tuple[int, frozenset[int]]]] = {}  # first part -> (index, exceptions) of each rule
        for index, text in enumerate(texts):
            for part in (parts := text.split(EXCEPT)):
                if part not in numbers:
                    numbers[part] = self._added(part)
            first, *exceptions = (numbers[part] for part in parts)
            self._rules.setdefault(first, []).append((index, frozenset(exceptions)))
        try:
            self._set.Compile()
        except re2.error:
            raise ConfigError(f"{quoted(' '.join(texts))} is too large; split it into several rules") from None

    def matching(self, target: str) -> list[int]:
        """Return the indices of the expressions that *target*, a path and query, matches; in any order."""
        found = matches(self._set, target)
        if len(found) == 1:
            return []
        return [
            index
            for number in found
            for index, exceptions in self._rules.get(number, ())
            if exceptions.isdisjoint(found)
        ]

    def _added(self, part: str) -> int:
        if match := _AT_MOST.search(part):
            raise ConfigError(f"{quoted(part)}: RE2 treats {match[0]} as literal text; write {{0{match[1]}}}")
        return add(self._set, part, f"append exceptions to the rule, as in '/news/.*{EXCEPT}/news/page/.*'")


class UrlSelection:
    """URLs in which an expression of *include* is found, or any if there is none, but no expression of *exclude*.

    All expressions are matched at once. Raises `ConfigError`, with the name of the setting, for an invalid one.

    >>> selection = UrlSelection(include=["^https://a[.]example/"], exclude=["/print/", "[?&]sort="])
    >>> selection.reason_against("https://a.example/b/"), selection.reason_against("https://a.example/print/b/")
    (None, 'excluded /print/')
    >>> selection.reason_against("https://b.example/")
    <Reason.NOT_INCLUDED: 'not_included'>
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self.include, self.exclude = tuple(include), tuple(exclude)
        self._excludes = len(self.exclude)
        self._set = re2.Set.SearchSet(options(MEMORY_BYTES * (len(self.include) + len(self.exclude))))
        for name, expressions, instead in (
            ("URL_EXCLUDE", self.exclude, "write it without them"),
            ("URL_INCLUDE", self.include, "write what they exclude into URL_EXCLUDE"),
        ):
            for expression in expressions:
                try:
                    add(self._set, expression, instead)
                except ConfigError as error:
                    raise ConfigError(f"{name}: {error}") from None
        self._set.Add("")
        try:
            self._set.Compile()
        except re2.error:
            raise ConfigError("URL_INCLUDE and URL_EXCLUDE are too large; write fewer or shorter expressions") from None

    def reason_against(self, url: str) -> str | None:
        """Return why *url* is not selected, or None."""
        first = min(matches(self._set, url))
        if first < self._excludes:
            return Reason.EXCLUDED.of(self.exclude[first][:MAX_SHOWN])
        if self.include and first == self._excludes + len(self.include):
            return Reason.NOT_INCLUDED
        return None


def add(expressions: re2.Set, text: str, instead: str) -> int:
    """Add *text* to *expressions*, and return its number there.

    Raises `ConfigError` for an invalid one; *instead* is the remedy if RE2 lacks what it asks for.
    """
    try:
        number: int = expressions.Add(text)
    except UnicodeEncodeError:  # a lone surrogate
        raise ConfigError(f"{quoted(text)!r} is not valid text; write it in UTF-8") from None
    except re2.error:
        raise ConfigError(f"{quoted(text)}: {_problem(text, instead)}") from None
    return number


def matches(expressions: re2.Set, text: str) -> list[int]:
    """Return the numbers of those of *expressions* that match *text*, one of which matches every text."""
    found: list[int] | None = expressions.Match(text.encode())
    if found is None:
        raise MemoryError(f"RE2 ran out of memory while matching {quoted(text)}")
    return found


def check_expression(text: str) -> None:
    """Raise `ConfigError` with the reason if *text* is not a valid expression of a rule.

    >>> check_expression("/news/[^/?]+-[0-9]+/?")
    >>> check_expression("/(?!video/).*")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    crawlers.errors.ConfigError: '/(?!video/).*': RE2 does not support lookaheads and lookbehinds; append ...
    """
    UrlExpressions([text])


def is_expression(text: str) -> bool:
    """Return whether *text* is a valid expression of a rule."""
    try:
        check_expression(text)
    except ConfigError:
        return False
    return True


def _problem(part: str, instead: str) -> str:
    """Return why RE2 rejects *part*, and the remedy."""
    message = ""
    try:
        re2.compile(part, options(MEMORY_BYTES))
    except re2.error as error:
        message = error.args[0].decode()
    if re.search(_LOOKAHEAD, message):
        return f"RE2 does not support lookaheads and lookbehinds; {instead}"
    for pattern, remedy in _REMEDIES:
        if re.search(pattern, message):
            return remedy
    problem, _, part = message.partition(": ")
    place = f" in {quoted(part)}" if part else ""
    return f"RE2 cannot parse it: {problem}{place}; correct it, {SYNTAX}"


def options(max_mem: int) -> re2.Options:
    """Return options of RE2 with a limit of *max_mem* bytes; errors are raised, and not written to standard error."""
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.never_capture = True
    chosen.max_mem = max_mem
    return chosen


def quoted(text: str) -> str:
    """Return an expression as quoted in messages."""
    return repr(text) if len(text) <= 200 else f"{text[:200]!r}…"
