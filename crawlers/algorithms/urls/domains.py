"""Groups sites for comparison: by host, or by registered domain."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import tldextract

from crawlers.algorithms.urls.resolution import parsed

if TYPE_CHECKING:
    from collections.abc import Callable


def host_group(site: str) -> str:
    """Return host[:port] of *site* (scheme://host[:port]): http and https are one group, with and without www. are two.

    >>> host_group("https://www.example.org"), host_group("http://example.org:8080")
    ('www.example.org', 'example.org:8080')
    """
    return site.partition("://")[2]


def domain_group(site: str) -> str:
    """Return the registered domain of *site*; for IP addresses and hosts without a public suffix, host[:port].

    The suffixes are those of the Public Suffix List in tldextract, without network access. Its private section also
    counts: sites of a hosting provider (name.github.io) or of a city (name.spb.ru) are separate; otherwise they would
    form one giant domain to which all others link.

    >>> domain_group("https://www.lib.example.co.uk"), domain_group("http://127.0.0.1:8600")
    ('example.co.uk', '127.0.0.1:8600')
    """
    authority = host_group(site)
    return _suffixes()(authority).top_domain_under_public_suffix or authority


def is_same_domain(site: str, other: str) -> bool:
    """Return whether two sites (scheme://host[:port]) have the same host, but for `www.`, or registered domain.

    >>> is_same_domain("http://example.org", "https://www.example.org"), is_same_domain("http://[::1]:81", "http://[::1]")
    (True, True)
    >>> is_same_domain("https://a.github.io", "https://b.github.io"), is_same_domain("http://127.0.0.1", "http://1.0.0.1")
    (False, False)
    """
    hosts = [str(parsed(name).hostname).removeprefix("www.") for name in (site, other)]
    domains = {_suffixes()(host).top_domain_under_public_suffix for host in hosts}
    return hosts[0] == hosts[1] or (len(domains) == 1 and "" not in domains)


GROUPS: dict[str, Callable[[str], str]] = {"host": host_group, "domain": domain_group}


@lru_cache(maxsize=1)
def _suffixes() -> tldextract.TLDExtract:
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


def rule_domain(site: str) -> str:
    """Return the domain under which rules for *site* (scheme://host[:port]) are stored: its host without `www.`.

    >>> rule_domain("https://www.example.org:8443"), rule_domain("http://sport.example.org")
    ('example.org', 'sport.example.org')
    """
    host = str(parsed(site).hostname)
    bare = host.removeprefix("www.")
    return bare if "." in bare else host


def owner_domain(site: str) -> str:
    """Return the registered domain of *site*, without its port; for IP addresses, the address.

    Sites with different ones share neither URL rules nor documents. Of names without a public suffix, the last two
    parts count.

    >>> owner_domain("https://news.example.co.uk:8443"), owner_domain("http://127.0.0.1:8600")
    ('example.co.uk', '127.0.0.1')
    """
    host = str(parsed(site).hostname)
    found = _suffixes()(host)
    if found.ipv4 or found.ipv6 or ":" in host:
        return host
    return found.top_domain_under_public_suffix or ".".join(host.split(".")[-2:])


def is_in_domain(url: str, domain: str) -> bool:
    """Return whether the host of the absolute *url* is *domain* or below it; raise `BadUrl` for an invalid *url*.

    >>> is_in_domain("http://www.example.org/x", "example.org"), is_in_domain("http://an-example.org", "example.org")
    (True, False)
    """
    host = str(parsed(url).hostname)
    return host == domain or host.endswith(f".{domain}")
