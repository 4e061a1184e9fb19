"""The sites that may be crawled, and which of their new URLs are worth a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.errors import ConfigError
from crawlers.reasons import Reason
from crawlers.urls.addresses import parents
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import resolve
from crawlers.urls.trap_watch import shape_reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from crawlers.items import Target
    from crawlers.urls.url_expressions import UrlSelection

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


class UrlFilter:
    """Rejects by the *selection* of the user and the *folders* of sites, /path/ by site; by extension (*extensions*:
    lower case, without dot); and, with *traps*, by the URL's shape. *options* are the steps of the normal form.
    """

    def __init__(
        self,
        extensions: Iterable[str] = (),
        *,
        traps: bool = True,
        selection: UrlSelection | None = None,
        folders: Mapping[str, str] | None = None,
        options: Normalization | None = None,
    ) -> None:
        self._extensions = frozenset(e.lower().lstrip(".") for e in extensions)
        self._traps = traps
        self._selection = selection
        self._options = options or Normalization()
        self._folders = dict(self._of_folder(*one) for one in (folders or {}).items())
        self._always: set[int] = set()

    def _of_folder(self, site: str, folder: str) -> tuple[str, tuple[str, str]]:
        """Return the site as targets name it, and the folder with the beginning of the paths in it."""
        target = resolve(f"{site}{folder}", "", self._options)
        return target.site, (folder, _path_of(target).rstrip("/") + "/")

    def select(self, target: Target) -> bool:
        """Select a start URL whatever folder and selection say; return whether it is in the folder of its site."""
        self._always.add(target.key)
        return self._is_in_folder(target, _path_of(target))

    def reason_against(self, target: Target) -> str | None:
        """
        >>> UrlFilter(["pdf"]).reason_against(resolve("http://a.example/", "/x.PDF?page=2"))
        'extension pdf'
        """
        path = _path_of(target)  # all variants of a URL share one verdict
        if target.key not in self._always and (reason := self._not_selected(target, path)) is not None:
            return reason
        _, dot, extension = path.rpartition("/")[2].rpartition(".")
        if dot and extension.lower() in self._extensions:
            return Reason.EXTENSION.of(extension.lower())
        return shape_reason(target.normalized) if self._traps else None

    def leaves_out(self, target: Target) -> bool:
        """Return whether folder and selection leave a URL out. Changes nothing, so that any thread may call it."""
        if target.key in self._always:
            return False
        return self._not_selected(target, _path_of(target)) is not None

    def _not_selected(self, target: Target, path: str) -> str | None:
        if not self._is_in_folder(target, path):
            return Reason.OUTSIDE_FOLDER.of(self._folders[target.site][0])
        return None if self._selection is None else self._selection.reason_against(target.normalized)

    def _is_in_folder(self, target: Target, path: str) -> bool:
        if target.site not in self._folders:
            return True
        prefix = self._folders[target.site][1]
        return path.startswith(prefix) or f"{path}/" == prefix


def _path_of(target: Target) -> str:
    """Return the path of a normal form, which has one; `urlsplit` takes ten times as long."""
    url = target.normalized.partition("#")[0].partition("?")[0]
    return url[url.find("/", 8) :]
