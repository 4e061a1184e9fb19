"""Reads hosts.txt: the sites of a crawl, with their limits; and lists of sites that people type.

    # protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay (ms);=furtherHost;render=playwright
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

from crawlers.errors import BadUrl, ConfigError
from crawlers.files.text_file import is_whole, place_of, quoted, said_of, shortened_list
from crawlers.items import SiteLimits
from crawlers.urls.resolution import parsed, resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FORM = "protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay;=furtherHost;render=playwright"
LINES = f"Write one site per line: {_FORM}; all but the host may be left out."
ITEMS = f"Write each site as {_FORM}; all but the host may be left out."
# The names of the fields `name=value`, with their values.
OPTIONS: Mapping[str, Sequence[str]] = {"render": ("playwright", "none")}

MAX_ALIASES = 100  # of a site

FIELDS = (  # with their bounds
    ("maxDownloadsAtTime", 1, 1_000),
    ("maxCrawlLevel", 0, 10_000),
    ("crawlDelay", 0, 86_400_000),
)
_ADDRESS = re.compile(r"(?:([^:/?#]*)://)?([^/?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"\[[0-9a-f:]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?")
_IPV4 = re.compile(r"[0-9.]+")


def parse_hosts(text: str, origin: str) -> list[SiteLimits]:
    """Return the sites in *text* of a hosts file, in file order; messages name the file as *origin*.

    Without an *origin*, as of a text that was typed into a form, they name the lines only. Raises `ConfigError`
    with the line, text and problem of every faulty field, one a line, and the remedy.

    >>> parse_hosts("example.com;4;10;500  # slowly", "hosts.txt")  # doctest: +ELLIPSIS
    [SiteLimits(site='http://example.com', parallel=4, max_level=10, delay_s=0.5, ...)]
    >>> (limits,) = parse_hosts("https://example.org/docs/;=www.example.org", "hosts.txt")
    >>> limits.folder, limits.aliases
    ('/docs/', ('http://www.example.org', 'https://www.example.org'))
    """
    # splitlines() would also split at U+2028 and the like, where no editor starts a new line.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _sites(((place_of(origin, number), line) for number, line in enumerate(lines, 1)), origin, LINES)


def parse_host_list(text: str) -> list[SiteLimits]:
    """Return the sites in a comma-separated *text*; in all other respects like `parse_hosts`.

    >>> [limits.site for limits in parse_host_list("a.example,https://b.example;4;3;500")]
    ['http://a.example', 'https://b.example']
    """
    return _sites(((f"hosts, item {number}", part) for number, part in enumerate(text.split(","), 1)), "hosts", ITEMS)


def _sites(lines: Iterable[tuple[str, str]], origin: str, remedy: str) -> list[SiteLimits]:
    found: dict[str, SiteLimits] = {}
    places: dict[str, str] = {}  # of sites and their aliases
    problems: list[str] = []
    for place, line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        limits, wrong = limits_in(text)
        addresses = [address for address in (limits.site, *limits.aliases) if address]
        if (twice := next((address for address in addresses if address in places), None)) is not None:
            wrong.append(_twice(twice, limits, found, places[twice]))
        where = f"{place}: {quoted(text)}" if wrong else ""  # once, as a line may have thousands of aliases
        problems += [f"{where}: {problem}" for problem in wrong]
        found.setdefault(limits.site, limits)
        for address in addresses:
            places.setdefault(address, place if origin else place.lower())
    if problems:
        raise ConfigError("\n".join([*shortened_list(problems), remedy]))
    if not found:
        raise ConfigError(said_of(origin, f"no sites found. {remedy}"))
    return list(found.values())


def _twice(address: str, limits: SiteLimits, found: Mapping[str, SiteLimits], place: str) -> str:
    if address == limits.site and address in found:
        if limits.folder != found[address].folder:
            return (
                f"{address} is already listed at {place}, with another folder; list the host once, with a folder that "
                "contains both, and choose its parts with URL_INCLUDE, or crawl each folder under a name of its own, "
                "with CRAWL"
            )
        return f"{address} is already listed at {place}; keep one of the two"
    return f"{address} is already a site or an alias at {place}; an address belongs to one site: remove one of the two"


def limits_in(text: str) -> tuple[SiteLimits, list[str]]:
    """Return the limits of a line, without its faulty fields (the site may be ""), and the problems of these."""
    address, *others = (field.strip() for field in text.split(";"))
    fields = [field for field in others if "=" not in field]
    named = [field for field in others if "=" in field]
    while fields and not fields[-1]:
        fields.pop()
    wrong: list[str] = []
    site, start_url, folder = "", None, ""
    try:
        site, path = site_address(address)
        start_url, folder = _start(site, path)
    except ConfigError as problem:
        wrong.append(str(problem))
    if len(fields) > len(FIELDS):
        wrong.append(f"{len(fields) + 1} fields, expected at most {len(FIELDS) + 1}")
    parallel, max_level, delay_ms = _numbers([*fields, "", "", ""], wrong)
    aliases = _aliases(site, [field[1:].strip() for field in named if field[0] == "="], wrong)
    options = _options([field for field in named if field[0] != "="], wrong)
    delay_s = None if delay_ms is None else delay_ms / 1000
    return SiteLimits(site, parallel, max_level, delay_s, start_url, folder, aliases, options), wrong


def _numbers(fields: Sequence[str], wrong: list[str]) -> list[int | None]:
    numbers: list[int | None] = []
    for field, (name, least, most) in zip(fields, FIELDS, strict=False):
        is_number = is_whole(field, least, most)
        if field and not is_number:
            wrong.append(f"{name} is {field[:20]!r}, expected a whole number from {least} to {most}")
        numbers.append(int(field) if is_number else None)
    return numbers


def _start(site: str, path: str) -> tuple[str | None, str]:
    """Return the start URL (None: the root) and the folder ("": the whole site) of a *path* of the site."""
    if path in ("", "/"):
        return None, ""
    try:
        start_url = resolve(f"{site}{path}", "").url
    except BadUrl as error:
        raise ConfigError(f"the path is wrong: {error}; write protocol://host/folder/") from None
    folder, _, page = start_url[len(site) :].partition("?")[0].rpartition("/")
    if page and "." not in page:  # /docs is /docs/, as in the normal form of URLs
        folder = f"{folder}/{page}"
    return start_url, f"{folder}/" if folder else ""


def _aliases(site: str, texts: Sequence[str], wrong: list[str]) -> tuple[str, ...]:
    aliases: dict[str, None] = {}
    for text in texts:
        try:
            aliases |= dict.fromkeys(_alias(site, text))
        except ConfigError as problem:
            wrong.append(str(problem))
    if len(aliases) > MAX_ALIASES:
        wrong.append(f"{len(aliases)} aliases, expected at most {MAX_ALIASES}")
    return tuple(aliases)


def _alias(site: str, text: str) -> list[str]:
    """Return the addresses of one alias."""
    if not text:
        raise ConfigError("the host of an alias is missing; write =host")
    found = []
    for address in [text] if "://" in text else [f"http://{text}", f"https://{text}"]:
        try:
            alias, path = site_address(address)
        except ConfigError as problem:
            raise ConfigError(f"the alias {quoted(text)}: {problem}") from None
        if path not in ("", "/"):
            raise ConfigError(f"the alias {quoted(text)} has a path; an alias is a whole host: write =host")
        found.append(alias)
    if found == [site]:
        raise ConfigError(f"the alias {quoted(text)} is the site itself; remove it")
    return [alias for alias in found if alias != site]


def _options(fields: Sequence[str], wrong: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for field in fields:
        name, _, value = (part.strip() for part in field.partition("="))
        if name not in OPTIONS:
            wrong.append(f"unknown field {quoted(field)}; known are {', '.join(OPTIONS)}")
            continue
        if value not in OPTIONS[name]:
            wrong.append(f"{name} is {quoted(value)}, expected one of: {', '.join(OPTIONS[name])}")
        if name in options:
            wrong.append(f"{name} is given twice; keep one of the two")
        options[name] = value
    return options


def site_address(address: str) -> tuple[str, str]:
    """Return the site and the path of an address as it stands in a hosts file.

    Raises `ConfigError` with what is wrong and what to write instead.

    >>> site_address("Example.org:80/docs/")
    ('http://example.org', '/docs/')
    """
    match = _ADDRESS.fullmatch(address)
    assert match
    scheme, host_port, rest = match.groups()
    scheme = "http" if scheme is None else scheme.lower()
    if scheme not in ("http", "https"):
        raise ConfigError(f"unsupported protocol {scheme[:20]!r}; expected http or https")
    if "@" in address:
        raise ConfigError("user names are not supported; remove everything up to the @")
    if "," in host_port:
        raise ConfigError("a line has one site; write each site on a line of its own, without commas")
    if not host_port:
        raise ConfigError(f"the host is missing; write {scheme}://host")
    if (name := host_port.lower().removesuffix(":")) in ("http", "https"):  # of http:/host or http//host
        raise ConfigError(f"{host_port} is not a host; write {name}://host")
    if any(one <= " " for one in host_port):  # the URL standard removes tabs silently
        raise ConfigError("a host name must not contain spaces; remove them, or write each site on a line of its own")
    try:
        site = site_of(f"{scheme}://{host_port}/")
        host = parsed(site).hostname
    except BadUrl:
        raise ConfigError("invalid host name or port; write host or host:port") from None
    if any(one <= " " for one in rest):
        raise ConfigError("a path must not contain spaces; remove them, or write them as %20")
    if not _HOST.fullmatch(host):
        raise ConfigError("a host name may contain only letters, digits, dots and hyphens")
    if ".." in host:
        raise ConfigError("a host name must not contain two dots in a row; remove one")
    if _IPV4.fullmatch(host) and host != host_port.partition(":")[0]:
        raise ConfigError(f"incomplete IP address (browsers read it as {host}); write it in full")
    return site, rest
