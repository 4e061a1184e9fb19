"""Finds the news source that a site belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlers.urls.addresses import parents
from crawlers.urls.domains import owner_domain, rule_domain
from crawlers.urls.resolution import parsed, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.items import SiteLimits
    from crawlers.missions.news.urls.rule_learner import UrlRule


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
        return next((self._hosts[name] for name in parents(host) if name in self._hosts), None)


class SourceLeaders:
    """Maps sites to the first site of their source, with which they are crawled by one worker.

    Sources that have a registered domain in common, as their own or as that of another host, count as one: they share
    URL rules, and copies among their articles are found. The domain of a feed belongs to the source if no other source
    has a feed there.

    >>> from crawlers.items import SiteLimits
    >>> names = ("example.org", "example.net", "sport.example.org")
    >>> leaders = SourceLeaders(Source(SiteLimits(f"http://{name}")) for name in names)
    >>> [leaders.of(f"http://{name}") for name in ("www.example.org", "sport.example.org", "example.net:81", "a.test")]
    ['http://example.org', 'http://example.org', 'http://example.net', None]
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._leaders: dict[str, str] = {}  # sites by domain
        self._joined: dict[str, str] = {}  # former leaders -> a later leader of their group
        feeds: dict[str, set[str]] = {}  # domains of sources by those of their feeds
        for source in sources:
            own = owner_domain(source.limits.site)
            leader = self._latest(self._leaders.setdefault(own, source.limits.site))
            for domain in (owner_domain(f"http://{host}") for host in source.hosts):
                former = self._latest(self._leaders.setdefault(domain, leader))
                if former != leader:  # its group joins that of the source
                    self._joined[former] = leader
            for url in (*source.feeds, *source.sitemaps):
                feeds.setdefault(owner_domain(site_of(url)), set()).add(own)
        for domain, owners in feeds.items():
            leaders = {self._latest(self._leaders[owner]) for owner in owners}
            if len(leaders) == 1:
                self._leaders.setdefault(domain, leaders.pop())

    def of(self, site: str) -> str | None:
        """Return the leading site of the source of *site* (scheme://host[:port]); None if it belongs to none."""
        leader = self._leaders.get(owner_domain(site))
        return leader and self._latest(leader)

    def _latest(self, leader: str) -> str:
        """Return the leader of the group that *leader* has joined, and shorten the way there."""
        while (later := self._joined.get(leader)) is not None:
            self._joined[leader] = self._joined.get(later, later)
            leader = later
        return leader
