"""Reads the list of seeds, a CSV table, and single values of seeds as people type them.

    number,full_name,short_name,start_url,enabled,parallel,max_level,delay_ms
    1,Zoological Institute,ZIN,http://zin.example/ru/,yes,2,,500

A header line names the columns in any order; `start_url` is required. Cells are separated by commas or
semicolons. A text without such a header is read as a hosts file (see `hosts_file`).

A number, a name, a host, a domain or a URL refers to a seed.
"""

from __future__ import annotations

import csv
import io
import re
from functools import partial
from typing import TYPE_CHECKING

from crawlers.errors import BadUrl, ConfigError
from crawlers.files.csv_tables import guarded_cell, unguarded
from crawlers.files.text_file import is_whole, place_of, quoted, said_of, shortened_list
from crawlers.sites.hosts_file import FIELDS, parse_hosts, site_address
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import parsed, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlers.items import SiteLimits
    from crawlers.store.sites.seeds import Seed, SeedChange

COLUMNS = ("number", "full_name", "short_name", "start_url", "enabled", "parallel", "max_level", "delay_ms")
LIMITS = {name: bounds for name, (_, *bounds) in zip(COLUMNS[-3:], FIELDS, strict=True)}

MAX_NUMBER = 1_000_000_000  # leaves room for numbers assigned by the database
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


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
