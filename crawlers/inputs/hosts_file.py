"""Reads the list of sites to crawl: hosts.txt, or a comma-separated text.

    # protocol://host[:port];maxDownloadsAtTime;maxCrawlLevel;crawlDelay (ms)
    http://example.com;4;10;500
    https://example.org:8443
    example.net;;3

Trailing fields may be omitted, any field may be empty, and a host name without a scheme means http.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlers.algorithms.urls.resolution import parsed, site_of
from crawlers.errors import BadUrl, ConfigError
from crawlers.inputs.text_file import shortened_list, shown
from crawlers.items import SiteLimits

if TYPE_CHECKING:
    from collections.abc import Iterable


REMEDY = "Write one site per line: protocol://host[:port];maxDownloadsAtTime;maxCrawlLevel;crawlDelay"

_FIELDS = (
    ("maxDownloadsAtTime", 1, 1_000),
    ("maxCrawlLevel", 0, 10_000),
    ("crawlDelay", 0, 86_400_000),
)
_ADDRESS = re.compile(r"(?:([^:/?#]*)://)?([^/?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"\[[0-9a-f:]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?")
_IPV4 = re.compile(r"[0-9.]+")


def parse_hosts(text: str, origin: str) -> list[SiteLimits]:
    """Return the sites in *text* of a hosts file, in file order; messages name the file as *origin*.

    Raises `ConfigError` with every faulty line, its problem, and the remedy.

    >>> parse_hosts("example.com;4;10;500  # slowly", "hosts.txt")
    [SiteLimits(site='http://example.com', parallel=4, max_level=10, delay_s=0.5, start_url=None)]
    """
    # splitlines() would also split at U+2028 and the like, where no editor starts a new line.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _sites(((f"{origin}:{number}", line) for number, line in enumerate(lines, 1)), origin)


def parse_host_list(text: str, origin: str = "hosts") -> list[SiteLimits]:
    """Return the sites in a comma-separated *text*; in all other respects like `parse_hosts`.

    >>> [limits.site for limits in parse_host_list("a.example,https://b.example;4;3;500")]
    ['http://a.example', 'https://b.example']
    """
    return _sites(((f"{origin}, item {number}", part) for number, part in enumerate(text.split(","), 1)), origin)


class _InvalidLine(Exception):
    """The problem of one line."""


def _sites(lines: Iterable[tuple[str, str]], origin: str) -> list[SiteLimits]:
    found: dict[str, SiteLimits] = {}
    places: dict[str, str] = {}
    problems: list[str] = []
    for place, line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            limits = _limits(text)
            if limits.site in found:
                raise _InvalidLine(f"{limits.site} is already listed at {places[limits.site]}; keep one of the two")
        except _InvalidLine as wrong:
            problems.append(f"{place}: {shown(text)}: {wrong}")
            continue
        found[limits.site] = limits
        places[limits.site] = place
    if problems:
        raise ConfigError("\n".join([*shortened_list(problems), f"{REMEDY}."]))
    if not found:
        raise ConfigError(f"{origin}: no sites found. {REMEDY}.")
    return list(found.values())


def _limits(text: str) -> SiteLimits:
    address, *fields = (field.strip() for field in text.split(";"))
    while fields and not fields[-1]:
        fields.pop()
    if len(fields) > len(_FIELDS):
        raise _InvalidLine(f"{len(fields) + 1} fields, expected at most {len(_FIELDS) + 1}")
    site = _site(address)
    fields += [""] * (len(_FIELDS) - len(fields))
    parallel, max_level, delay_ms = (
        _number(field, name, least, most) for field, (name, least, most) in zip(fields, _FIELDS, strict=True)
    )
    return SiteLimits(site, parallel, max_level, None if delay_ms is None else delay_ms / 1000)


def _number(text: str, name: str, least: int, most: int) -> int | None:
    if not text:
        return None
    # The length is checked first because int() rejects thousands of digits with a different error.
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and least <= int(text) <= most):
        raise _InvalidLine(f"{name} is {text[:20]!r}, expected a whole number from {least} to {most}")
    return int(text)


def _site(address: str) -> str:
    match = _ADDRESS.fullmatch(address)
    assert match
    scheme, host_port, rest = match.groups()
    scheme = "http" if scheme is None else scheme.lower()
    if scheme not in ("http", "https"):
        raise _InvalidLine(f"unsupported protocol {scheme[:20]!r}; expected http or https")
    if "@" in address:
        raise _InvalidLine("user names are not supported; remove everything up to the @")
    if "," in host_port:
        raise _InvalidLine("a line has one site; write each site on a line of its own, without commas")
    if rest not in ("", "/"):
        raise _InvalidLine("a site must not have a path; remove it, since a crawl starts at /")
    if not host_port:
        raise _InvalidLine("the host is missing")
    if any(one <= " " for one in host_port):  # the URL standard removes tabs silently
        raise _InvalidLine("a host name must not contain spaces; remove them")
    try:
        site = site_of(f"{scheme}://{host_port}/")
        host = parsed(site).hostname
    except BadUrl:
        raise _InvalidLine("invalid host name or port; write host or host:port") from None
    if not _HOST.fullmatch(host):
        raise _InvalidLine("a host name may contain only letters, digits, dots and hyphens")
    if _IPV4.fullmatch(host) and host != host_port.partition(":")[0]:
        raise _InvalidLine(f"incomplete IP address (browsers read it as {host}); write it in full")
    return site
