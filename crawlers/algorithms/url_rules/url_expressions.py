"""Expressions of URL rules: RE2 syntax, which is matched in linear time.

RE2 has no lookaheads: `/news/.* except /news/page/.*` defines exceptions. URLs contain no spaces, so ` except ` is
unambiguous. Expressions must match the whole part after the host: path and query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import re2

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCEPT = " except "
MEMORY_BYTES = 1 << 20  # of one rule: a learnt one uses some 10 KB, a list of 500 directories 170 KB
_ANYTHING = "(?s).*"
_AT_MOST = re.compile(r"(?<!\\)\{(,[0-9]+)\}")  # text in RE2, but a repetition in Python

_REMEDIES = (  # RE2's message, and ours
    (
        r"perl operator: \(\?[=!<]",
        "RE2 has no lookaheads and lookbehinds; "
        f"write what the rule leaves out at its end, as in '/news/.*{EXCEPT}/news/page/.*'",
    ),
    (r"escape sequence: \\[1-9]|perl operator: \(\?P", "RE2 has no references to groups; write the text itself"),
    (r"escape sequence: \\Z", r"RE2 has no \Z; leave it out, a rule is matched up to the end of the URL"),
    ("repetition size", "a repetition is invalid or of more than 1,000; correct it, or write + or *"),
)


class UrlExpressions:
    """Several expressions that are matched at once; raises `ConfigError` for an invalid one.

    >>> UrlExpressions(["/news/.* except /news/page/.*", "/.*[0-9]"]).fitting("/news/page/2")
    [1]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._set = re2.Set.FullMatchSet(_options(MEMORY_BYTES * max(len(texts), 1)))
        self._set.Add(_ANYTHING)
        numbers: dict[str, int] = {}  # of the parts, in the set
        self._rules: dict[int, list[tuple[int, frozenset[int]]]] = {}  # a part -> places of rules, and their exceptions
        for place, text in enumerate(texts):
            for part in (parts := text.split(EXCEPT)):
                if part not in numbers:
                    numbers[part] = self._added(part)
            first, *exceptions = (numbers[part] for part in parts)
            self._rules.setdefault(first, []).append((place, frozenset(exceptions)))
        try:
            self._set.Compile()
        except re2.error:
            raise ConfigError(f"{_shown(' '.join(texts))} is too large; make several smaller rules of it") from None

    def fitting(self, target: str) -> list[int]:
        """Return the places of the expressions that *target* matches, in any order."""
        found = self._set.Match(target.encode())
        if found is None:  # `_ANYTHING` always matches, so RE2's set ran out of memory
            raise MemoryError(f"RE2 ran out of memory while it matched {_shown(target)}")
        if len(found) == 1:
            return []
        return [
            place
            for number in found
            for place, exceptions in self._rules.get(number, ())
            if exceptions.isdisjoint(found)
        ]

    def _added(self, part: str) -> int:
        if match := _AT_MOST.search(part):
            raise ConfigError(f"{_shown(part)}: RE2 takes {match[0]} as text; write {{0{match[1]}}}")
        try:
            number: int = self._set.Add(part)
        except re2.error:
            raise ConfigError(f"{_shown(part)}: {_problem(part)}") from None
        return number


def check_expression(text: str) -> None:
    """Raise `ConfigError` with the reason if *text* is not a valid expression of a rule.

    >>> check_expression("/news/[^/?]+-[0-9]+/?")
    >>> check_expression("/(?!video/).*")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    crawlers.errors.ConfigError: '/(?!video/).*': RE2 has no lookaheads and lookbehinds; write what ...
    """
    UrlExpressions([text])


def is_expression(text: str) -> bool:
    """Return whether *text* is a valid expression of a rule."""
    try:
        check_expression(text)
    except ConfigError:
        return False
    return True


def fits(text: str, target: str) -> bool:
    """Return whether *target*, a path and query, matches the expression *text*."""
    return bool(UrlExpressions([text]).fitting(target))


def _problem(part: str) -> str:
    """Return why RE2 rejects *part*, and the remedy."""
    said = ""
    try:
        re2.compile(part, _options(MEMORY_BYTES))
    except re2.error as error:
        said = error.args[0].decode()
    for reason, sentence in _REMEDIES:
        if re.search(reason, said):
            return sentence
    return f"RE2 can't read it ({said}); correct it, see https://github.com/google/re2/wiki/Syntax"


def _options(max_mem: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False  # they would go to standard error; they are raised instead
    options.never_capture = True
    options.max_mem = max_mem
    return options


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 200 else f"{text[:200]!r}…"
