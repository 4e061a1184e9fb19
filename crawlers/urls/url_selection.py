"""The URLs that a user selects by expressions of RE2, which take linear time whatever people write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import re2

from crawlers.errors import ConfigError
from crawlers.reasons import Reason
from crawlers.urls.url_expressions import MEMORY_BYTES, add, matches, options

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
        for name, expressions, instead in (
            ("URL_EXCLUDE", self.exclude, "write it without them"),
            ("URL_INCLUDE", self.include, "write what they exclude into URL_EXCLUDE"),
        ):
            for expression in expressions:
                try:
                    add(self._set, expression, instead)
                except ConfigError as error:
                    raise ConfigError(f"{name}: {error}") from None
        self._set.Add(_ANYTHING)
        try:
            self._set.Compile()
        except re2.error:
            raise ConfigError("URL_INCLUDE and URL_EXCLUDE are too large; write fewer or shorter expressions") from None

    def reason_against(self, url: str) -> str | None:
        """Return why *url* is not selected, or None."""
        if self._set is None:
            return None
        first = min(matches(self._set, url))
        if first < self._excludes:
            return Reason.EXCLUDED.of(self.exclude[first][:MAX_SHOWN])
        if self.include and first == self._excludes + len(self.include):
            return Reason.NOT_INCLUDED
        return None
