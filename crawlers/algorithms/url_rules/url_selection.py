"""The URLs that a user selects by expressions of RE2, which take linear time whatever people write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import re2

from crawlers.algorithms.url_rules.url_expressions import MEMORY_BYTES, SYNTAX, options, shown, syntax_problem
from crawlers.errors import ConfigError
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SHOWN = 200  # characters of an expression in a reason
_ANYTHING = ""


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
        self._set: re2.Set | None = None  # None: everything is selected
        if not self.include and not self.exclude:
            return
        self._set = re2.Set.SearchSet(options(MEMORY_BYTES * (len(self.include) + len(self.exclude))))
        for name, expressions in (("URL_EXCLUDE", self.exclude), ("URL_INCLUDE", self.include)):
            for expression in expressions:
                self._add(name, expression)
        self._set.Add(_ANYTHING)  # always found, so a result without it means that RE2 ran out of memory
        try:
            self._set.Compile()
        except re2.error:
            raise ConfigError("URL_INCLUDE and URL_EXCLUDE are too large; write fewer or shorter expressions") from None

    def reason_against(self, url: str) -> str | None:
        """Return why *url* is not selected, or None."""
        if self._set is None:
            return None
        found = self._set.Match(url.encode())
        if found is None:
            raise MemoryError(f"RE2 ran out of memory while matching {shown(url)}")
        first = min(found)
        if first < self._excludes:
            return Reason.EXCLUDED.of(self.exclude[first][:MAX_SHOWN])
        if self.include and first == self._excludes + len(self.include):
            return Reason.NOT_INCLUDED
        return None

    def _add(self, name: str, expression: str) -> None:
        assert self._set is not None
        try:
            self._set.Add(expression)
        except UnicodeEncodeError:  # a lone surrogate
            raise ConfigError(f"{name}: {shown(expression)!r} is not valid text; write it in UTF-8") from None
        except re2.error:
            raise ConfigError(f"{name}: {shown(expression)}: {_problem(name, expression)}") from None


def _problem(name: str, expression: str) -> str:
    message = ""
    try:
        re2.compile(expression, options(MEMORY_BYTES))
    except re2.error as error:
        message = error.args[0].decode()
    if "(?" in message:
        remedy = "write what they exclude into URL_EXCLUDE" if name == "URL_INCLUDE" else "write it without them"
        return f"RE2 does not support lookaheads and lookbehinds; {remedy}, {SYNTAX}"
    return syntax_problem(message)
