"""The scope of a crawl: the sites that may be crawled, and the URLs that a user selects.

That is done by expressions of RE2, which take linear time whatever people write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import re2

from crawlers.errors import ConfigError
from crawlers.reasons import Reason
from crawlers.urls.addresses import parents
from crawlers.urls.url_expressions import MEMORY_BYTES, add, matches, options

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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


SITES, ALL = "sites", "all"
SITES_CACHED = 100_000  # sites whose result is cached; for others, it is computed each time
_DOMAIN = re.compile(r"(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*")


class Scope:
    """The sites that *scope* includes, in addition to the listed *sites*.

    *scope* is "sites" for none, "all" for all, or a list of domains with their subdomains ("example.org,example.com").
    Raises `ConfigError` for an invalid domain.

    >>> scope = Scope("example.org", ["http://a.example"])
    >>> [scope.holds(site) for site in ("https://www.example.org", "http://a.example", "http://notexample.org")]
    [True, True, False]
    """

    def __init__(self, scope: str, sites: Collection[str]) -> None:
        self.is_all = scope.strip().lower() == ALL
        names = () if self.is_all or scope.strip().lower() == SITES else scope.split(",")
        self._set(frozenset(sites), frozenset(_domain(name) for name in names), frozenset())

    def _set(self, sites: frozenset[str], domains: frozenset[str], excluded: frozenset[str]) -> None:
        self._sites, self._domains, self.excluded = sites, domains, excluded
        self._known: dict[str, bool] = {}  # results, by site

    @classmethod
    def of_hosts(cls, hosts: Iterable[str], sites: Collection[str]) -> Scope:
        """Return the scope of *sites*, and of all *hosts* and their subdomains, whose names are not checked."""
        scope = cls(SITES, ())
        scope._set(frozenset(sites), frozenset(hosts), frozenset())
        return scope

    def excluding(self, sites: Iterable[str]) -> Scope:
        """Return the scope without *sites*, even if they are listed."""
        scope = Scope(ALL if self.is_all else SITES, ())
        scope._set(self._sites, self._domains, frozenset(sites))
        return scope

    @property
    def is_open(self) -> bool:
        """Whether sites that are not listed can be in scope."""
        return self.is_all or bool(self._domains)

    def holds(self, site: str) -> bool:
        """Return whether *site* (scheme://host[:port]) is in scope."""
        if site in self.excluded:
            return False
        if site in self._sites or self.is_all:
            return True
        if not self._domains:
            return False
        known = self._known.get(site)
        if known is None:
            host = urlsplit(site).hostname or ""
            known = any(name in self._domains for name in parents(host))
            if len(self._known) < SITES_CACHED:
                self._known[site] = known
        return known


def _domain(name: str) -> str:
    domain = name.strip().lower().strip(".")
    if not _DOMAIN.fullmatch(domain) or domain in (SITES, ALL, "none"):
        raise ConfigError(
            f"SCOPE: {name.strip()!r} is not a domain; give {SITES} (the listed ones), {ALL}, or domains separated "
            "by commas, such as example.org,example.com"
        )
    return domain
