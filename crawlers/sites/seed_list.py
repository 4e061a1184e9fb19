"""Reads the lists of what to crawl: seeds, as a CSV table or single values on the command line, and hosts.txt.

    number,full_name,short_name,start_url,enabled,parallel,max_level,delay_ms
    1,Zoological Institute,ZIN,http://zin.example/ru/,yes,2,,500

A header line names the columns in any order; `start_url` is required. Cells are separated by commas or
semicolons. A text without such a header is read as a hosts file; it may be separated by commas instead of lines.

    # protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay (ms);=furtherHost;render=playwright
    http://example.com;4;10;500
    https://example.org:8443
    example.net;;3
    https://example.org/docs/;=www.example.org

Fields with a `=` may stand anywhere after the address, and the others keep their order. Trailing fields may be omitted,
any field may be empty, and a host name without a scheme means http; in an alias, both http and https.

A number, a name, a host, a domain or a URL refers to a seed.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crawlers.errors import BadUrl, ConfigError
from crawlers.files.csv_tables import guarded_cell, unguarded
from crawlers.files.text_file import is_whole, place_of, quoted, said_of, shortened_list
from crawlers.items import SiteLimits
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import parsed, resolve, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.items import Seed, SeedChange

_FORM = "protocol://host[:port][/folder/];maxDownloadsAtTime;maxCrawlLevel;crawlDelay;=furtherHost;render=playwright"
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


def format_hosts(sites: Iterable[SiteLimits]) -> str:
    """Return *sites* as a hosts file, with their limits, from their home pages.

    >>> format_hosts([SiteLimits("http://a.example", 2, None, 0.5), SiteLimits("https://b.example")])
    'http://a.example;2;;500\\nhttps://b.example\\n'
    """
    lines = []
    for one in sites:
        delay_ms = None if one.delay_s is None else round(one.delay_s * 1000)
        fields = (one.site, one.parallel, one.max_level, delay_ms)
        lines.append(";".join("" if field is None else str(field) for field in fields).rstrip(";"))
    return "".join(f"{line}\n" for line in lines)


def hosts_line(one: SiteLimits) -> str:
    """Return the line of a hosts file that says all of a site: its folder, limits, aliases and options.

    A comment names a start URL that the line can't say, such as `/ru/` of a seed whose crawl does not stay in `/ru/`.

    >>> hosts_line(parse_hosts("https://a.example/docs/;;3;500;=b.example;render=none", "")[0])
    'https://a.example/docs/;;3;500;=http://b.example;=https://b.example;render=none'
    >>> hosts_line(SiteLimits("https://a.example", max_level=3, start_url="https://a.example/docs/"))
    'https://a.example;;3  # begins at https://a.example/docs/'
    """
    address, comment = f"{one.site}{one.folder}", ""
    if one.start_url and one.start_url != f"{one.site}/":
        if _limits(one.start_url) == (SiteLimits(one.site, start_url=one.start_url, folder=one.folder), []):
            address = one.start_url
        else:
            comment = f"  # begins at {one.start_url}"
    line = format_hosts([replace(one, site=address)]).rstrip()
    further = [*(f"={alias}" for alias in one.aliases), *(f"{name}={value}" for name, value in one.options.items())]
    return ";".join([line, *further]) + comment


def _sites(lines: Iterable[tuple[str, str]], origin: str, remedy: str) -> list[SiteLimits]:
    found: dict[str, SiteLimits] = {}
    places: dict[str, str] = {}  # of sites and their aliases
    problems: list[str] = []
    for place, line in lines:
        text = line.partition("#")[0].strip()
        if not text:
            continue
        limits, wrong = _limits(text)
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


def _limits(text: str) -> tuple[SiteLimits, list[str]]:
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
    if len(fields) > len(_FIELDS):
        wrong.append(f"{len(fields) + 1} fields, expected at most {len(_FIELDS) + 1}")
    parallel, max_level, delay_ms = _numbers([*fields, "", "", ""], wrong)
    aliases = _aliases(site, [field[1:].strip() for field in named if field[0] == "="], wrong)
    options = _options([field for field in named if field[0] != "="], wrong)
    delay_s = None if delay_ms is None else delay_ms / 1000
    return SiteLimits(site, parallel, max_level, delay_s, start_url, folder, aliases, options), wrong


def _numbers(fields: Sequence[str], wrong: list[str]) -> list[int | None]:
    numbers: list[int | None] = []
    for field, (name, least, most) in zip(fields, _FIELDS, strict=False):
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


def find_seed(seeds: Sequence[Seed], text: str) -> Seed:
    """Return the seed that *text* refers to: its number, short name, host, domain, or a URL of its site.

    Hosts discovered by crawls match a host or domain only if no named seed does. Raises `ConfigError` if there is
    no match, or more than one.
    """
    found = matching_seeds(seeds, text)
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(f"{seed.number} ({seed.site})" for seed in found)
        raise ConfigError(f"{quoted(text)} matches several seeds: {several}; give the number of one")
    raise ConfigError(f"{quoted(text)} matches no seed; `scrapy sites list --all` shows all seeds with their numbers")


def matching_seeds(seeds: Sequence[Seed], text: str) -> list[Seed]:
    """Return all seeds that *text* may refer to."""
    wanted = text.strip()
    return (
        [seed for seed in seeds if str(seed.number) == wanted]
        or [seed for seed in seeds if seed.short_name and seed.short_name.casefold() == wanted.casefold()]
        or _of_address(seeds, wanted)
    )


def _of_address(seeds: Sequence[Seed], text: str) -> list[Seed]:
    try:
        site, _ = seed_address(text)
    except ConfigError:
        return []
    if "://" in text:
        return [seed for seed in seeds if seed.site == site]
    host = site.partition("://")[2]
    found = [seed for seed in seeds if host in (seed.site.partition("://")[2], rule_domain(seed.site))]
    return [seed for seed in found if seed.enabled or not seed.is_found] or found


COLUMNS = ("number", "full_name", "short_name", "start_url", "enabled", "parallel", "max_level", "delay_ms")
LIMITS = {"parallel": (1, 1_000), "max_level": (0, 10_000), "delay_ms": (0, 86_400_000)}  # as in hosts.txt

MAX_NUMBER = 1_000_000_000  # leaves room for numbers assigned by the database
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def seed_address(text: str) -> tuple[str, str]:
    """Return site and start URL of an address as people type it; a host name without a scheme means http.

    Raises `ConfigError`.

    >>> seed_address("Example.org/ru/")
    ('http://example.org', 'http://example.org/ru/')
    """
    try:
        return _address(text)
    except ConfigError as wrong:
        raise ConfigError(f"{quoted(text)}: {wrong}") from None


def host_name(text: str) -> str:
    """Return the host that *text* names, without protocol, port and path; raises `ConfigError`."""
    if set(text) & set("/:@?#,"):
        raise ConfigError(text)
    return str(parsed(seed_address(text)[0]).hostname)


def seed_limit(text: str, name: str) -> int:
    """Return the limit *name* (a key of `LIMITS`) given as *text*; raises `ConfigError`."""
    return _number(text, name, *LIMITS[name])


def seed_problems(address: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with the values of which `seed_change` makes a change, by column; "url" is the *address*.

    >>> seed_problems("a.example", {"parallel": "0", "delay_ms": ""})
    {'parallel': "parallel is '0', expected a whole number from 1 to 1000"}
    """
    checks: dict[str, Callable[[], object]] = {"url": partial(seed_address, address)}
    checks |= {name: partial(seed_limit, given[name], name) for name in LIMITS if given.get(name)}
    problems = {}
    for name, check in checks.items():
        try:
            check()
        except ConfigError as error:
            problems[name] = str(error)
    return problems


def seed_change(address: str, given: Mapping[str, str]) -> SeedChange:
    """Return the change of the seed at *address* by values that people typed, by column; an empty one is deleted.

    Raises `ConfigError`.

    >>> seed_change("a.example", {"short_name": "A", "delay_ms": "500", "parallel": ""})
    {'site': 'http://a.example', 'start_url': 'http://a.example/', 'short_name': 'A', 'parallel': None, 'delay_s': 0.5}
    """
    return _change_of(seed_address(address), given)


def _change_of(address: tuple[str, str], given: Mapping[str, str]) -> SeedChange:
    change: SeedChange = {"site": address[0], "start_url": address[1]}
    if "full_name" in given:
        change["name"] = tidy_name(given["full_name"])
    if "short_name" in given:
        change["short_name"] = tidy_name(given["short_name"])
    limits = {name: seed_limit(given[name], name) if given[name] else None for name in LIMITS if name in given}
    if "parallel" in limits:
        change["parallel"] = limits["parallel"]
    if "max_level" in limits:
        change["max_level"] = limits["max_level"]
    if "delay_ms" in limits:
        change["delay_s"] = None if limits["delay_ms"] is None else limits["delay_ms"] / 1000
    return change


def tidy_name(text: str) -> str | None:
    """Return a name as it is stored, on one line with single blanks; None if nothing remains.

    Unprintable characters (control characters, lone surrogates) become U+FFFD.

    >>> tidy_name(" Zoological\\n Institute ")
    'Zoological Institute'
    """
    return " ".join(_UNSHOWN.sub("\ufffd", word) for word in text.split()) or None


def parse_seeds(text: str, origin: str) -> list[SeedChange]:
    """Return the rows of a CSV table or of a hosts file; messages name the file as *origin*, if it is not "".

    Raises `ConfigError` with every faulty line, its problem, and the remedy.

    >>> parse_seeds("start_url;short_name\\nhttp://a.example/ru/;A\\n", "seeds.csv")
    [{'site': 'http://a.example', 'start_url': 'http://a.example/ru/', 'short_name': 'A', 'enabled': True}]
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    header = text.partition("\n")[0]
    delimiter = ";" if header.count(";") > header.count(",") else ","
    try:
        names = [_heading(cell) for cell in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error as error:
        raise ConfigError(f"{place_of(origin, 1)}: not a CSV file ({error}); check the first line") from error
    if not set(names) & set(COLUMNS):
        return _of_hosts(parse_hosts(text, origin), origin)
    _check_header(names, origin)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return _rows(rows, names, origin)
    except csv.Error as error:
        place = place_of(origin, rows.line_num)
        raise ConfigError(f"{place}: not a CSV file ({error}); check the quotation marks") from error


def format_seeds(seeds: Iterable[Seed]) -> str:
    """Return *seeds* as the CSV table that `parse_seeds` reads back."""
    out = io.StringIO(newline="")
    table = csv.writer(out, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for seed in seeds:
        delay_ms = None if seed.delay_s is None else round(seed.delay_s * 1000)
        enabled = "yes" if seed.enabled else "no"
        names = (seed.number, seed.name, seed.short_name, seed.start_url, enabled)
        table.writerow([guarded_cell(cell) for cell in (*names, seed.parallel, seed.max_level, delay_ms)])
    return out.getvalue()


def _of_hosts(sites: Sequence[SiteLimits], origin: str) -> list[SeedChange]:
    problems = [
        said_of(origin, f"the site {limits.site}: a seed has no folder, aliases or further fields")
        for limits in sites
        if limits.folder or limits.aliases or limits.options
    ]
    if problems:
        remedy = "Remove them, or crawl the file itself with -a hosts="
        raise ConfigError("\n".join([*shortened_list(problems), remedy]))
    return [_of_hosts_line(limits) for limits in sites]


def _of_hosts_line(limits: SiteLimits) -> SeedChange:
    change: SeedChange = {
        "site": limits.site,
        "enabled": True,
        "parallel": limits.parallel,
        "max_level": limits.max_level,
        "delay_s": limits.delay_s,
    }
    if limits.start_url is not None:
        change["start_url"] = limits.start_url
    return change


def _heading(cell: str) -> str:
    return cell.strip().lower().replace(" ", "_")


def _check_header(names: Sequence[str], origin: str) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    known = f"the columns are {', '.join(COLUMNS)}"
    if unknown:
        raise ConfigError(said_of(origin, f"unknown column {quoted(unknown[0])}; {known}"))
    doubled = [name for name in COLUMNS if names.count(name) > 1]
    if doubled:
        raise ConfigError(said_of(origin, f"duplicate column {doubled[0]}; remove one of them"))
    if "start_url" not in names:
        raise ConfigError(said_of(origin, f"the column start_url is missing; {known}"))


def _rows(rows: Iterator[list[str]], names: Sequence[str], origin: str) -> list[SeedChange]:
    changes: list[SeedChange] = []
    problems: list[str] = []
    places: dict[str, int] = {}
    for row_number, cells in enumerate(rows, 1):
        if row_number == 1 or not any(cell.strip() for cell in cells):
            continue
        try:
            change = _change(cells, names)
            first = places.setdefault(change["site"], row_number)
            if first != row_number:
                raise ConfigError(f"{change['site']} is already listed in row {first}; keep one of the two")
        except ConfigError as wrong:
            place = f"{origin}, row {row_number}" if origin else f"Row {row_number}"
            problems.append(f"{place}: {wrong}")
        else:
            changes.append(change)
    if problems:
        raise ConfigError("\n".join([*shortened_list(problems), "No seeds were changed; fix the file."]))
    if not changes:
        raise ConfigError(said_of(origin, "no sites found; write one per row"))
    return changes


def _change(cells: Sequence[str], names: Sequence[str]) -> SeedChange:
    if len(cells) != len(names):
        raise ConfigError(f"{len(cells)} cells, expected {len(names)} as in the header line")
    texts = {name: unguarded(cell.strip()) for name, cell in zip(names, cells, strict=True)}
    change = _change_of(_address(texts["start_url"]), texts)
    if texts.get("number"):
        change["number"] = _number(texts["number"], "number", 1, MAX_NUMBER)
    change["enabled"] = _is_yes(texts.get("enabled", ""))
    return change


def _is_yes(text: str) -> bool:
    word = text.lower() or _YES[0]
    if word not in _YES + _NO:
        raise ConfigError(f"enabled is {quoted(text)}, expected yes or no")
    return word in _YES


def _number(text: str, name: str, least: int, most: int) -> int:
    if not is_whole(text, least, most):
        raise ConfigError(f"{name} is {quoted(text)}, expected a whole number from {least} to {most}")
    return int(text)


def _address(text: str) -> tuple[str, str]:
    site, path = site_address(text)
    try:
        return site, resolve(f"{site}{path}", "").url
    except BadUrl:
        raise ConfigError("not the address of a site; write http://host[:port]/ or https://host[:port]/") from None
