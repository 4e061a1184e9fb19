"""The sites that may be crawled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.errors import ConfigError
from crawlers.urls.addresses import parents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
