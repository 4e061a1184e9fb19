r"""Reads the news sources that people list in sources.yaml.

```yaml
sources:
  - example.org                                   # a site is enough: its feeds and rules are discovered
  - site: https://www.example.com
    name: The Example
    feeds: [/rss.xml, https://feeds.example.net/politics]   # addresses, or paths of the site
    sitemaps: [/news-sitemap.xml]
    rules:                                        # which URLs are articles: regexes for the part after the host
      - '/\d{4}/\d{2}/\d{2}/[^/]+/?'
      - {regex: '/video/.*', weight: 0}           # weights from 0 to 1; 0: never an article
    content:                                      # where each part is on the page: CSS, or XPath from /
      text: div.article-body
      title: h1
      published: //time/@datetime
    language: en
    region: GB
    parallel: 1
    max_level: 8
    delay_ms: 1000
    hosts: [sport.example.net, cdn.example.net]   # further hosts of the source; subdomains are included
```
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from crawlers.errors import BadUrl, ConfigError
from crawlers.files.text_file import quoted, read_text, shortened_list
from crawlers.files.yaml_reader import (
    Item,
    Problem,
    converted,
    fields_of,
    item_of,
    items_of,
    line_of,
    nodes_of,
    optional,
    read_entries,
)
from crawlers.items import SiteLimits
from crawlers.missions.news.feeds.sources import Source
from crawlers.missions.news.urls.rule_learner import HAND, UrlRule
from crawlers.sites.seed_list import LIMITS, host_name, seed_address, seed_limit, tidy_name
from crawlers.urls.resolution import resolve, without_credentials
from crawlers.urls.url_expressions import EXCEPT, check_expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.files.yaml_reader import Field, Node

MAX_BYTES = 50_000_000  # of a file: 100,000 sources, each with feeds and rules
MAX_VALUES = 1_000  # feeds, rules or hosts of one source; a longer list is a mistake
MAX_TEXT = 500  # characters of a name or selector

PARTS = ("title", "text", "published", "authors", "section", "image")  # fields of items.Article with selectors
FIELDS = ("site", "name", "feeds", "sitemaps", "rules", "content", "language", "region", *LIMITS, "hosts")

T = TypeVar("T")

_RESOLVER: Any = yaml.resolver.Resolver()
_LANGUAGE = re.compile("[a-z]{2,3}")


def feed_address(text: str, start_url: str) -> str:
    """Return the URL of a feed given as an address or as a path of the site; raises `ConfigError`.

    >>> feed_address("/feed/politics", "https://example.org/en/")
    'https://example.org/feed/politics'
    """
    try:
        url = resolve(start_url, text).url
    except BadUrl:
        url = ""
    if not url or min(text, default=" ") <= " " or without_credentials(text) != text:
        raise ConfigError(f"{quoted(text)} is not a feed address; write https://host/rss.xml, or a path: /rss.xml")
    return url


@lru_cache(maxsize=1_024)  # sites of one publisher, or built with the same software, share their rules
def check_rule(regex: str) -> None:
    """Raise `ConfigError` for a rule that `check_expression` rejects or that cannot match a path."""
    _check_shown(regex)
    check_expression(regex)
    for part in regex.split(EXCEPT):
        if not part or part[0].isalnum():
            raise ConfigError(
                f"{quoted(part)} matches no URL because the part after the host begins with /; "
                f"write {quoted(f'/{part}')}"
            )


def _check_shown(text: str) -> None:
    if not text.isprintable():  # includes NUL, which databases reject
        raise ConfigError(f"{quoted(text)} contains unprintable characters; write them as escapes, such as \\t")


def rule_weight(text: str) -> float:
    """Return the weight of a rule given as *text*; raises `ConfigError`."""
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0.0 <= weight <= 1.0:  # rejects nan, too
        raise ConfigError(f"weight is {quoted(text)}, expected a number from 0 (never an article) to 1")
    return weight


def _is_text(scalar: str) -> bool:
    """Return whether YAML reads an unquoted *scalar* as text, not as a number, truth value, date or null.

    >>> [_is_text(scalar) for scalar in ("5", "1.5", "12:30", "yes", "2024-12-31", "~", "127.0.0.1:80", "a.example")]
    [False, False, False, False, False, False, True, True]
    """
    tag = _RESOLVER.resolve(yaml.ScalarNode, scalar, (True, False))
    return bool(tag == _RESOLVER.DEFAULT_SCALAR_TAG)


def source_of(node: Node) -> Source:
    """Return the source that a file entry describes; raises `Problem`."""
    if isinstance(node, yaml.ScalarNode):
        return Source(_limits(item_of(node), {}))
    if not isinstance(node, yaml.MappingNode):
        raise Problem(line_of(node), "expected a site, or fields such as `site: https://example.org`")
    fields = fields_of(node, FIELDS)
    if "site" not in fields:
        raise Problem(line_of(node), "site is missing; write `site: https://example.org`")
    limits = _limits(item_of(fields["site"].node), fields)
    start_url = str(limits.start_url)
    feeds, sitemaps = (
        _addresses(fields.get(name), lambda text: feed_address(text, start_url)) for name in ("feeds", "sitemaps")
    )
    if both := set(feeds) & set(sitemaps):
        raise Problem(fields["sitemaps"].line, f"{min(both)} is also listed under feeds; keep one of the two")
    return Source(
        limits,
        optional(fields, "name", _text, None),
        feeds,
        sitemaps,
        _rules(fields.get("rules")),
        _content(fields.get("content")),
        optional(fields, "language", _language, None),
        optional(fields, "region", _text, None),
        _addresses(fields.get("hosts"), _host),
    )


def _limits(site: Item, fields: dict[str, Field]) -> SiteLimits:
    name, start_url = _address(site, seed_address)
    parallel, max_level, delay_ms = (optional(fields, limit, partial(seed_limit, name=limit), None) for limit in LIMITS)
    return SiteLimits(name, parallel, max_level, None if delay_ms is None else delay_ms / 1000, start_url)


def _addresses(field: Field | None, reading: Callable[[str], str]) -> tuple[str, ...]:
    items = [] if field is None else items_of(_small(field))
    return tuple(dict.fromkeys(_address(item, reading) for item in items))


def _small(field: Field) -> Field:
    if (number := len(nodes_of(field))) > MAX_VALUES:
        raise Problem(field.line, f"{field.name} has {number} values; keep at most {MAX_VALUES}")
    return field


def _address(item: Item, reading: Callable[[str], T]) -> T:
    if not _is_text(item.text):
        raise Problem(item.line, f"{quoted(item.text)} is not an address; write one such as example.org or /rss.xml")
    return converted(item, reading)


def _text(text: str) -> str | None:
    return tidy_name(text[:MAX_TEXT])


def _rules(field: Field | None) -> tuple[UrlRule, ...]:
    rules: dict[str, UrlRule] = {}
    for node in nodes_of(_small(field)) if field else ():
        rule = _rule(node)
        if rule.regex in rules:
            raise Problem(line_of(node), f"duplicate rule {quoted(rule.regex)}; keep one of the two")
        rules[rule.regex] = rule
    return tuple(rules.values())


def _rule(node: Node) -> UrlRule:
    weight = 1.0
    if isinstance(node, yaml.MappingNode):
        fields = fields_of(node, ("regex", "weight"))
        if "regex" not in fields:
            raise Problem(line_of(node), "regex is missing; write {regex: '/video/.*', weight: 0}")
        node, weight = fields["regex"].node, optional(fields, "weight", rule_weight, 1.0)
    regex = item_of(node)
    converted(regex, check_rule)
    return UrlRule(regex.text, weight, HAND)


def _content(field: Field | None) -> dict[str, str]:
    if field is None:
        return {}
    if not isinstance(field.node, yaml.MappingNode):
        raise Problem(field.line, "content must be a mapping; write each part with its selector, such as `title: h1`")
    parts = fields_of(field.node, PARTS)
    return {name: optional(parts, name, partial(_selector, part=name), "") for name in parts}


def _selector(text: str, part: str) -> str:
    from crawlers.missions.news.article.page_metadata import check_selector  # with parsel, which few commands need

    _check_shown(text)
    if len(text) > MAX_TEXT:
        raise ConfigError(f"the selector of {part} has {len(text)} characters; use at most {MAX_TEXT}")
    check_selector(part, text)
    return text


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text.lower()):
        raise ConfigError(f"language is {quoted(text)}, expected an ISO 639 code such as en; countries go to region")
    return text.lower()


def _host(text: str) -> str:
    try:
        return host_name(text)
    except ConfigError:
        remedy = "write a name such as sport.example.org, without protocol, port and path"
        raise ConfigError(f"{quoted(text)} in hosts is not a host name; {remedy}") from None


def read_sources(path: str) -> tuple[list[Source], list[str]]:
    """Return the sources in the file *path*, and one problem for each skipped entry.

    A problem is a sentence with file and line.
    Raises `ConfigError` if no source is left, or if *path* is not such a file.
    """
    return parse_sources(read_text(path, MAX_BYTES, "split it into several files"), path)


def parse_sources(text: str, origin: str) -> tuple[list[Source], list[str]]:
    """Parse *text* like `read_sources`; messages name the file as *origin*.

    >>> sources, problems = parse_sources("sources: [www.example.org, ftp://example.org]", "sources.yaml")
    >>> sources[0].domain, len(problems)
    ('example.org', 1)
    """
    try:
        entries = read_entries(text, "sources", source_of)
    except Problem as problem:
        raise ConfigError(problem.at(origin)) from None
    sources: list[Source] = []
    problems: list[str] = []
    places: dict[str, int] = {}
    for line, entry in entries:
        if isinstance(entry, Problem):
            problems.append(f"{origin}:{line}: {entry}")
            continue
        addresses = (entry.limits.site, *entry.feeds, *entry.sitemaps)
        if taken := next((address for address in addresses if address in places), None):
            remedy = f"already belongs to the source in line {places[taken]}; keep one of the two"
            problems.append(f"{origin}:{line}: {taken} {remedy}")
            continue
        sources.append(entry)
        places.update(dict.fromkeys(addresses, line))
    if not sources and problems:
        raise ConfigError("\n".join([*shortened_list(problems), "No valid source is left; fix the file."]))
    if not sources:
        raise ConfigError(f"{origin}: no sources found; write one per line below `sources:`, such as `- example.org`")
    return sources, problems
