"""Groups sites for comparison: by host, or by registered domain.

The Public Suffix List decides what a registered domain is: the list that comes with the project, or that of
`use_suffixes`, which holds for the whole process. Nothing is downloaded.

References
----------
.. [1] https://github.com/publicsuffix/list/wiki/Format
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files  # also works if the package is not a folder (zip)
from typing import TYPE_CHECKING, NamedTuple

from crawlers.urls.addresses import is_address
from crawlers.urls.resolution import parsed

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

    The private section of the list also counts: sites of a hosting provider (name.github.io) or of a city (name.spb.ru)
    are separate; otherwise they would form one giant domain to which all others link.

    >>> domain_group("https://www.lib.example.co.uk"), domain_group("http://127.0.0.1:8600")
    ('example.co.uk', '127.0.0.1:8600')
    """
    authority = host_group(site)
    return _registered(authority.partition(":")[0]) or authority


def is_same_domain(site: str, other: str) -> bool:
    """Return whether two sites (scheme://host[:port]) have the same host, but for `www.`, or registered domain.

    >>> is_same_domain("http://example.org", "https://www.example.org"), is_same_domain("http://[::1]:81", "http://[::1]")
    (True, True)
    >>> is_same_domain("https://a.github.io", "https://b.github.io"), is_same_domain("http://127.0.0.1", "http://1.0.0.1")
    (False, False)
    """
    hosts = [str(parsed(name).hostname).removeprefix("www.") for name in (site, other)]
    domains = {_registered(host) for host in hosts}
    return hosts[0] == hosts[1] or (len(domains) == 1 and "" not in domains)


_RULE = re.compile(r"^(?!//)(\*\.|!|)(\S+)", re.MULTILINE)  # up to the first blank
_VERSION = re.compile(r"^// VERSION: (\S+)", re.MULTILINE)
_chosen: SuffixList | None = None

GROUPS: dict[str, Callable[[str], str]] = {"host": host_group, "domain": domain_group}


class SuffixList(NamedTuple):
    """A Public Suffix List: its version, "" if it names none, and its rules in lower-case ASCII, as hosts are."""

    version: str
    rules: frozenset[str]


def suffix_list(text: str) -> SuffixList:
    """Return the list in the file *text*. Raises `ValueError` if it isn't one, or only the beginning of one.

    >>> suffix_list("uk\\n*.ck // all\\n!www.ck\\n// ===END PRIVATE DOMAINS===").rules == {"uk", "*.ck", "!www.ck"}
    True
    """
    if "===END PRIVATE DOMAINS===" not in text:
        raise ValueError("not a complete Public Suffix List; see https://publicsuffix.org/list/")
    rules = (
        mark + (name.lower() if name.isascii() else str(parsed(f"http://{name}").hostname))
        for mark, name in _RULE.findall(text)
    )
    return SuffixList(_version_in(text), frozenset(rules))


def _version_in(text: str) -> str:
    found = _VERSION.search(text)
    return "" if found is None else found[1]


def use_suffixes(suffixes: SuffixList | None) -> None:
    """Use *suffixes* in this process; None: those that come with the project."""
    global _chosen
    _chosen = suffixes


def suffixes_in_use() -> SuffixList:
    """Return the list of this process."""
    return _chosen or _shipped()


def version_in_use() -> str:
    """Return the version of the list of this process, without reading the rules of that of the project."""
    return _version_in(_shipped_text()) if _chosen is None else _chosen.version


@cache
def _shipped() -> SuffixList:
    return suffix_list(_shipped_text())


def _shipped_text() -> str:
    return files(__package__).joinpath("public_suffix_list.dat").read_text("utf-8")


def _registered(host: str) -> str:
    """Return the registered domain of *host*; "" if it is an address, a public suffix, or has no suffix of the list."""
    rules = suffixes_in_use().rules
    labels = host.removesuffix(".").split(".")
    for start, label in enumerate(labels):  # the longest rule decides, but for exceptions
        suffix = ".".join(labels[start:])
        if f"!{suffix}" in rules:
            return suffix
        if suffix in rules or f"*{suffix.removeprefix(label)}" in rules:
            return ".".join(labels[start - 1 :]) if start and labels[start - 1] else ""
    return ""


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
    if is_address(host.strip("[]")):
        return host
    return _registered(host) or ".".join(host.split(".")[-2:])


def is_in_domain(url: str, domain: str) -> bool:
    """Return whether the host of the absolute *url* is *domain* or below it; raise `BadUrl` for an invalid *url*.

    >>> is_in_domain("http://www.example.org/x", "example.org"), is_in_domain("http://an-example.org", "example.org")
    (True, False)
    """
    host = str(parsed(url).hostname)
    return host == domain or host.endswith(f".{domain}")
