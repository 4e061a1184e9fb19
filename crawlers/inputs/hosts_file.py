"""Reads the list of sites to crawl: hosts.txt, or a comma-separated text.

    # protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay (ms);=alias;name=value
    http://example.com;4;10;500
    https://example.org:8443
    example.net;;3
    https://example.org/docs/;=www.example.org

Fields with a `=` may stand anywhere after the address, and the others keep their order. Trailing fields may be omitted,
any field may be empty, and a host name without a scheme means http; in an alias, both http and https.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlers.algorithms.urls.resolution import parsed, resolve, site_of
from crawlers.errors import BadUrl, ConfigError
from crawlers.inputs.text_file import shortened_list, shown
from crawlers.items import SiteLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_FORM = "protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay;=alias;name=value"
LINES = f"Write one site per line: {_FORM}; all but the host may be left out."
ITEMS = f"Write each site as {_FORM}; all but the host may be left out."
# The names of the fields `name=value`, with their values.
OPTIONS: Mapping[str, Sequence[str]] = {"render": ("playwright", "none")}

MAX_ALIASES = 100  # of a site

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

    >>> parse_hosts("example.com;4;10;500  # slowly", "hosts.txt")  # doctest: +ELLIPSIS
    [SiteLimits(site='http://example.com', parallel=4, max_level=10, delay_s=0.5, ...)]
    >>> (limits,) = parse_hosts("https://example.org/docs/;=www.example.org", "hosts.txt")
    >>> limits.folder, limits.aliases
    ('/docs/', ('http://www.example.org', 'https://www.example.org'))
    """
    # splitlines() would also split at U+2028 and the like, where no editor starts a new line.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _sites(((f"{origin}:{number}", line) for number, line in enumerate(lines, 1)), origin, LINES)


def parse_host_list(text: str, origin: str = "hosts") -> list[SiteLimits]:
    """Return the sites in a comma-separated *text*; in all other respects like `parse_hosts`.

    >>> [limits.site for limits in parse_host_list("a.example,https://b.example;4;3;500")]
    ['http://a.example', 'https://b.example']
    """
    return _sites(((f"{origin}, item {number}", part) for number, part in enumerate(text.split(","), 1)), origin, ITEMS)


class _InvalidLine(Exception):
    """The problem of one line."""


def _sites(lines: Iterable[tuple[str, str]], origin: str, remedy: str) -> list[SiteLimits]:
    found: dict[str, SiteLimits] = {}
    places: dict[str, str] = {}  # of sites and their aliases
    problems: list[str] = []
    for place, line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            limits = _limits(text)
            for address in (limits.site, *limits.aliases):
                if address in places:
                    raise _InvalidLine(_listed_twice(address, limits, found, places[address]))
        except _InvalidLine as wrong:
            problems.append(f"{place}: {shown(text)}: {wrong}")
            continue
        found[limits.site] = limits
        places |= dict.fromkeys((limits.site, *limits.aliases), place)
    if problems:
        raise ConfigError("\n".join([*shortened_list(problems), remedy]))
    if not found:
        raise ConfigError(f"{origin}: no sites found. {remedy}")
    return list(found.values())


def _listed_twice(address: str, limits: SiteLimits, found: Mapping[str, SiteLimits], place: str) -> str:
    if address == limits.site and address in found:
        if limits.folder != found[address].folder:
            return (
                f"{address} is already listed at {place}, with another folder; list the host once, with a folder that "
                "contains both, and choose its parts with URL_INCLUDE, or crawl each folder under a name of its own, "
                "with CRAWL"
            )
        return f"{address} is already listed at {place}; keep one of the two"
    return f"{address} is already a site or an alias at {place}; an address belongs to one site: remove one of the two"


def _limits(text: str) -> SiteLimits:
    address, *others = (field.strip() for field in text.split(";"))
    fields = [field for field in others if "=" not in field]
    named = [field for field in others if "=" in field]
    while fields and not fields[-1]:
        fields.pop()
    if len(fields) > len(_FIELDS):
        raise _InvalidLine(f"{len(fields) + 1} fields, expected at most {len(_FIELDS) + 1}")
    site, path = _site(address)
    fields += [""] * (len(_FIELDS) - len(fields))
    wrong = [
        f"{name} is {field[:20]!r}, expected a whole number from {least} to {most}"
        for field, (name, least, most) in zip(fields, _FIELDS, strict=True)
        if field and not _is_number(field, least, most)
    ]
    if wrong:
        raise _InvalidLine("; ".join(wrong))
    parallel, max_level, delay_ms = (int(field) if field else None for field in fields)
    start_url, folder = _start(site, path)
    aliases = _aliases(site, [field[1:].strip() for field in named if field[0] == "="])
    options = _options([field for field in named if field[0] != "="])
    delay_s = None if delay_ms is None else delay_ms / 1000
    return SiteLimits(site, parallel, max_level, delay_s, start_url, folder, aliases, options)


def _start(site: str, path: str) -> tuple[str | None, str]:
    """Return the start URL (None: the root) and the folder ("": the whole site) of a *path* of the site."""
    if path in ("", "/"):
        return None, ""
    try:
        start_url = resolve(f"{site}{path}", "").url
    except BadUrl as error:
        raise _InvalidLine(f"the path is wrong: {error}; write protocol://host/folder/") from None
    folder, _, page = start_url[len(site) :].partition("?")[0].rpartition("/")
    if page and "." not in page:  # /docs is /docs/, as in the normal form of URLs
        folder = f"{folder}/{page}"
    return start_url, f"{folder}/" if folder else ""


def _aliases(site: str, texts: Sequence[str]) -> tuple[str, ...]:
    aliases: dict[str, None] = {}
    for text in texts:
        if not text:
            raise _InvalidLine("the host of an alias is missing; write =host")
        addresses = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
        found = []
        for address in addresses:
            alias, path = _site(address)
            if path not in ("", "/"):
                raise _InvalidLine(f"the alias {shown(text)} has a path; an alias is a whole host: write =host")
            found.append(alias)
        if found == [site]:
            raise _InvalidLine(f"the alias {shown(text)} is the site itself; remove it")
        aliases |= dict.fromkeys(alias for alias in found if alias != site)
    if len(aliases) > MAX_ALIASES:
        raise _InvalidLine(f"{len(aliases)} aliases, expected at most {MAX_ALIASES}")
    return tuple(aliases)


def _options(fields: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for field in fields:
        name, _, value = (part.strip() for part in field.partition("="))
        if name not in OPTIONS:
            raise _InvalidLine(f"unknown field {shown(field)}; known are {', '.join(OPTIONS)}")
        if value not in OPTIONS[name]:
            raise _InvalidLine(f"{name} is {shown(value)}, expected one of: {', '.join(OPTIONS[name])}")
        if name in options:
            raise _InvalidLine(f"{name} is given twice; keep one of the two")
        options[name] = value
    return options


def _is_number(text: str, least: int, most: int) -> bool:
    # The length is checked first because int() rejects thousands of digits with a different error.
    return text.isascii() and text.isdigit() and len(text) <= 12 and least <= int(text) <= most


def _site(address: str) -> tuple[str, str]:
    """Return the site and the rest of *address*, its path."""
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
    if not host_port:
        raise _InvalidLine("the host is missing")
    if host_port.lower() in ("http:", "https:"):
        raise _InvalidLine(f"a slash is missing; write {host_port.lower()}//host")
    if any(one <= " " for one in host_port):  # the URL standard removes tabs silently
        raise _InvalidLine("a host name must not contain spaces; remove them")
    try:
        site = site_of(f"{scheme}://{host_port}/")
        host = parsed(site).hostname
    except BadUrl:
        raise _InvalidLine("invalid host name or port; write host or host:port") from None
    if any(one <= " " for one in rest):
        raise _InvalidLine("a path must not contain spaces; remove them, or write them as %20")
    if not _HOST.fullmatch(host):
        raise _InvalidLine("a host name may contain only letters, digits, dots and hyphens")
    if ".." in host:
        raise _InvalidLine("a host name must not contain two dots in a row; remove one")
    if _IPV4.fullmatch(host) and host != host_port.partition(":")[0]:
        raise _InvalidLine(f"incomplete IP address (browsers read it as {host}); write it in full")
    return site, rest
