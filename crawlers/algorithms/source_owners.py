"""Which source of news a site belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.source_fields import rule_domain
from crawlers.algorithms.urls import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable


class SourceOwners:
    """Of sources (site, other hosts of it): each has its own site, its domain, its hosts, and what is below these.

    >>> owners = SourceOwners([("https://www.example.org", ["example.net"]), ("http://sport.example.org", [])])
    >>> [owners.of(site) for site in ("http://a.example.net", "https://sport.example.org", "http://example.com")]
    ['https://www.example.org', 'http://sport.example.org', None]
    """

    def __init__(self, sources: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._sites: set[str] = set()
        self._hosts: dict[str, str] = {}
        for site, hosts in sources:
            self._sites.add(site)
            for host in (rule_domain(site), *hosts):
                self._hosts.setdefault(host, site)

    def of(self, site: str) -> str | None:
        """Return the site of the source that *site* (scheme://host[:port]) belongs to; None if there is none."""
        if site in self._sites:
            return site
        host = str(parsed(site).hostname)
        while host and host not in self._hosts:
            host = host.partition(".")[2]
        return self._hosts.get(host)
