"""Finds the news source that a site belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.algorithms.url_rules.rule_learner import UrlRule
    from crawlers.items import SiteLimits


@dataclass(frozen=True, slots=True)
class Source:
    """A site that publishes news, as configured."""

    limits: SiteLimits
    name: str | None = None
    feeds: tuple[str, ...] = ()  # absolute URLs
    sitemaps: tuple[str, ...] = ()  # absolute URLs
    rules: tuple[UrlRule, ...] = ()  # manual ones
    content: dict[str, str] = field(default_factory=dict)  # part of an article -> its selector
    language: str | None = None  # ISO 639
    region: str | None = None
    hosts: tuple[str, ...] = ()  # further hosts with pages of the source

    @property
    def domain(self) -> str:
        """The domain of its rules; see `rule_domain`."""
        return rule_domain(self.limits.site)


class SourceOwners:
    """Maps sites to *sources*, pairs of a site and its other hosts.

    A source owns its site, its domain, its other hosts, and all their subdomains; the longest matching host counts.

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
